package mail

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	netmail "net/mail"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/alert"
	"github.com/dnsteer/dnsteer/internal/daemontest"
)

// eximConf is a mail server that takes mail for example.com into a file, from
// those who log in over TLS.
const eximConf = `primary_hostname = mail.example.com
spool_directory = DIR/spool
log_file_path = DIR/log-%%slog
pid_file_path = DIR/pid
daemon_smtp_ports = @PLAIN@ : @TLS@
tls_on_connect_ports = @TLS@
local_interfaces = 127.0.0.1
exim_user = USER
exim_group = GROUP
never_users =
tls_advertise_hosts = ADVERTISE
tls_certificate = DIR/cert.pem
tls_privatekey = DIR/key.pem
domainlist local_domains = example.com
acl_smtp_rcpt = acl_rcpt
acl_smtp_data = acl_data
host_lookup =
rfc1413_query_timeout = 0s
queue_only
auth_advertise_hosts = ${if eq {$tls_in_cipher}{}{}{*}}
begin acl
acl_rcpt:
  deny local_parts = nobody
       message = no such user
  defer local_parts = greylisted
       message = greylisted, come back later
  require authenticated = *
  accept domains = +local_domains
acl_data:
  accept
begin authenticators
PLAIN_LOGIN:
  driver = plaintext
  public_name = PLAIN
  server_prompts = :
  server_condition = ${if and{{eq{$auth2}{dnsteer}}{eq{$auth3}{pa55 word}}}}
  server_set_id = $auth2
LOGIN_LOGIN:
  driver = plaintext
  public_name = LOGIN
  server_prompts = <| Username: | Password:
  server_condition = ${if and{{eq{$auth1}{dnsteer}}{eq{$auth2}{pa55 word}}}}
  server_set_id = $auth1
CRAM:
  driver = cram_md5
  public_name = CRAM-MD5
  server_secret = ${if eq{$auth1}{dnsteer}{pa55 word}fail}
  server_set_id = $auth1
`

// server is a real mail server of the test's own.
type server struct {
	dir        string
	plain, tls int
	roots      *x509.CertPool
}

func exim(t *testing.T, advertise string) *server {
	t.Helper()
	s := &server{dir: t.TempDir(), plain: int(daemontest.Port(t)), tls: int(daemontest.Port(t))}
	s.certify(t)
	conf := strings.NewReplacer("DIR", s.dir, "@PLAIN@", fmt.Sprint(s.plain), "@TLS@", fmt.Sprint(s.tls),
		"USER", fmt.Sprint(os.Getuid()), "GROUP", fmt.Sprint(os.Getgid()), "ADVERTISE", advertise, "%%", "%").Replace(eximConf)
	file := filepath.Join(s.dir, "exim.conf")
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	daemontest.Start(t, "exim4", "-C", file, "-bdf")
	daemontest.Until(t, "exim listens", func() bool {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.plain))
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return s
}

// certify makes the server a certificate for its name.
func (s *server) certify(t *testing.T) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "mail.example.com"}, DNSNames: []string{"mail.example.com"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := errors.Join(os.WriteFile(filepath.Join(s.dir, "cert.pem"), cert, 0o600),
		os.WriteFile(filepath.Join(s.dir, "key.pem"), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}), 0o600)); err != nil {
		t.Fatal(err)
	}
	s.roots = x509.NewCertPool()
	s.roots.AppendCertsFromPEM(cert)
}

// queued gives the texts that the server has taken.
func (s *server) queued(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	found, err := filepath.Glob(filepath.Join(s.dir, "spool", "input", "*-[DH]"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range found {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(data)
	}
	return all.String()
}

// Mail would not get through the servers that people have, or get through in the
// clear, with the password for all to read.
func TestRealServer(t *testing.T) {
	s := exim(t, "*")
	base := Options{
		Host: "127.0.0.1", Port: s.plain, Encryption: StartTLS, ServerName: "mail.example.com", Roots: s.roots, User: "dnsteer", Password: "pa55 word",
		From: netmail.Address{Address: "dnsteer@example.com"}, To: []netmail.Address{{Address: "ops@example.com"}},
	}
	with := func(change func(*Options)) Options { o := base; change(&o); return o }
	tests := []struct {
		name string
		opt  Options
		want string // part of the error
	}{
		{"STARTTLS", base, ""},
		{"TLS from the beginning", with(func(o *Options) { o.Encryption, o.Port = Implicit, s.tls }), ""},
		{"opportunistic", with(func(o *Options) { o.Encryption = Opportunistic }), ""},
		{"PLAIN", with(func(o *Options) { o.Auth = "plain" }), ""},
		{"LOGIN", with(func(o *Options) { o.Auth = "login" }), ""},
		{"CRAM-MD5", with(func(o *Options) { o.Auth = "cram-md5" }), ""},
		{"PLAIN over TLS", with(func(o *Options) { o.Encryption, o.Port, o.Auth = Implicit, s.tls, "plain" }), ""},
		{"LOGIN over TLS", with(func(o *Options) { o.Encryption, o.Port, o.Auth = Implicit, s.tls, "login" }), ""},
		{"the wrong password", with(func(o *Options) { o.Password = "wr0ng word" }), "the user name or the password is wrong"},
		{"a stranger's certificate", with(func(o *Options) { o.Roots = nil }), "ca_file"},
		{"another name", with(func(o *Options) { o.ServerName = "other.example.com" }), "other.example.com"},
		{"no such user", with(func(o *Options) { o.To = []netmail.Address{{Address: "nobody@example.com"}} }), "no such user"},
		{"greylisted", with(func(o *Options) { o.To = []netmail.Address{{Address: "greylisted@example.com"}} }), "greylisted"},
		{"without logging in", with(func(o *Options) { o.User = "" }), "550"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var log []string
			m := alert.Sample(alert.Firing, time.Now())
			m.ID = strings.ReplaceAll(tt.name, " ", "-")
			err := New(tt.opt).Send(t.Context(), &m, func(l string) { log = append(log, l) })
			text := strings.Join(log, "\n")
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error: %v\n%s", err, text)
			}
			for _, secret := range []string{"pa55 word", "wr0ng", "cGE1NSB3b3Jk", "AGRuc3RlZXIAcGE1NSB3b3Jk"} {
				if strings.Contains(text, secret) || err != nil && strings.Contains(err.Error(), secret) {
					t.Errorf("the password is shown: %s\n%v", text, err)
				}
			}
			if tt.want == "" && !strings.Contains(s.queued(t), m.ID+".dnsteer@example.com") {
				t.Error("the server has not got it")
			}
		})
	}
	if err := New(base).Try(t.Context(), nil); err != nil {
		t.Errorf("try: %v", err)
	}
}

// Whoever stands on the way could have us send in the clear, by taking STARTTLS
// out of what the server offers.
func TestServerThatCannotEncrypt(t *testing.T) {
	s := exim(t, "")
	opt := Options{
		Host: "127.0.0.1", Port: s.plain, Encryption: StartTLS, User: "dnsteer", Password: "pa55 word",
		From: netmail.Address{Address: "dnsteer@example.com"}, To: []netmail.Address{{Address: "ops@example.com"}},
	}
	m := alert.Sample(alert.Firing, time.Now())
	var log []string
	err := New(opt).Send(t.Context(), &m, func(l string) { log = append(log, l) })
	if err == nil || !strings.Contains(err.Error(), "STARTTLS") || strings.Contains(strings.Join(log, "\n"), "MAIL FROM") {
		t.Errorf("error: %v\n%v", err, log)
	}
}
