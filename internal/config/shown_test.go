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
		"url: https://me:canary@h/", "url: http://h/?token=canary", "url: http://h/canary", "url: HTTPS://me:canary@h/hook/canary?canary#canary",
		"url: http://h#canary", "url: pushbullet://canary/", "url: 'gotify://h/canary'", "url: canary", "url: [canary]", "url: &u https://h/canary\n    headers: *u",
		"{type: http, url: 'https://me:canary@h/?canary'}", "url: https://h\n    body: '{\"routing_key\": \"canary\"}'", "webhook: {url: https://h, body: canary}", "body: canary", "body: &b canary\n    more: *b",
		"headers: {Authorization: canary}", "env: {A: canary}", "command: [a, canary]",
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

// If this fails, who looks at the dashboard's page of the configuration cannot see what
// is probed, or which service an alert goes to.
func TestShownLeavesTheRest(t *testing.T) {
	for in, want := range map[string]string{
		"{type: http, url: 'http://{address}:80/healthz'}": "http://{address}:80/healthz",
		"{type: http, body: 'it works'}":                   "it works",
		"{url: 'https://hooks.example.com/T0/B0'}":         "https://hooks.example.com/<secret>",
		"{url: 'https://hooks.example.com'}":               "https://hooks.example.com",
		"{url: 'https://me:word@hooks.example.com:8443/'}": "https://<secret>@hooks.example.com:8443/<secret>",
		"{url: 'slack://hook:a-b-c@webhook'}":              "slack://<secret>",
		"{url: '${TEAM_CHAT}'}":                            "${TEAM_CHAT}",
	} {
		doc, ok := parseDocument("x", []byte("probes:\n  - "+in+"\n"), 0, &report{})
		if !ok {
			t.Fatal(in)
		}
		if got, err := newVeil().text(doc.root); err != nil || !strings.Contains(got, "'"+want+"'") {
			t.Errorf("%s is shown as %s, want %s (%v)", in, got, want, err)
		}
	}
}
