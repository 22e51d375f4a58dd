package routeros

import "testing"

// If this fails, what a router says of its version ends the controller, or makes a
// version of it that there is not.
func FuzzVersion(f *testing.F) {
	for _, text := range []string{"7.20.1 (stable)", "6.49.18", "7.30beta2", "7", "", ".", "-1.5", "99999999999999999999.1", "7.999"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v := parseVersion(text)
		if v.text != text || v.number < 0 {
			t.Errorf("%q is %+v", text, v)
		}
	})
}
