package app

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/dnsteer/dnsteer/internal/config"
)

// If this fails, every start reads its configuration a second time, which takes more
// memory than all of its work, or a change while it starts is not seen.
func TestStartReadsOnce(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("10.yaml", `state: {path: state}
dns: {listen: ["127.0.0.1:5353"], zones: [{name: example.lan, ns: [ns1.example.lan], hostmaster: admin@example.lan, file: more.zone}]}
`)
	put("20.yaml", `sites: [{name: berlin, resolver: 10.1.0.1, nodes: [{name: a, addresses: [10.1.0.11]}]}]
services: [{hosts: [app.example.lan]}]
`)
	put(".hidden.yaml", "no part of it")
	put("more.zone", "ns1 300 IN A 127.0.0.1\n$INCLUDE mail.zone\n")
	put("mail.zone", "mail 300 IN A 10.9.9.9\n")
	for _, path := range []string{dir, dir + "/."} {
		cfg, err := config.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if now := look(path, cfg); len(now) != 4 || !maps.Equal(now, watched(cfg.Stamps)) {
			t.Errorf("%s was read as %v and looks like %v", path, cfg.Stamps, now)
		}
	}
	cfg, err := config.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []struct {
		name string
		make func()
	}{
		{"another size", func() { put("mail.zone", "mail 300 IN A 10.9.9.10\n") }},
		{"a file more", func() { put("30.yaml", "") }},
		{"a file less", func() {
			if err := os.Remove(filepath.Join(dir, "20.yaml")); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		before := look(dir, cfg)
		change.make()
		if maps.Equal(look(dir, cfg), before) {
			t.Errorf("%s is not seen", change.name)
		}
	}
}
