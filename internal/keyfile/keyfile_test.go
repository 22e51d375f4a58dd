package keyfile_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"github.com/dnsteer/dnsteer/dnsserver"
	"github.com/dnsteer/dnsteer/internal/keyfile"
)

var algorithms = []uint8{dns.ECDSAP256SHA256, dns.ED25519}

// kept gives the keys of a zone in a folder, and makes one where there is none.
func kept(dir, zone string, algorithm uint8) (keys []dnsserver.SigningKey, made bool, err error) {
	keys, broken, err := keyfile.Look(dir).Readable(zone, algorithm)
	if err != nil || len(broken) > 0 || len(keys) > 0 {
		for _, b := range broken {
			err = errors.Join(err, b.Err)
		}
		return keys, false, err
	}
	m, err := keyfile.New(zone, algorithm)
	if err == nil {
		_, err = m.Write(dir)
	}
	return []dnsserver.SigningKey{m.SigningKey}, true, err
}

// If this fails, a restart makes another key, and every validator that has the DS
// record of the first takes the zone for a forgery; or others can read the key.
func TestKept(t *testing.T) {
	for _, algorithm := range algorithms {
		dir := filepath.Join(t.TempDir(), "keys")
		keys, made, err := kept(dir, "Example.lan", algorithm)
		if err != nil || !made {
			t.Fatalf("made %v: %v", made, err)
		}
		first := keys[0]
		again, made, err := kept(dir, "example.lan", algorithm)
		if err != nil || made || len(again) != 1 || again[0].DS().String() != first.DS().String() {
			t.Fatalf("made %v, %v in place of %v: %v", made, again, first, err)
		}
		base := filepath.Join(dir, keyfile.Name(first))
		if info, err := os.Stat(base + keyfile.Private); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the private file: %v, %v", info, err)
		}
		public, err := keyfile.ReadPublic(base)
		if err != nil || public.ToDS(dns.SHA256).String() != first.DS().String() {
			t.Errorf("the public half %v: %v", public, err)
		}
		other, err := keyfile.New("example.lan", algorithm)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // one that is there is kept
			if _, err := other.Write(dir); err != nil {
				t.Fatal(err)
			}
		}
		if both, made, err := kept(dir, "example.lan", algorithm); err != nil || made || len(both) != 2 {
			t.Errorf("two keys: %v, made %v, %v", both, made, err)
		}
		if err := os.Remove(base + keyfile.Private); err != nil {
			t.Fatal(err)
		}
		if _, err := keyfile.Read(base); err == nil {
			t.Error("half a key is read")
		}
	}
}

// If this fails, keys cannot be moved between this server and BIND.
func TestKeysAreThoseOfBIND(t *testing.T) {
	for i, algorithm := range algorithms {
		dir, name := t.TempDir(), []string{"example.lan", "64/26.2.0.192.in-addr.arpa"}[i]
		out, err := exec.CommandContext(t.Context(), "dnssec-keygen", "-K", dir, "-a", dns.AlgorithmToString[algorithm], "-f", "KSK", name).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: .ci/packages installs it\n%s", err, out)
		}
		keys, made, err := kept(dir, name, algorithm)
		if err != nil || made || len(keys) != 1 {
			t.Fatalf("made %v, %v: %v", made, keys, err)
		}
		k := keys[0]
		mine, err := keyfile.New(name, algorithm)
		if err != nil {
			t.Fatal(err)
		}
		base, err := mine.Write(dir)
		if err != nil {
			t.Fatal(err)
		}
		for base, want := range map[string]*dns.DS{base: mine.DS(), filepath.Join(dir, keyfile.Name(k)): k.DS()} {
			ds, err := exec.CommandContext(t.Context(), "dnssec-dsfromkey", "-2", base+keyfile.Public).Output()
			if err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprintf("%d %d %d %s", want.KeyTag, want.Algorithm, want.DigestType, strings.ToUpper(want.Digest))
			if !strings.Contains(string(ds), text) {
				t.Errorf("BIND makes %s of it, want %s", ds, text)
			}
		}
		// BIND signs with it: the private half is read.
		zone := filepath.Join(dir, "zone")
		text := "$TTL 60\n$ORIGIN " + name + ".\n@ SOA ns a 1 60 60 600 60\n@ NS ns\nns A 10.0.0.1\n"
		if err := os.WriteFile(zone, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err = exec.CommandContext(t.Context(), "dnssec-signzone", "-z", "-S", "-K", dir, "-d", dir, "-o", name, "-f", zone+".signed", zone).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "Zone fully signed") {
			t.Errorf("BIND does not sign with it: %v\n%s", err, out)
		}
	}
}

// If this fails, a key file that was damaged stops the controller by a crash, or is
// taken.
func FuzzParse(f *testing.F) {
	const secret = "PrivateKey: "
	for _, algorithm := range algorithms {
		dir := f.TempDir()
		m, err := keyfile.New("example.lan", algorithm)
		if err != nil {
			f.Fatal(err)
		}
		base, err := m.Write(dir)
		if err != nil {
			f.Fatal(err)
		}
		public, err := os.ReadFile(base + keyfile.Public)
		if err != nil {
			f.Fatal(err)
		}
		private, err := os.ReadFile(base + keyfile.Private)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(public, private)
		f.Add(public, private[:len(private)/2])
		f.Add(public[:len(public)/2], private)
	}
	f.Fuzz(func(t *testing.T, public, private []byte) {
		k, err := keyfile.Parse(public, private)
		if err == nil {
			_ = k.DS().String()
			return
		}
		if _, after, ok := strings.Cut(string(private), secret); ok && len(after) > 20 && strings.Contains(err.Error(), after[:20]) {
			t.Error("the private key is quoted")
		}
	})
}
