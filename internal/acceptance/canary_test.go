package acceptance

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/daemontest"
)

// canaries are secrets that must not be seen anywhere, by their places.
type canaries map[string]string

// plant gives a secret for a place. It holds nothing that YAML, URLs or templates
// would change.
func (c canaries) plant(place string) string {
	c[place] = fmt.Sprintf("canary%02dx%x", len(c), sha256.Sum256([]byte(place)))[:24]
	return c[place]
}

// plant64 gives a secret in base64, as those of TSIG are.
func (c canaries) plant64(place string) string {
	c[place] = base64.StdEncoding.EncodeToString([]byte(c.plant(place) + "-sixteen-and-more"))
	return c[place]
}

// seenIn lists the places whose secrets a text shows, as they are or in another form.
func (c canaries) seenIn(text []byte) (list []string) {
	for place, secret := range c {
		forms := []string{secret, url.QueryEscape(secret), hex.EncodeToString([]byte(secret)), strings.ToUpper(hex.EncodeToString([]byte(secret)))}
		if raw, err := base64.StdEncoding.DecodeString(secret); err == nil && len(raw) > 16 {
			forms = append(forms, string(raw), hex.EncodeToString(raw))
		}
		for _, plain := range forms[:min(len(forms), 5)] { // base64 of a longer text that holds it
			for shift := range 3 {
				whole := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + plain))
				forms = append(forms, whole[4:len(whole)-4])
			}
		}
		for _, form := range forms {
			if bytes.Contains(text, []byte(form)) {
				list = append(list, fmt.Sprintf("%s (as %s)", place, form))
				break
			}
		}
	}
	slices.Sort(list)
	return list
}

// canary is a controller whose configuration has a secret wherever there may be one.
type canary struct {
	*program
	t      *testing.T
	dir    string
	path   string // of the configuration
	secret canaries
	web    string // the address of its HTTP listener
	token  string
}

// newCanary starts one, whose devices and nodes refuse everything and say what they
// were sent. Its alerts go to hook over HTTP and to mail by SMTP.
func newCanary(t *testing.T, hook, mail string) *canary {
	t.Helper()
	c := &canary{t: t, dir: folder(t), secret: canaries{}, web: daemontest.Addr(t).String()}
	text, err := os.ReadFile(filepath.Join("testdata", "canary.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	web, router := mirror(t, nil), mirror(t, mirrorRouter)
	if hook == "" {
		hook = web
	}
	host, port, _ := net.SplitHostPort(mail)
	pairs := []string{
		"MAILHOST", host, "MAILPORT", port, "ROUTER", router, "WEBPORT", web[strings.LastIndexByte(web, ':')+1:], "WEB", web,
		"HOOK", hook, "LISTEN", c.web, "RESOLVER", witness(t), "TOKENHASH", c.made(`sha256:[0-9a-f]+`, "token", "reader"), "USERHASH", c.made(`\$argon2id\S+`, "hash-password"),
	}
	for _, m := range regexp.MustCompile(`SECRET(64)?<([^>]*)>`).FindAllStringSubmatch(string(text), -1) {
		if m[1] == "" {
			pairs = append(pairs, m[0], c.secret.plant(m[2]))
		} else {
			pairs = append(pairs, m[0], c.secret.plant64(m[2]))
		}
	}
	c.path = daemontest.File(t, filepath.Join(c.dir, "dnsteer.yaml"), strings.NewReplacer(pairs...).Replace(string(text)))
	for _, name := range []string{"password", "secret", "token", "url", "heartbeat"} {
		value := c.secret.plant("the file " + name)
		if name == "url" {
			value = "http://" + hook + "/file/" + value
		}
		daemontest.File(t, filepath.Join(c.dir, name+".txt"), value+"\n")
	}
	c.certificate()
	c.program = run(t, command(t, c.dir, "serve", "--config", c.path, "--log-level", "debug"))
	c.await("dnsteer serves")
	c.zoneKeys()
	return c
}

// made has the program make a hash of a secret, both of which are not to be seen.
func (c *canary) made(form string, args ...string) (hash string) {
	c.t.Helper()
	cmd := command(c.t, c.dir, args...)
	cmd.Stdin = strings.NewReader(c.secret.plant("the password of a user") + "\n")
	out, err := cmd.Output()
	hash = regexp.MustCompile(form).FindString(string(out))
	if err != nil || hash == "" {
		c.t.Fatalf("%v: %v %q", args, err, out)
	}
	c.secret["the hash that is made by "+args[0]] = hash[strings.LastIndexAny(hash, ":$")+1:]
	if token := regexp.MustCompile(`dnst_\S+`).FindString(string(out)); token != "" {
		c.token, c.secret["a token for the API"] = token, token
	}
	return hash
}

// certificate makes that of the HTTP listener.
func (c *canary) certificate() {
	c.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		c.t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().AddDate(1, 0, 0), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		c.t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		c.t.Fatal(err)
	}
	text := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	scalar, err := key.Bytes()
	if err != nil {
		c.t.Fatal(err)
	}
	c.secret["the key of the HTTP listener"] = base64.StdEncoding.EncodeToString(scalar)
	c.secret["the key of the HTTP listener as it is in its file"] = strings.Split(text, "\n")[2]
	daemontest.File(c.t, filepath.Join(c.dir, "tls.key"), text)
	daemontest.File(c.t, filepath.Join(c.dir, "tls.crt"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})))
}

// zoneKeys adds the keys that the program has made for its signed zone.
func (c *canary) zoneKeys() {
	c.t.Helper()
	found := 0
	for _, path := range c.files() {
		if filepath.Ext(path) != ".private" {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			c.t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^PrivateKey: (\S+)`).FindAllStringSubmatch(string(text), -1) {
			found++
			c.secret["a DNSSEC key in "+filepath.Base(path)] = m[1]
		}
	}
	if found == 0 {
		c.t.Fatalf("there is no DNSSEC key among %q", c.files())
	}
}

// files are those of the state folder.
func (c *canary) files() (list []string) {
	c.t.Helper()
	err := filepath.WalkDir(filepath.Join(c.dir, "state"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return list
}

// refused waits until each target has been refused.
func (c *canary) refused() {
	c.t.Helper()
	for _, what := range []string{"router", "adguard", "zone"} {
		c.await(`(?i)level=(WARN|ERROR|DEBUG)[^\n]*` + what)
	}
	c.await("has never answered")
}

// says runs a command, whatever becomes of it.
func (c *canary) says(args ...string) {
	c.t.Helper()
	out, err := command(c.t, c.dir, append(args, "--config", c.path)...).CombinedOutput()
	if len(out) == 0 {
		c.t.Errorf("%v says nothing: %v", args, err)
	}
	for _, place := range c.secret.seenIn(out) {
		c.t.Errorf("dnsteer %s shows %s:\n%s", strings.Join(args, " "), place, out)
	}
}

// logged holds the log against the secrets.
func (c *canary) logged() {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if seen := c.secret.seenIn(c.said.Bytes()); len(seen) > 0 {
		c.t.Errorf("the log shows %s", strings.Join(seen, ", "))
	}
}
