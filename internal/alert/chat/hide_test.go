package chat

import (
	"net/url"
	"testing"
)

// An error would be hard to read, with quotes that open and do not close, or show a
// part of the secret URL.
func TestHide(t *testing.T) {
	const secret = "slack://hook:AAAAAAAAA-BBBBBBBBB-cccccccccccc@webhook"
	u, err := url.Parse(secret)
	if err != nil {
		t.Fatal(err)
	}
	s := newService(secret, u, nil)
	for in, want := range map[string]string{
		`Post "https://hooks.example/services/AAAAAAAAA/x": dial tcp: no route`: `Post "https://<secret>": dial tcp: no route`,
		"it sends to https://hooks.example/x, which is wrong.":                  "it sends to https://<secret>, which is wrong.",
		"(see https://hooks.example/x)":                                         "(see https://<secret>)",
	} {
		if got := s.hide(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
