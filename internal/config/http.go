package config

import (
	"bytes"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/internal/auth"
)

// HTTP is the listener of the API, the metrics and the health checks.
type HTTP struct {
	Listen []netip.AddrPort
	// TLS is nil for plain HTTP. It is not changed.
	TLS *tls.Config
	// Expires is when the certificate ends; zero without one.
	Expires time.Time
	// BasePath stands before every path: "" or "/x".
	BasePath string
	// Hosts are the names by which may be asked, in lower case.
	Hosts []string
	// WithoutLogin is the role of who has not logged in.
	WithoutLogin auth.Role
	Directory    auth.Directory
	// Metrics is the hash of the secret for the metrics; nil where there is none.
	Metrics *auth.SecretHash
	Proxies []netip.Prefix
}

// Sizes of files: of a certificate with its chain and of a hash.
const (
	maxCertFile = 256 << 10
	maxHashFile = 4096
)

// certSoon is how long before its end a certificate is worth a warning.
const certSoon = 7 * 24 * time.Hour

// http resolves the listener.
func (b *builder) http() {
	k := b.file.HTTP
	if k == nil {
		return
	}
	b.known.fill(k, true)
	h := &HTTP{Listen: unwrap(k.Listen), BasePath: string(k.BasePath.V), Proxies: unwrap(k.TrustedProxies)}
	if h.BasePath == "/" {
		h.BasePath = ""
	}
	seen := newNames(b.report, "listen address")
	for _, l := range k.Listen {
		seen.add(Value[string]{V: l.V.String(), At: l.At})
	}
	if k.TLS != nil {
		b.certificate(h, k.TLS)
	}
	for _, v := range k.Hosts {
		h.Hosts = append(h.Hosts, string(v.V))
	}
	h.Directory = auth.Directory{Users: b.users(k), Tokens: b.tokens(k)}
	h.Metrics = b.metricsToken(&k.Metrics)
	b.withoutLogin(h, k)
	b.exposed(h, k)
	b.cfg.HTTP = h
}

// certificate reads the certificate with its key. Both are part of the bundle: a
// change is seen like one of the configuration, and a pair that does not fit is
// refused like a faulty one.
func (b *builder) certificate(h *HTTP, k *tlsKeys) {
	b.known.fill(k, true)
	certificate := b.beside(k.CertFile, "the certificate", maxCertFile, false)
	key := b.beside(k.KeyFile, "the key", maxCertFile, true)
	if certificate == nil || key == nil {
		return
	}
	if half(certificate) {
		b.fault(k.CertFile.At, "the certificate %s is cut off: it ends within one, and clients would miss a part of the chain; it is read again when it is whole", relative(k.CertFile))
		return
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		b.fault(k.CertFile.At, "the certificate %s does not go with the key %s: %s", relative(k.CertFile), relative(k.KeyFile), strings.TrimPrefix(err.Error(), "tls: "))
		return
	}
	h.TLS = &tls.Config{
		Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
	}
	if k.MinVersion.V == "1.3" {
		h.TLS.MinVersion = tls.VersionTLS13
	}
	h.Expires = pair.Leaf.NotAfter
	for _, name := range pair.Leaf.DNSNames {
		h.Hosts = append(h.Hosts, strings.ToLower(name))
	}
	if left := h.Expires.Sub(b.now()); left < certSoon {
		b.warn(k.CertFile.At, "the certificate ends at %s: renew it", h.Expires.UTC().Format(time.RFC3339))
	}
}

// half says whether a file of certificates ends within one, as it does while it is
// written: what is whole before it would be served without the rest.
func half(data []byte) bool {
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(data) {
		data = rest
	}
	return bytes.Contains(data, []byte("-----BEGIN"))
}

// beside reads a file that stands beside the configuration; nil where it cannot
// be. What it holds is quoted nowhere.
func (b *builder) beside(v Value[string], what string, limit int, secret bool) []byte {
	file := relative(v)
	var err error
	if secret {
		err = b.disk.private(file)
	}
	var data []byte
	if err == nil {
		data, err = b.disk.read("", file, limit)
	}
	if err != nil {
		b.fault(v.At, "%s %s: %s", what, file, plain(err))
		return nil
	}
	b.bundle.Files[file] = data
	return data
}

// oneOf reads a secret or hash that is given itself or in a file of its own, and
// says whether there is one.
func oneOf[T any](b *builder, own Value[T], file Value[string], read func(text string, at Pos) bool) bool {
	switch {
	case own.Set && file.Set:
		b.fault(file.At, "found this beside what the file would hold, expected one or the other")
		return false
	case own.Set:
		return true
	case !file.Set:
		return false
	}
	data := b.beside(file, "the file", maxHashFile, true)
	return data != nil && read(strings.TrimSpace(string(data)), file.At)
}

