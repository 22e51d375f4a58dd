package config

import (
	"encoding/hex"
	"errors"
	"net/netip"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // time zones where the system has no database

	"github.com/dnsteer/dnsteer/probes"
)

// probeKind holds the keys that say what a probe asks.
type probeKind struct {
	Type          Value[string]                 `yaml:"type" doc:"What is asked." required:"yes" enum:"icmp|tcp|http|tls|dns|exec|heartbeat|haproxy" example:"tcp"`
	Packets       Value[int]                    `yaml:"packets" doc:"Echo requests in a probe; one answer is enough." when:"icmp" default:"3" min:"1" max:"20"`
	Port          Value[int]                    `yaml:"port" doc:"Port to connect to, or to ask." when:"tcp|tls|dns" needed:"tcp|tls" otherwise:"required; 53 for dns" min:"1" max:"65535" example:"443"`
	URL           Value[urlTemplate]            `yaml:"url" doc:"What is fetched; {address} becomes the probed address. The connection goes to that address in any case. For haproxy its statistics page; \";csv\" is added." when:"http|haproxy" needed:"http|haproxy" example:"\"https://{address}/healthz\""`
	Method        Value[method]                 `yaml:"method" doc:"HTTP method." when:"http" default:"GET"`
	Headers       map[string]Value[headerValue] `yaml:"headers" doc:"HTTP headers that are sent." when:"http" example:"{Accept: text/plain}"`
	Host          Value[virtualHost]            `yaml:"host" doc:"Virtual host: the name that TLS asks for and verifies, and the Host header." when:"http|tls|haproxy" otherwise:"that of the URL; the probed address for tls" example:"app.example.lan"`
	Status        List[Value[statusRange]]      `yaml:"status" doc:"Status codes that count as success." when:"http" default:"200-399" nonempty:"yes"`
	Body          Value[string]                 `yaml:"body" doc:"Text that must occur in the first 64 KiB of the body." when:"http" example:"ok"`
	Redirects     Value[int]                    `yaml:"redirects" doc:"Redirects that are followed, to the same host only. With 0 the redirect's own status is judged." when:"http" default:"0" min:"0" max:"10"`
	Verify        Value[string]                 `yaml:"verify" doc:"How the certificate is judged: its chain and name, its fingerprint, or not. Its expiry is reported in any case." when:"http|tls|haproxy" enum:"name|fingerprint|off" otherwise:"name; off where there is no host and the URL has {address}, or the type is tls" example:"name"`
	Fingerprint   Value[fingerprint]            `yaml:"fingerprint" doc:"SHA-256 of the certificate, for verify: fingerprint." when:"http|tls|haproxy" example:"\"sha256:3f…\""`
	ExpiresWithin Value[time.Duration]          `yaml:"expires_within" doc:"How long before the certificate's end the probe fails, whatever verify says; for probes with steer: false, which are alerted and move nothing." when:"tls" min:"1s" otherwise:"not before its end" example:"14d"`
	Query         Value[host]                   `yaml:"name" doc:"The name that is asked for." when:"dns" needed:"dns" instead:"label" example:"app.example.lan"`
	RRType        Value[rrType]                 `yaml:"rrtype" doc:"The type of record that is asked for; one without a name is written TYPE65280." when:"dns" default:"A" example:"AAAA"`
	Rcode         Value[rcode]                  `yaml:"rcode" doc:"The response code that counts as success." when:"dns" default:"NOERROR" example:"NXDOMAIN"`
	Values        List[Value[argument]]         `yaml:"values" doc:"What must be among the answer's records of that type, each as in a master file." when:"dns" otherwise:"any will do; none is needed with another rcode than NOERROR" nonempty:"yes" example:"[10.1.0.11]"`
	Server        Value[netip.Addr]             `yaml:"server" doc:"The server that is asked." when:"dns" otherwise:"the probed address" example:"10.1.0.1"`
	Command       []Value[argument]             `yaml:"command" doc:"The program and its arguments; {address} in an argument becomes the probed address. No shell is in between; exit status 0 is success. Needs allow_exec: true at the top. A name without / is looked up in PATH, a relative path starts at this file." when:"exec" needed:"exec" nonempty:"yes" example:"[/usr/local/bin/check, \"{address}\"]"`
	Env           map[string]Value[argument]    `yaml:"env" doc:"The program's environment variables beside PATH, DNSTEER_SITE, DNSTEER_NODE and DNSTEER_ADDRESS." when:"exec" example:"{LANG: C}"`
	Every         Value[time.Duration]          `yaml:"every" doc:"How often the node reports to /api/v1/heartbeat/SITE/NODE. The node's threshold must be at least twice as long." when:"heartbeat" default:"10s" min:"1s" max:"1h"`
	StaleAfter    Value[time.Duration]          `yaml:"stale_after" doc:"How old the last report may be before the probe fails. At least twice every." when:"heartbeat" default:"90s" min:"2s" max:"1d"`
	Token         Value[tokenText]              `yaml:"token" doc:"What the node shows with its reports, 16 to 512 characters, of its own. It is better kept in token_file." when:"heartbeat" otherwise:"required, here or in token_file" example:"\"${TOKEN_BERLIN_A}\""`
	TokenFile     Value[string]                 `yaml:"token_file" doc:"A file with nothing but the token, not readable by all users. Relative to this file." when:"heartbeat" example:"berlin-a.token"`
	Backends      []Value[argument]             `yaml:"backends" doc:"The backends that are looked at; the probe fails when none of them is up." when:"haproxy" otherwise:"all that have a server" nonempty:"yes" example:"[app]"`
	Username      Value[string]                 `yaml:"username" doc:"Who reads the page." when:"haproxy" otherwise:"nobody in particular" example:"dnsteer"`
	Password      Value[passwordText]           `yaml:"password" doc:"The password for it. It is better kept in password_file." when:"haproxy" example:"\"${HAPROXY_PASSWORD}\""`
	PasswordFile  Value[string]                 `yaml:"password_file" doc:"A file with nothing but the password, not readable by all users. Relative to this file." when:"haproxy" example:"haproxy.password"`
}

