package mail

import (
	"encoding/base64"
	"strings"
	"testing"
)

// If this fails, a server that quotes a login shows the password to whoever reads the
// dialogue of a test or the reason of a failure.
func TestHide(t *testing.T) {
	s := New(Options{User: "dnsteer", Password: "hush-hush-hush"})
	for name, sent := range map[string]string{
		"PLAIN": "\x00dnsteer\x00hush-hush-hush", "XOAUTH2": "user=dnsteer\x01auth=Bearer hush-hush-hush\x01\x01", "LOGIN": "hush-hush-hush",
	} {
		quoted := base64.StdEncoding.EncodeToString([]byte(sent))
		if got := s.hide("535 no: " + name + " " + quoted); got != "535 no: "+name+" <secret>" {
			t.Errorf("%s: %s", name, got)
		}
		if got := s.hide("535 " + sent); strings.Contains(got, "hush") {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := New(Options{}).hide("250 well"); got != "250 well" {
		t.Errorf("without a password: %s", got)
	}
}
