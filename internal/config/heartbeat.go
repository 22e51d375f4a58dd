package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/probes"
	"github.com/dnsteer/dnsteer/sites"
)

// tokenText is what a node shows with its reports. Faults do not quote it, and
// it prints as <secret>.
type tokenText string

func (t *tokenText) form() form { return form{name: "secret", pattern: `^[!-~]{16,512}$`} }

// Format writes "<secret>" for every verb.
func (tokenText) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("<secret>")) } // the state keeps its error

func (t *tokenText) UnmarshalText(text []byte) error {
	*t = tokenText(text)
	if len(text) < 16 || len(text) > 512 || bytes.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("this is not a token, expected 16 to 512 letters, digits and signs without spaces, such as \"openssl rand -hex 20\" makes")
	}
	return nil
}

// passwordText is a password. Faults do not quote it, and it prints as <secret>.
type passwordText string

func (p *passwordText) form() form { return form{name: "secret"} }

// Format writes "<secret>" for every verb.
func (passwordText) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("<secret>")) } // the state keeps its error

func (p *passwordText) UnmarshalText(text []byte) error {
	*p = passwordText(text)
	if len(text) == 0 || len(text) > maxSecretFile {
		return errors.New("this is not a password, expected one of 1 to 4096 characters")
	}
	return nil
}

// secret resolves what stands in a key, or in the file that its twin names.
// Line breaks at the end of the file do not count. ok is false where there is
// none, or a fault.
func secret[T ~string, P interface {
	*T
	UnmarshalText(text []byte) error
}](b *builder, name string, here Value[T], file Value[string]) (s T, ok bool) {
	switch {
	case here.Set && file.Set:
		b.fault(file.At, "found %s_file beside %s, expected one or the other", name, name)
		return "", false
	case !file.Set:
		return here.V, here.Set
	}
	path := relative(file)
	err := b.disk.private(path)
	var data []byte
	if err == nil {
		data, err = b.disk.read("", path, maxSecretFile)
	}
	if err != nil {
		b.fault(file.At, "the file %s: %s", path, plain(err))
		return "", false
	}
	b.bundle.Files[path] = data
	if err := P(&s).UnmarshalText([]byte(strings.TrimRight(string(data), "\r\n"))); err != nil {
		b.fault(file.At, "the file %s: %s", path, err)
		return "", false
	}
	return s, true
}

// heartbeat checks what belongs to a node that reports by itself.
func (b *builder) heartbeat(site string, node *sites.Node, k *probeKeys) {
	token, ok := secret(b, "token", k.Token, k.TokenFile)
	at := k.Token.At
	if k.TokenFile.Set {
		at = k.TokenFile.At
	}
	name := site + "/" + node.Name
	switch {
	case !k.Token.Set && !k.TokenFile.Set:
		b.fault(k.Type.At, "type heartbeat needs the key \"token_file\", or \"token\"")
	case !ok: // a fault of its own
	case b.nodeTokens[string(token)] != "":
		b.fault(at, "the token of node %s is that of %s too, expected one of its own: each could speak for the other", name, b.nodeTokens[string(token)])
	default:
		b.nodeTokens[string(token)] = name
		b.cfg.beating = append(b.cfg.beating, probes.Beating{Site: site, Node: node.Name, Token: probes.Token(token)})
	}
	if every := k.Every.V; k.StaleAfter.V < 2*every {
		b.fault(k.StaleAfter.At.or(k.Every.At), "stale_after %s is under twice every %s: one lost report would look like an outage", formatDuration(k.StaleAfter.V), formatDuration(every))
	}
	// After a cut the first report takes that long: a shorter threshold would
	// take the node out before (E8).
	if least := 2 * k.Every.V; node.Threshold < least && node.Failover && k.Steer.V {
		b.fault(k.Every.At.or(k.At), "node %s reports every %s and has a threshold of %s, expected a threshold of at least twice as long: after each cut of the line it would be taken out before it can report", name, formatDuration(k.Every.V), formatDuration(node.Threshold))
	}
}

// beats gives the heartbeats of a node, of which it may have one.
func (b *builder) beats(site string, node *sites.Node, list []probeKeys) {
	var first Pos
	for i := range list {
		k := &list[i]
		if k.Type.V != "heartbeat" {
			continue
		}
		if first.File != "" {
			b.fault(k.At, "node %s has two heartbeats, expected one, first at %s", node.Name, first)
			return
		}
		first = k.At
		b.heartbeat(site, node, k)
	}
}

func (b *builder) haproxyProber(k *probeKind) (probes.Prober, string) {
	b.checkFingerprint(k)
	h := probes.NewHAProxy(probes.HTTP{
		URL: string(k.URL.V), Host: string(k.Host.V), Verify: probes.Verify(k.Verify.V), Fingerprint: string(k.Fingerprint.V),
	})
	seen := newNames(b.report, "backend")
	for _, v := range k.Backends {
		seen.add(text(v))
		h.Backends = append(h.Backends, string(v.V))
	}
	password, _ := secret(b, "password", k.Password, k.PasswordFile)
	h.Username, h.Password = k.Username.V, probes.Token(password)
	if has := k.Password.Set || k.PasswordFile.Set; has != k.Username.Set {
		b.fault(k.Username.At.or(k.Password.At).or(k.PasswordFile.At), "found one of username and password, expected both or neither")
	}
	return h, define("haproxy", k.URL.V, k.Host.V, k.Verify.V, k.Fingerprint.V, h.Backends, h.Username)
}