type probeKeys struct {
	At        Pos
	Label     Value[name] `yaml:"label" doc:"How the probe is called, unique in its node." otherwise:"the type" example:"web"`
	Steer     Value[bool] `yaml:"steer" doc:"false: the probe is shown and alerted, and moves nothing." default:"true" rule:"O2"`
	probeKind `yaml:",inline"`
}

// resolverKeys is a resolver as a witness.
type resolverKeys struct {
	Address Value[endpoint]         `yaml:"address" short:"yes" doc:"Address, with a port unless it is 53." required:"yes" example:"10.1.0.1"`
	Ask     Value[host]             `yaml:"ask" doc:"A name that the resolver answers by itself, without asking others." default:"localhost" rule:"O3" example:"router.berlin.lan"`
	Expect  List[Value[netip.Addr]] `yaml:"expect" doc:"The addresses that the answer must consist of: they prove that it is this resolver that answers." rule:"O3" nonempty:"yes" example:"[10.1.0.1]"`
}

// witnessesKeys says what proves a site's line.
type witnessesKeys struct {
	At      Pos
	Word    Value[string] `yaml:"-" short:"yes" enum:"resolver|none" doc:"resolver or none"`
	Require Value[string] `yaml:"require" doc:"Whether one witness of a line is enough, or all must answer." enum:"any|all" default:"any" rule:"N3"`
	Of      []witnessKeys `yaml:"of" doc:"The witnesses: resolver (those of the site), nodes (any other node of the site that answers), or a probe with an address." nonempty:"yes" example:"[resolver, {type: icmp, address: 10.1.0.254}]"`
}

type witnessKeys struct {
	At        Pos
	Word      Value[string]     `yaml:"-" short:"yes" enum:"resolver|nodes" doc:"resolver or nodes"`
	Address   Value[netip.Addr] `yaml:"address" doc:"What is asked; its family is the line that it proves." required:"yes" example:"10.1.0.254"`
	probeKind `yaml:",inline"`
}

// querier is an entry of allow_query: a prefix, or "any".
type querier struct {
	any    bool
	prefix netip.Prefix
}