func (b *builder) users(k *httpKeys) (list []auth.User) {
	seen := newNames(b.report, "user or token")
	for i := range k.Users {
		u := &k.Users[i]
		seen.add(text(u.Name))
		role, _ := auth.ParseRole(u.Role.V) // the decoder knows the words
		one := auth.User{Name: string(u.Name.V), Role: role, Password: u.Password.V.PasswordHash}
		if !oneOf(b, u.Password, u.File, func(text string, at Pos) bool {
			var err error
			if one.Password, err = auth.ParsePasswordHash(text); err != nil {
				b.fault(at, "%s", err)
			}
			return true
		}) && !u.Password.Set && !u.File.Set {
			b.fault(u.At, "the user %q has no password, expected password_hash or password_hash_file: `dnsteer hash-password` makes one", one.Name)
		}
		list = append(list, one)
	}
	for i := range k.Tokens {
		seen.add(text(k.Tokens[i].Name))
	}
	return list
}

func (b *builder) tokens(k *httpKeys) (list []auth.Token) {
	for i := range k.Tokens {
		t := &k.Tokens[i]
		role, _ := auth.ParseRole(t.Role.V) // the decoder knows the words
		one := auth.Token{Name: string(t.Name.V), Role: role, Hash: t.Hash.V.SecretHash, Expires: t.Expires.V}
		if !oneOf(b, t.Hash, t.File, func(text string, at Pos) bool {
			var err error
			if one.Hash, err = auth.ParseSecretHash(text); err != nil {
				b.fault(at, "%s", err)
			}
			return true
		}) && !t.Hash.Set && !t.File.Set {
			b.fault(t.At, "the token %q has no hash, expected hash or hash_file: `dnsteer token` makes one", one.Name)
		}
		if t.Expires.Set && t.Expires.V.Before(b.now()) {
			b.warn(t.Expires.At, "the token %q has ended: it lets nobody in", one.Name)
		}
		list = append(list, one)
	}
	return list
}

func (b *builder) metricsToken(k *metricsKeys) *auth.SecretHash {
	secret := k.Token.V
	if !oneOf(b, k.Token, k.TokenFile, func(text string, at Pos) bool {
		if err := secret.UnmarshalText([]byte(text)); err != nil {
			b.fault(at, "%s", err)
		}
		return true
	}) {
		return nil
	}
	hash := auth.HashSecret(string(secret))
	return &hash
}

// withoutLogin resolves what those may do who have not logged in.
func (b *builder) withoutLogin(h *HTTP, k *httpKeys) {
	open := len(h.Directory.Users) == 0 && len(h.Directory.Tokens) == 0
	switch {
	case k.WithoutLogin.Set && k.WithoutLogin.V != "none":
		h.WithoutLogin, _ = auth.ParseRole(k.WithoutLogin.V) // the decoder knows the words
	case !k.WithoutLogin.Set && open:
		h.WithoutLogin = auth.Viewer
	}
	if h.WithoutLogin > auth.Viewer {
		b.warn(k.WithoutLogin.At, "everything on this machine that can open a connection may do what an %s may: give users or tokens instead where others have accounts here", h.WithoutLogin)
	}
}

// exposed refuses addresses that others can reach without a login and without
// TLS.
func (b *builder) exposed(h *HTTP, k *httpKeys) {
	for _, l := range k.Listen {
		if l.V.Addr().IsLoopback() {
			continue
		}
		var missing []string
		if k.TLS == nil {
			missing = append(missing, "http.tls with a certificate")
		}
		if len(h.Directory.Users) == 0 && len(h.Directory.Tokens) == 0 {
			missing = append(missing, "http.users or http.tokens (`dnsteer hash-password` and `dnsteer token` make what they need)")
		}
		if len(missing) > 0 {
			b.fault(l.At, "others than this machine can reach %s: expected %s, or an address on loopback", l.V, strings.Join(missing, " and "))
		} else if h.WithoutLogin != auth.Nobody {
			b.fault(k.WithoutLogin.At, "others than this machine can reach %s: expected without_login: none, or addresses on loopback alone", l.V)
		}
	}
}

// urlPath is a path of a URL that others stand below.
type urlPath string

func (p *urlPath) form() form { return form{name: "path", pattern: `^/[A-Za-z0-9._~/-]*$`} }

var plainPath = regexp.MustCompile(`^/[A-Za-z0-9._~/-]*$`)

func (p *urlPath) UnmarshalText(text []byte) error {
	if !plainPath.Match(text) {
		return expected("a path such as /dnsteer, of letters, digits and -._~")
	}
	clean := path.Clean(string(text))
	if slices.Contains(strings.Split(string(text), "/"), "..") {
		return expected(fmt.Sprintf("a path without ..: write %s", clean))
	}
	*p = urlPath(clean)
	return nil
}
