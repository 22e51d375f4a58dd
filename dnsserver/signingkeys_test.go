package dnsserver

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// If this fails, a rollover of keys locks validators out: a key that is added is
// not proved by the old one, or the wrong one signs.
func TestKeysTakeTheirTurns(t *testing.T) {
	cfg := signedConfig(t)
	s := manyServer(t, cfg)
	old, next := cfg.Zones[0].DNSSEC.Keys[0], cfg.Zones[0].DNSSEC.Keys[1]
	tags := func(name string, typ uint16) (out []uint16) {
		m := exchange(t, s, "10.1.0.1", askSigned(name, typ, false), true)
		for _, rr := range m.Answer {
			if sig, ok := rr.(*dns.RRSIG); ok {
				out = append(out, sig.KeyTag)
			}
		}
		return out
	}
	steps := []struct {
		name string
		keys []SigningKey
		data uint16
	}{
		{"one", []SigningKey{old}, old.Tag()},
		{"the next is published", []SigningKey{old, next}, old.Tag()},
		{"the next signs", []SigningKey{next, old}, next.Tag()},
		{"the old is gone", []SigningKey{next}, next.Tag()},
	}
	for _, st := range steps {
		t.Run(st.name, func(t *testing.T) {
			c := *cfg
			c.Zones = slices.Clone(cfg.Zones)
			c.Zones[0].DNSSEC = &Signing{Keys: st.keys}
			serial := s.Serials()["example.lan"]
			if err := s.Reload(&c); err != nil {
				t.Fatal(err)
			}
			if got := tags("mail.example.lan.", dns.TypeA); !slices.Equal(got, []uint16{st.data}) {
				t.Errorf("keys %d sign an address, want %d", got, st.data)
			}
			for _, typ := range []uint16{dns.TypeDNSKEY, dns.TypeCDS, dns.TypeCDNSKEY} {
				if got := tags("example.lan.", typ); len(got) != len(st.keys) {
					t.Errorf("%d keys sign %s, want %d", len(got), dns.Type(typ), len(st.keys))
				}
			}
			if moved := s.Serials()["example.lan"] != serial; moved == (st.name == "the next signs") {
				t.Errorf("the serial has moved: %v", moved)
			}
		})
	}
}

// If this fails, a configuration that cannot be served signed is taken.
func TestRefusesToSign(t *testing.T) {
	k, other := signingKey(t, "example.lan", dns.ECDSAP256SHA256), signingKey(t, "example.org", dns.ED25519)
	tests := []struct {
		name string
		edit func(*Zone)
		want string
	}{
		{"no key", func(z *Zone) { z.DNSSEC = &Signing{} }, "has no key"},
		{"another zone's key", func(z *Zone) { z.DNSSEC = &Signing{Keys: []SigningKey{other}} }, "is that of another zone"},
		{"a key twice", func(z *Zone) { z.DNSSEC = &Signing{Keys: []SigningKey{k, k}} }, "is there twice"},
		{"a day's validity", func(z *Zone) { z.DNSSEC = &Signing{Keys: []SigningKey{k}, Validity: 24 * time.Hour} }, "valid for 24h0m0s, expected"},
		{"secondaries", func(z *Zone) { z.DNSSEC, z.Transfer = &Signing{Keys: []SigningKey{k}}, &Transfer{} }, "secondaries cannot do"},
		{"a key in the zone", func(z *Zone) {
			z.DNSSEC = &Signing{Keys: []SigningKey{k}}
			z.Records = append(slices.Clone(z.Records), k.Record())
		}, "remove that of example.lan."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := lanConfig(t)
			tt.edit(&cfg.Zones[0])
			_, err := New(cfg, Options{})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

// If this fails, private keys stand in logs, or halves that do not belong together
// sign what nobody can verify.
func TestSigningKey(t *testing.T) {
	for _, algorithm := range []uint8{dns.ECDSAP256SHA256, dns.ED25519} {
		k, private, err := GenerateSigningKey("example.lan", algorithm)
		if err != nil {
			t.Fatal(err)
		}
		other, _, err := GenerateSigningKey("example.lan", algorithm)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewSigningKey(other.Record(), private); err == nil {
			t.Error("halves of two keys are taken")
		}
		secret := k.Record().PrivateKeyString(private)
		_, secret, _ = strings.Cut(secret, "PrivateKey: ")
		raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(secret))
		if err != nil {
			t.Fatal(err)
		}
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d"} {
			text := fmt.Sprintf(verb, &Config{Zones: []Zone{{DNSSEC: &Signing{Keys: []SigningKey{k}}}}})
			text += fmt.Sprintf(verb, k) + fmt.Sprintf(verb, Signing{Keys: []SigningKey{k}})
			if strings.Contains(text, fmt.Sprintf("%d", raw[:4])) || strings.Contains(text, strings.Trim(fmt.Sprintf("%d", raw[:4]), "[]")) {
				t.Errorf("%s prints the private key: %s", verb, text)
			}
		}
	}
}
