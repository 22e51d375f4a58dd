package config

import (
	"strings"
	"testing"
)

// If this fails, somebody who may only look reads passwords, tokens or old secrets
// on the dashboard's page of the configuration.
func TestShownHidesSecrets(t *testing.T) {
	v := newVeil()
	if len(v.secret) == 0 || len(v.maps) == 0 {
		t.Fatal("no key holds a secret: the walk through the types finds nothing")
	}
	for name := range v.secret {
		for _, text := range []string{
			"KEY: canary", "x-a: &s canary\nlist: [{KEY: *s}]", "x-b: &m {KEY: canary}\nsites: [{<<: *m}]", "KEY: |\n  canary\n  canary",
			"# KEY: canary\ndns: 1 # canary", "KEY: [canary, {a: canary}]", "x-c: {deep: [canary]}", "a: &k {b: [{KEY: canary}]}\nc: *k",
			"probes:\n  # canary\n  - KEY: \"canary\" # canary\n  # canary\n",
		} {
			text = strings.ReplaceAll(text, "KEY", name)
			doc, ok := parseDocument("x", []byte(text), 0, &report{})
			if !ok {
				t.Fatal(text)
			}
			if got, err := newVeil().text(doc.root); err != nil || strings.Contains(got, "canary") {
				t.Errorf("of %q is seen: %q, %v", text, got, err)
			}
		}
	}
	for _, text := range []string{
		"url: https://me:canary@h/", "url: http://h/?token=canary", "headers: {Authorization: canary}", "env: {A: canary}", "command: [a, canary]",
	} {
		doc, ok := parseDocument("x", []byte("probes:\n  - "+text+"\n"), 0, &report{})
		if !ok {
			t.Fatal(text)
		}
		if got, err := newVeil().text(doc.root); err != nil || strings.Contains(got, "canary") {
			t.Errorf("of %q is seen: %q, %v", text, got, err)
		}
	}
}
