package rehearsal

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// Who writes a rehearsal has this page alone: a key that it does not name is
// found by nobody.
func TestEveryKeyIsOnThePage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "rehearsal.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []any{file{}, step{}, action{}, load{}, expect{}} {
		typ := reflect.TypeOf(v)
		for field := range typ.Fields() {
			key := field.Tag.Get("yaml")
			if key != "" && !strings.Contains(string(page), key+":") && !strings.Contains(string(page), "`"+key+"`") {
				t.Errorf("docs/rehearsal.md does not name the key %q of %s", key, typ.Name())
			}
		}
	}
}
