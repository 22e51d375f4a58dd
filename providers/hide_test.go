package providers

import "testing"

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
		{"twice", `pa"ss wörd/1pa"ss wörd/1`, "<secret><secret>"},
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
