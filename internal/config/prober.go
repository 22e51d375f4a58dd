package config

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/probes"
)

// prober makes a probe and a stable text of its definition: a changed
// definition is a new probe (O2).
func (b *builder) prober(k *probeKind) (probes.Prober, string) {
	switch k.Type.V {
	case "icmp":
		return probes.ICMP{Packets: k.Packets.V}, fmt.Sprintf("icmp packets=%d", k.Packets.V)
	case "tcp":
		return probes.TCP{Port: k.Port.V}, fmt.Sprintf("tcp port=%d", k.Port.V)
	case "tls":
		return b.tlsProber(k)
	case "dns":
		return b.dnsProber(k)
	case "exec":
		return b.execProber(k)
	case "heartbeat":
		return probes.Heartbeat{StaleAfter: k.StaleAfter.V}, fmt.Sprintf("heartbeat stale_after=%s", k.StaleAfter.V)
	case "haproxy":
		return b.haproxyProber(k)
	default:
		return b.httpProber(k)
	}
}

// define writes down what a probe asks.
func define(typ string, parts ...any) string {
	definition, err := json.Marshal(parts)
	if err != nil {
		panic(fmt.Sprintf("config: a definition of strings and numbers cannot be encoded: %s", err))
	}
	return typ + " " + string(definition)
}

func (b *builder) httpProber(k *probeKind) (probes.Prober, string) {
	b.checkHeaders(k)
	b.checkFingerprint(k)
	h := probes.HTTP{
		URL: string(k.URL.V), Method: string(k.Method.V), Host: string(k.Host.V), Body: k.Body.V, Redirects: k.Redirects.V,
		Verify: probes.Verify(k.Verify.V), Fingerprint: string(k.Fingerprint.V),
		Headers: texts(k.Headers),
	}
	for _, r := range k.Status {
		h.Status = append(h.Status, probes.StatusRange(r.V))
	}
	return h, define("http", h.URL, h.Method, h.Headers, h.Host, h.Status, h.Body, h.Redirects, h.Verify, h.Fingerprint)
}

// checkHeaders refuses what an HTTP request could not carry.
func (b *builder) checkHeaders(k *probeKind) {
	for name, value := range k.Headers {
		switch {
		case name == "" || strings.Trim(name, nameChars) != "":
			b.fault(value.At, "found the header %q, expected a name of letters, digits and \"-\"", clip(name))
		case strings.EqualFold(name, "Host"):
			b.fault(value.At, "found the header %q, expected the key \"host\" of the probe in its place", name)
		}
	}
}

func (b *builder) checkFingerprint(k *probeKind) {
	switch wants := k.Verify.V == "fingerprint"; {
	case wants && !k.Fingerprint.Set:
		b.fault(k.Verify.At, "verify: fingerprint needs the key \"fingerprint\"")
	case !wants && k.Fingerprint.Set:
		b.fault(k.Fingerprint.At, "a fingerprint without \"verify: fingerprint\" would have no effect, expected both or neither")
	}
}

func (b *builder) tlsProber(k *probeKind) (probes.Prober, string) {
	b.checkFingerprint(k)
	if strings.Contains(string(k.Host.V), ":") {
		b.fault(k.Host.At, "found a port behind the host, expected it in the key \"port\" alone")
	}
	t := probes.TLS{
		Port: k.Port.V, Host: string(k.Host.V), Verify: probes.Verify(k.Verify.V), Fingerprint: string(k.Fingerprint.V),
		ExpiresWithin: k.ExpiresWithin.V,
	}
	return t, define("tls", t.Port, t.Host, t.Verify, t.Fingerprint, t.ExpiresWithin)
}

func (b *builder) dnsProber(k *probeKind) (probes.Prober, string) {
	d := probes.DNS{
		Port: k.dnsPort(), Server: k.Server.V,
		Name: string(k.Query.V) + ".", Type: string(k.RRType.V), Rcode: string(k.Rcode.V),
	}
	for _, v := range k.Values {
		if d.Rcode != "NOERROR" {
			b.fault(v.At, "values with \"rcode: %s\" would have no effect, expected one of the two", d.Rcode)
			break
		}
		if (probes.DNS{Name: d.Name, Type: d.Type, Values: []string{string(v.V)}}).Validate() != nil {
			// The value is not quoted: it may come from the environment.
			b.fault(v.At, "this is not the data of a record of type %s, expected it as in a master file", d.Type)
		}
		d.Values = append(d.Values, string(v.V))
	}
	return d, define("dns", d.Port, d.Server, d.Name, d.Type, d.Rcode, d.Values)
}

func (k *probeKind) dnsPort() int {
	if k.Port.Set {
		return k.Port.V
	}
	return 53
}

func (b *builder) execProber(k *probeKind) (probes.Prober, string) {
	if !b.file.AllowExec.V {
		b.fault(k.Type.At, "a probe of type exec runs a program of this machine, which is not allowed: write \"allow_exec: true\" at the top to allow it")
	}
	e := probes.Exec{Env: texts(k.Env)}
	for _, a := range k.Command {
		e.Command = append(e.Command, string(a.V))
	}
	for name, value := range k.Env {
		if !isVariable(name) {
			b.fault(value.At, "found the variable %q, expected a name of letters, digits and \"_\"", clip(name))
		}
	}
	if len(e.Command) == 0 {
		return e, "" // the missing key is a fault of its own
	}
	switch program := k.Command[0]; {
	case program.V == "":
		b.fault(program.At, "found nothing, expected a program, such as /usr/local/bin/check")
	case strings.Contains(e.Command[0], "/"):
		path, err := filepath.Abs(relative(text(program)))
		if err != nil {
			b.fault(program.At, "the folder of this file cannot be found (%s): write the program's absolute path", err)
		}
		e.Command[0] = path
	}
	return e, define("exec", e.Command, e.Env)
}

// texts takes the places off a mapping of texts; nil where there is none.
func texts[T ~string](m map[string]Value[T]) map[string]string {
	if len(m) == 0 {
		return nil
	}
	out := make(map[string]string, len(m))
	for name, value := range m {
		out[name] = string(value.V)
	}
	return out
}

// argument is a text that can be handed to a program or stand in a record.
type argument string

func (a *argument) form() form { return form{name: "text"} }

func (a *argument) UnmarshalText(text []byte) error {
	*a = argument(text)
	if strings.ContainsFunc(string(text), unicode.IsControl) {
		return expected("a text without control characters")
	}
	return nil
}

// rrType is a type of record that can be asked for, in capital letters.
type rrType string

func (t *rrType) form() form { return form{name: "record type", pattern: `^[A-Za-z0-9-]+$`} }

func (t *rrType) UnmarshalText(text []byte) error {
	s := strings.ToUpper(string(text))
	*t = rrType(s)
	if (probes.DNS{Name: ".", Type: s}).Validate() != nil || s == "" {
		return expected("a type of record such as A, AAAA, CNAME, MX or TXT")
	}
	return nil
}

// rcode is a response code that fits into a header, in capital letters.
type rcode string

func (r *rcode) form() form { return form{name: "response code", pattern: `^[A-Za-z]+$`} }

func (r *rcode) UnmarshalText(text []byte) error {
	s := strings.ToUpper(string(text))
	*r = rcode(s)
	if code, ok := dns.StringToRcode[s]; !ok || code > 15 {
		return expected("a response code such as NOERROR, NXDOMAIN or REFUSED")
	}
	return nil
}
