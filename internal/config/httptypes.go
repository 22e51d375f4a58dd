package config

import (
	"net/netip"
	"time"

	"github.com/dnsteer/dnsteer/internal/auth"
)

// httpKeys is the listener of the API, the metrics and the health checks.
type httpKeys struct {
	At             Pos
	Listen         List[Value[netip.AddrPort]] `yaml:"listen" doc:"Addresses that are served. Others than loopback need tls, and users or tokens." nonempty:"yes" default:"127.0.0.1:8053" example:"[127.0.0.1:8053]"`
	TLS            *tlsKeys                    `yaml:"tls" doc:"The certificate; without it, plain HTTP on loopback is served."`
	BasePath       Value[urlPath]              `yaml:"base_path" doc:"What stands before every path, where a reverse proxy says so." default:"/" example:"/dnsteer"`
	Hosts          List[Value[hosts]]          `yaml:"hosts" doc:"Names by which browsers and programs may ask; \"*.\" in front stands for one label. Localhost and the addresses themselves are always known; requests for other names are refused (DNS rebinding)." nonempty:"yes" otherwise:"the names in the certificate" example:"[dnsteer.example.lan]"`
	WithoutLogin   Value[string]               `yaml:"without_login" doc:"What may be done without a login, by everything that reaches the address: only on loopback. Requests through a proxy always need a login." enum:"none|viewer|operator|admin" otherwise:"viewer on loopback as long as there are no users and no tokens, else none"`
	Users          []userKeys                  `yaml:"users" doc:"Who may log in with a password." nonempty:"yes"`
	Tokens         []tokenKeys                 `yaml:"tokens" doc:"Programs that are let in by a secret in the Authorization header." nonempty:"yes"`
	Metrics        metricsKeys                 `yaml:"metrics" doc:"Who may read /metrics. Viewers may in any case, and so may what without_login lets read."`
	TrustedProxies List[Value[netip.Prefix]]   `yaml:"trusted_proxies" doc:"Reverse proxies whose X-Forwarded-For and X-Forwarded-Proto are believed." nonempty:"yes" otherwise:"none" example:"[127.0.0.1]"`
}

// tlsKeys is a certificate.
type tlsKeys struct {
	At         Pos
	CertFile   Value[string] `yaml:"cert_file" doc:"The certificate with those that lead to its root, in PEM. Relative to this file. A new one is taken into use within seconds; one that does not fit its key changes nothing and raises config_rejected." required:"yes" example:"/etc/dnsteer/tls.crt"`
	KeyFile    Value[string] `yaml:"key_file" doc:"Its private key in PEM, not readable by all users. Relative to this file." required:"yes" example:"/etc/dnsteer/tls.key"`
	MinVersion Value[string] `yaml:"min_version" doc:"The oldest version of TLS that is spoken." enum:"1.2|1.3" default:"1.2"`
}

// userKeys is somebody who logs in.
type userKeys struct {
	At       Pos
	Name     Value[name]         `yaml:"name" doc:"What the user types, and what stands with their commands." required:"yes" example:"alice"`
	Role     Value[string]       `yaml:"role" doc:"viewer reads, operator gives commands, admin has the configuration read again and changes what belongs to targets." enum:"viewer|operator|admin" required:"yes" example:"operator"`
	Password Value[passwordHash] `yaml:"password_hash" doc:"What \"dnsteer hash-password\" prints: argon2id; bcrypt is taken too." example:"'$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0c2FsdA$bm8gcGFzc3dvcmQgaGFzIHRoaXMgaGFzaCwgYmVsaWV2ZQ'"`
	File     Value[string]       `yaml:"password_hash_file" doc:"A file with nothing but that, not readable by all users. Relative to this file." example:"alice.hash"`
}

// tokenKeys lets a program in.
type tokenKeys struct {
	At      Pos
	Name    Value[name]      `yaml:"name" doc:"What stands with its commands." required:"yes" example:"deploy"`
	Role    Value[string]    `yaml:"role" doc:"As of users." enum:"viewer|operator|admin" required:"yes" example:"operator"`
	Hash    Value[tokenHash] `yaml:"hash" doc:"What \"dnsteer token\" prints beside the secret." example:"\"sha256:2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b\""`
	File    Value[string]    `yaml:"hash_file" doc:"A file with nothing but that, not readable by all users. Relative to this file." example:"deploy.hash"`
	Expires Value[time.Time] `yaml:"expires" doc:"When it ends." otherwise:"never" example:"2030-01-01T00:00:00Z"`
}

// metricsKeys guards the metrics.
type metricsKeys struct {
	At        Pos
	Token     Value[bearer] `yaml:"token" doc:"A secret of at least 16 characters that Prometheus sends as its bearer token. It is better kept in token_file." example:"\"${METRICS_TOKEN}\""`
	TokenFile Value[string] `yaml:"token_file" doc:"A file with nothing but the secret, not readable by all users. Relative to this file." example:"metrics.token"`
}

// passwordHash is a hash in whose text no variable is looked for, unless it is
// one.
type passwordHash struct{ auth.PasswordHash }

func (*passwordHash) verbatim()  {}
func (*passwordHash) form() form { return form{name: "hash", pattern: `^\$(argon2id|2[aby])\$`} }

func (h *passwordHash) UnmarshalText(text []byte) (err error) {
	h.PasswordHash, err = auth.ParsePasswordHash(string(text))
	return err
}

// tokenHash is the hash of a token.
type tokenHash struct{ auth.SecretHash }

func (*tokenHash) form() form { return form{name: "hash", pattern: `^sha256:[0-9a-f]{64}$`} }

func (h *tokenHash) UnmarshalText(text []byte) (err error) {
	h.SecretHash, err = auth.ParseSecretHash(string(text))
	return err
}
