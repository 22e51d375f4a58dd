// Package guides plays the guides of docs/guides as a reader would follow them:
// with the addresses, ports, files, commands and waiting times that they name, the
// program as it is built, and the daemons that they speak of. What differs from a
// reader's machine is this: everything is in network and mount namespaces of the
// test, with an /etc and a /var/lib of its own; routers and AdGuard Homes are
// simulated; and a fingerprint of zeros is that of the simulated router which the
// comment beside it names.
package guides

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// A guide that nobody plays would be wrong with the next change.
func TestEveryGuideIsPlayed(t *testing.T) {
	tests, err := os.ReadFile("guides_linux_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var played []string
	for _, m := range regexp.MustCompile(`follow\(w, "([a-z-]+\.md)"`).FindAllSubmatch(tests, -1) {
		played = append(played, string(m[1]))
	}
	slices.Sort(played)
	found, err := filepath.Glob(filepath.Join("..", "..", "docs", "guides", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range found {
		found[i] = filepath.Base(found[i])
	}
	if !slices.Equal(found, played) {
		t.Errorf("the guides are %v, and played are %v", found, played)
	}
}