func (q *querier) form() form {
	return form{name: "prefix or any", pattern: `^([0-9a-fA-F.:]+(/[0-9]+)?|any)$`, words: []string{"any"}}
}

func (q *querier) UnmarshalText(text []byte) (err error) {
	if q.any = string(text) == "any"; !q.any {
		q.prefix, err = parsePrefix(string(text))
		if err != nil {
			err = expected(strings.TrimPrefix(err.Error(), "expected ") + ", or any")
		}
	}
	return err
}

// quorum is the value of a node's require: 0 stands for all.
type quorum int

func (q *quorum) form() form {
	return form{name: "all, any or a number", pattern: `^(all|any|[1-9][0-9]*)$`, words: []string{"all", "any"}, number: true}
}

func (q *quorum) UnmarshalText(text []byte) error {
	switch s := string(text); s {
	case "all":
		*q = 0
	case "any":
		*q = 1
	default:
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return expected("all, any or a number of probes")
		}
		*q = quorum(n)
	}
	return nil
}

// endpoint is a resolver's address; the port is 53 unless it is written.
type endpoint netip.AddrPort

func (e *endpoint) form() form { return form{name: "address[:port]", pattern: `^[0-9a-fA-F.:\[\]]+$`} }

func (e *endpoint) UnmarshalText(text []byte) error {
	const example = `an address such as 10.1.0.1, "fd00:1::1" or 10.1.0.1:5353`
	s := string(text)
	a, err := parseAddr(strings.TrimSuffix(strings.TrimPrefix(s, "["), "]"))
	if err == nil {
		*e = endpoint(netip.AddrPortFrom(a, 53))
		return nil
	}
	ap, errPort := netip.ParseAddrPort(s)
	switch {
	case errPort != nil && !strings.Contains(s, "::ffff:"):
		return expected(example)
	case errPort != nil:
		return err
	case ap.Port() == 0:
		return expected("a port from 1 to 65535")
	}
	if _, err := parseAddr(ap.Addr().String()); err != nil {
		return err
	}
	*e = endpoint(ap)
	return nil
}

// statusRange is an entry of an HTTP probe's status: "200-399" or "204".
type statusRange probes.StatusRange

func (r *statusRange) form() form {
	return form{name: "status or range", pattern: `^[1-5][0-9][0-9](-[1-5][0-9][0-9])?$`, number: true}
}

func (r *statusRange) UnmarshalText(text []byte) error {
	low, high, ok := strings.Cut(string(text), "-")
	if !ok {
		high = low
	}
	var errLow, errHigh error
	r.Low, errLow = strconv.Atoi(strings.TrimSpace(low))
	r.High, errHigh = strconv.Atoi(strings.TrimSpace(high))
	if errors.Join(errLow, errHigh) != nil || r.Low < 100 || r.High > 599 || r.Low > r.High {
		return expected("a status such as 204, or a range such as 200-399")
	}
	return nil
}

// fingerprint is the SHA-256 of a certificate, in lower-case hexadecimal.
type fingerprint string

func (f *fingerprint) form() form {
	return form{name: "fingerprint", pattern: `^(sha256:)?([0-9a-fA-F]{2}:?){32}$`}
}

func (f *fingerprint) UnmarshalText(text []byte) error {
	s := strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(string(text), "sha256:"), ":", ""))
	if len(s) != 64 || strings.Trim(s, "0123456789abcdef") != "" {
		return expected("sha256: and 64 hexadecimal digits, as openssl x509 -fingerprint -sha256 prints them")
	}
	*f = fingerprint("sha256:" + s)
	return nil
}

// sum gives its bytes.
func (f fingerprint) sum() (sum [32]byte) {
	_, _ = hex.Decode(sum[:], []byte(strings.TrimPrefix(string(f), "sha256:"))) // it was checked
	return sum
}

// location is a time zone.
type location struct{ *time.Location }

func (l *location) form() form { return form{name: "time zone"} }

func (l *location) UnmarshalText(text []byte) (err error) {
	if l.Location, err = time.LoadLocation(string(text)); err != nil || len(text) == 0 {
		return expected("a name of the time zone database such as Europe/Berlin")
	}
	return nil
}
