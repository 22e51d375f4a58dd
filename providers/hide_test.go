package providers

import (
	"errors"
	"fmt"
	"io"
	"testing"
)

// If this fails, a device that quotes the password that it refuses has it written to
// the log and sent by mail.
func TestHide(t *testing.T) {
	const secret = Secret("pa\"ss wörd/1")
	for _, tt := range []struct{ name, in, want string }{
		{"as it is", `no: =password=pa"ss wörd/1 `, "no: =password=<secret> "},
		{"in JSON", `{"password":"pa\"ss wörd/1"}`, `{"password":"<secret>"}`},
		{"in a query", "?p=pa%22ss+w%C3%B6rd%2F1&x", "?p=<secret>&x"},
		{"in a path", "/pa%22ss%20w%C3%B6rd%2F1/", "/<secret>/"},
		{"in base64", "cGEic3Mgd8O2cmQvMQ==", "<secret>"},
		{"in base64 without padding", "cGEic3Mgd8O2cmQvMQ.", "<secret>."},
		{"in a query with digits in lower case", "?p=pa%22ss+w%c3%b6rd%2f1&x", "?p=<secret>&x"},
		{"in HTML", `<p>pa&#34;ss wörd/1</p>`, "<p><secret></p>"},
		{"twice", `pa"ss wörd/1, pa"ss wörd/1pa"ss wörd/1`, "<secret>, <secret>"},
		{"nothing of it", "name or password is wrong", "name or password is wrong"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Hide(tt.in, secret); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
	if got := Hide("a bad day", "a", ""); got != "a bad day" {
		t.Errorf("a short secret is hidden everywhere: %q", got)
	}
}

// If this fails, a secret that is a word of "<secret>" itself shows by what stands in
// its place, or one that is the beginning of another leaves the rest of that to be seen.
func TestHideMany(t *testing.T) {
	for _, tt := range []struct {
		name, in, want string
		secrets        []Secret
	}{
		{"a secret called secret", "password secret is wrong", "password <secret> is wrong", []Secret{"secret"}},
		{"what is put in its place", "no: <secret> ", "no: <secret> ", []Secret{"<secret>"}},
		{"a word of what is put in the place of another", "geheim, secret", "<secret>, <secret>", []Secret{"geheim", "secret"}},
		{"the beginning of another", "cookie abcdefgh", "cookie <secret>", []Secret{"abcd", "abcdefgh"}},
		{"the end of another", "cookie abcdefgh", "cookie <secret>", []Secret{"efgh", "abcdefgh"}},
		{"two that overlap", "abcdefgh!", "<secret>!", []Secret{"abcdef", "defgh"}},
		{"one that overlaps itself", "ababababa.", "<secret>.", []Secret{"ababa"}},
		{"what JSON need not escape", `{"p":"a\"b<c&d"}`, `{"p":"<secret>"}`, []Secret{`a"b<c&d`}},
		{"what JSON may escape", `{"p":"a\"b\u003cc\u0026d"}`, `{"p":"<secret>"}`, []Secret{`a"b<c&d`}},
		{"none", "dns: e", "dns: e", []Secret{"", "e", "dns"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Hide(tt.in, tt.secrets...); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// If this fails, an error whose words happen to hold the password is another error:
// a connection that is over is taken for something else, and not made anew.
func TestHideInKeepsTheError(t *testing.T) {
	err := &Error{Class: Permanent, Err: fmt.Errorf("the connection is over: %w", io.EOF)}
	got := HideIn(err, "connection")
	if class, _ := ClassOf(got); class != Permanent || !errors.Is(got, io.EOF) || got.Error() != "the <secret> is over: EOF" {
		t.Errorf("%v", got)
	}
	if HideIn(err, "geheim") != error(err) || HideIn(nil, "geheim") != nil {
		t.Error("an error without the secret has changed")
	}
}