// byteRate is an amount of bytes per second: 500, 32k, 1.5M.
type byteRate float64

func (r *byteRate) form() form {
	return form{name: "bytes per second", pattern: `^[0-9]+(\.[0-9]+)?[kMG]?$`, number: true}
}

func (r *byteRate) UnmarshalText(text []byte) error {
	x, err := ParseBytes(string(text))
	if err != nil || x <= 0 {
		return expected("an amount over 0 such as 500, 32k or 1.5M (bytes per second)")
	}
	*r = byteRate(x)
	return nil
}

// ParseBytes reads an amount of bytes: digits, a fraction if need be, and k, M or
// G for its multiples by 1000.
func ParseBytes(s string) (float64, error) {
	digits, factor := strings.TrimRight(s, "kMG"), 1.0
	switch unit := s[len(digits):]; unit {
	case "":
	case "k":
		factor = 1e3
	case "M":
		factor = 1e6
	case "G":
		factor = 1e9
	default:
		return 0, fmt.Errorf("%q is no amount of bytes, expected one such as 500, 32k or 1.5M", s)
	}
	var x float64
	if _, err := fmt.Sscanf(digits+"\n", "%g\n", &x); err != nil || strings.Trim(digits, "0123456789.") != "" || x > 1e15 {
		return 0, fmt.Errorf("%q is no amount of bytes, expected one such as 500, 32k or 1.5M", s)
	}
	return x * factor, nil
}

// guardKeys say when a move waits (A11). A mapping replaces that of the site, or
// of the defaults, as a whole.
type guardKeys struct {
	Word           Value[string]        `yaml:"-" short:"yes" doc:"off" enum:"off"`
	BytesPerSecond Value[byteRate]      `yaml:"bytes_per_second" doc:"What a node must carry less than, both ways together, to be quiet: a number of bytes, with k, M or G for its multiples by 1000." required:"yes" rule:"A11" example:"32k"`
	Quiet          Value[time.Duration] `yaml:"quiet" doc:"How long it must be quiet." default:"30s" min:"0s" max:"1h" rule:"A11"`
	AtMost         Value[time.Duration] `yaml:"at_most" doc:"How long a move is put off, whatever is carried." default:"1h" min:"1s" max:"7d" rule:"A11"`
}

// guard resolves a pool's guard.
func (b *builder) guard(g guardKeys) sites.Guard {
	if !g.BytesPerSecond.Set {
		return sites.Guard{}
	}
	b.known.fill(&g, true)
	return sites.Guard{BytesPerSecond: float64(g.BytesPerSecond.V), Quiet: g.Quiet.V, AtMost: g.AtMost.V}
}

// doubtGuards warns of guards that wait for figures that nobody finds out, or
// that have nothing to put off.
func (b *builder) doubtGuards(k *siteKeys, s *sites.Site) {
	for i := range s.Pools {
		p := &s.Pools[i]
		if p.Guard.AtMost == 0 {
			continue
		}
		at, own := first(k.Guard, b.file.Defaults.Guard), k.Guard.Set
		if i > 0 && k.Pools[i-1].Guard.Set {
			at, own = k.Pools[i-1].Guard, true
		}
		if p.Mode == sites.ActiveActive && s.EmergencySite == "" {
			if own {
				b.warn(at.At, "the guard of pool %s/%s has no effect: it is active_active and its site has no emergency site, so nothing is cut off by a return", s.Name, p.Name)
			}
			continue
		}
		for _, n := range p.Nodes {
			if node := &s.Nodes[n]; !measured(node) {
				b.warn(at.At, "the guard of pool %s/%s waits for at_most each time that node %s serves: no probe of it tells what it carries; give it one of type haproxy or heartbeat", s.Name, p.Name, node.Name)
			}
		}
	}
}

// doubtLoads warns of pools that are to answer by loads that nobody finds out.
func (b *builder) doubtLoads(k *siteKeys, s *sites.Site) {
	for i := range s.Pools {
		p := &s.Pools[i]
		if p.Policy != sites.PolicyLeastLoad {
			continue
		}
		at := first(k.Policy, b.file.Defaults.Policy).At
		if i > 0 && k.Pools[i-1].Policy.Set {
			at = k.Pools[i-1].Policy.At
		}
		some := false
		for _, n := range p.Nodes {
			some = some || measured(&s.Nodes[n])
		}
		if !some {
			b.warn(at, "the policy least_load of pool %s/%s is as all: no probe of its nodes tells their load; give them one of type haproxy or heartbeat", s.Name, p.Name)
		}
	}
}

// measured says whether a probe of the node gives figures of its work.
func measured(n *sites.Node) bool {
	return slices.ContainsFunc(n.Probes, GivesFigures)
}

// GivesFigures says whether a probe is of a type that finds out figures of a
// node's work.
func GivesFigures(p sites.Probe) bool {
	word, _, _ := strings.Cut(p.Key, " ")
	return word == "haproxy" || word == "heartbeat"
}
