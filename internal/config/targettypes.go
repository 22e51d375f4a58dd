package config

import "time"

// targetKeys is a device or a server that a site's answers are pushed to.
type targetKeys struct {
	At   Pos
	Name Value[name]   `yaml:"name" doc:"The target's name, which sites refer to." required:"yes" example:"router-berlin"`
	Type Value[string] `yaml:"type" doc:"What it is: a router of MikroTik, AdGuard Home, or a server that takes dynamic updates (BIND, Knot, PowerDNS, Windows, Technitium)." required:"yes" enum:"routeros|adguard|rfc2136" example:"routeros"`

	Address Value[apiAddress]              `yaml:"address" doc:"The router: an address or a host name, with a port unless it is 8729 (8728 with plain: true)." when:"routeros" needed:"routeros" example:"10.1.0.1"`
	Servers List[Value[adguardServerKeys]] `yaml:"servers" doc:"The servers of AdGuard Home, which all get the same: a URL, a list of them, or mappings." when:"adguard" needed:"adguard" nonempty:"yes" example:"[\"https://10.2.0.1\"]"`
	Server  Value[updateAddress]           `yaml:"server" doc:"The zone's primary server: an address or a host name, with a port unless it is 53." when:"rfc2136" needed:"rfc2136" instead:"servers" example:"10.3.0.1"`
	Zone    Value[host]                    `yaml:"zone" doc:"The zone that is updated. Hosts outside of it are not pushed there." when:"rfc2136" needed:"rfc2136" example:"example.lan"`

	Username     Value[string]   `yaml:"username" doc:"Who logs in. A user of its own with few rights is best." when:"routeros|adguard" needed:"routeros|adguard" example:"dnsteer"`
	Password     Value[password] `yaml:"password" doc:"The password. It is better kept in password_file, or in the environment." when:"routeros|adguard" example:"\"${ROUTER_PASSWORD}\""`
	PasswordFile Value[string]   `yaml:"password_file" doc:"A file with nothing but the password, not readable by all users. Relative to this file." when:"routeros|adguard" example:"router-berlin.password"`

	Fingerprint Value[fingerprint] `yaml:"tls_fingerprint" doc:"SHA-256 of the certificate: it alone says that this is the right one (target pin shows it)." when:"routeros|adguard" otherwise:"the certificate is verified by its chain and name" example:"\"sha256:3f…\""`
	CAFile      Value[string]      `yaml:"ca_file" doc:"Certificates in PEM that vouch for the target, in place of the system's. Relative to this file." when:"routeros|adguard" example:"router-ca.pem"`
	Insecure    Value[bool]        `yaml:"insecure" doc:"Whether any certificate is taken: whoever stands between can then read the password and change records." when:"routeros|adguard" default:"false"`
	Plain       Value[bool]        `yaml:"plain" doc:"Whether the API is spoken without TLS (port 8728): whoever stands between reads the password." when:"routeros" default:"false"`
	OldLogin    Value[bool]        `yaml:"old_login" doc:"Whether RouterOS before 6.43 may be logged in to without TLS, for which the password is sent once as it is." when:"routeros" default:"false"`
	ManageTTL   Value[bool]        `yaml:"manage_ttl" doc:"Whether the server's one TTL (blocked_response_ttl), which holds for all rewrites and for blocked names, is set to the least TTL of the site's services." when:"adguard" default:"false" rule:"A9"`
	TSIG        *targetTSIGKeys    `yaml:"tsig" doc:"The key that updates are signed with." when:"rfc2136" otherwise:"updates are not signed" example:"dnsteer.example.lan"`
	Ownership   Value[string]      `yaml:"ownership" doc:"Where it stands which records are dnsteer's: in its own store, or in TXT records beside the names (_dnsteer.app.example.lan), which other instances see too." when:"rfc2136" enum:"journal|txt" default:"journal"`

	Reconcile   Value[cronText] `yaml:"reconcile" doc:"When everything there is compared, whatever has changed: minute, hour, day of month, month, day of week (UTC)." default:"\"*/5 * * * *\""`
	DryRun      Value[bool]     `yaml:"dry_run" doc:"Whether changes are only planned and reported." default:"false"`
	CreateOnly  Value[bool]     `yaml:"create_only" doc:"Whether records are only added, and none is changed or removed." default:"false"`
	DeleteGuard Value[share]    `yaml:"delete_guard" doc:"The share of dnsteer's records there that may be removed at once without an operator's word." default:"50%"`
	Drift       Value[string]   `yaml:"drift" doc:"What becomes of a record of dnsteer's that somebody has changed by hand: it is put right, only told of, or left as it is until the next move." enum:"repair|report|adopt" default:"repair"`
}

// adguardServerKeys is one server of AdGuard Home.
type adguardServerKeys struct {
	URL         Value[baseURL]     `yaml:"url" short:"yes" doc:"Where its pages are, with a path where it stands behind one, without /control." required:"yes" example:"\"https://10.2.0.1\""`
	Fingerprint Value[fingerprint] `yaml:"tls_fingerprint" doc:"SHA-256 of this server's certificate." otherwise:"that of the target" example:"\"sha256:3f…\""`
}

// targetTSIGKeys is the key of a target: one of its own, or one of the
// built-in server's.
type targetTSIGKeys struct {
	At         Pos
	Name       Value[host]       `yaml:"name" short:"yes" doc:"The key's name, the same on both sides. Without a secret it is one of dns.tsig_keys." required:"yes" example:"dnsteer.example.lan"`
	Algorithm  Value[string]     `yaml:"algorithm" doc:"How messages are signed." enum:"hmac-sha256|hmac-sha384|hmac-sha512|hmac-sha224|hmac-sha1" default:"hmac-sha256"`
	Secret     Value[secretText] `yaml:"secret" doc:"The secret in base64. It is better kept in secret_file." example:"\"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\""`
	SecretFile Value[string]     `yaml:"secret_file" doc:"A file with nothing but the secret in base64, not readable by all users. Relative to this file." example:"dnsteer.key"`
}

// What a push takes and what its records live, for the sum of check: what was
// measured of each kind of target, one record after another.
const (
	routerosEach = 20 * time.Millisecond
	adguardEach  = 3 * time.Millisecond
	updateEach   = 2 * time.Millisecond
	// adguardTTL is AdGuard Home's own TTL unless somebody has changed it.
	adguardTTL = 10 * time.Second
)
