package archtest

import (
	"fmt"
	"go/parser"
	"go/token"
	"path"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The decisions must stay a pure function that the rehearsals can run, and a
// part must be replaceable without the others: an import against the direction
// cmd → internal/app → everything else → sites would end both.
func TestImportsGoOneWay(t *testing.T) {
	hold(t, file.isGo, imports)
}

// A rule that lets the wrong import through guards nothing.
func TestImportRule(t *testing.T) {
	tests := []struct {
		name, file, imports string
		want                []string
	}{
		{"sites imports the standard library", "sites/a.go", "net/netip", nil},
		{"sites imports a part of ours", "sites/a.go", module + "/probes", []string{"3: sites imports probes: sites imports nothing of ours"}},
		{"a test of sites imports sites", "sites/a_test.go", module + "/sites", nil},
		{"a test of sites imports a part of ours", "sites/a_test.go", module + "/internal/config", []string{"3: sites imports internal/config: sites imports nothing of ours"}},
		{"probes import sites", "probes/a.go", module + "/sites", nil},
		{"probes import a part of the program", "probes/a.go", module + "/internal/store", []string{"3: probes imports internal/store: a public package imports only sites and what is below itself"}},
		{"a test of probes imports a helper", "probes/a_test.go", module + "/internal/nettest", nil},
		{"a provider imports the contract", "providers/routeros/a.go", module + "/providers", nil},
		{"config imports probes", "internal/config/a.go", module + "/probes", nil},
		{"a part imports app", "internal/api/a.go", module + "/internal/app", []string{"3: internal/api imports internal/app: only cmd imports internal/app"}},
		{"a test of a part imports app", "internal/api/a_test.go", module + "/internal/app", []string{"3: internal/api imports internal/app: only cmd imports internal/app"}},
		{"the simulation imports app", "internal/simulation/a_test.go", module + "/internal/app", nil},
		{"a part of the program in the simulation imports app", "internal/simulation/a.go", module + "/internal/app", []string{"3: internal/simulation imports internal/app: only cmd imports internal/app"}},
		{"app's own test imports app", "internal/app/a_test.go", module + "/internal/app", nil},
		{"cmd imports app", "cmd/dnsteer/main.go", module + "/internal/app", nil},
		{"a part imports a command", "internal/api/a.go", module + "/cmd/dnsteer", []string{"3: internal/api imports cmd/dnsteer: nothing imports a command"}},
		{"config imports YAML", "internal/config/a.go", "gopkg.in/yaml.v3", nil},
		{"another test imports YAML", "internal/rehearsal/a_test.go", "gopkg.in/yaml.v3", []string{"3: internal/rehearsal imports gopkg.in/yaml.v3: only internal/config knows the YAML library"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			source := "package p\n\nimport _ " + strconv.Quote(tt.imports) + "\n"
			got := imports(t, file{tt.file, []byte(source)})
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("faults (-want +got):\n%s", d)
			}
		})
	}
}

// imports gives the imports of a file that go against the direction.
func imports(t *testing.T, f file) (faults []string) {
	t.Helper()
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, f.name, f.data, parser.ImportsOnly)
	if err != nil {
		return []string{" " + err.Error()}
	}
	from := path.Dir(f.name)
	for _, spec := range parsed.Imports {
		to, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		ours := strings.HasPrefix(to, module+"/")
		to = strings.TrimPrefix(to, module+"/")
		if why := against(from, to, ours, f.isTest()); why != "" {
			faults = append(faults, fmt.Sprintf("%d: %s imports %s: %s", fset.Position(spec.Pos()).Line, from, to, why))
		}
	}
	return faults
}

// against says why a package may not import another, "" when it may.
func against(from, to string, ours, test bool) string {
	if !ours {
		if to == "gopkg.in/yaml.v3" && !within(from, "internal/config") {
			return "only internal/config knows the YAML library"
		}
		return ""
	}
	public := !within(from, "cmd") && !within(from, "internal")
	switch {
	case from == to, test && public && within(to, "internal") && !within(from, "sites") && !within(to, "internal/app"):
		return ""
	case within(from, "sites"):
		return "sites imports nothing of ours"
	case within(to, "cmd") && !within(from, "cmd"):
		return "nothing imports a command"
	case within(to, "internal/app") && !within(from, "internal/app") && !within(from, "cmd") && !(test && from == "internal/simulation"):
		return "only cmd imports internal/app"
	case public && to != "sites" && !within(to, strings.Split(from, "/")[0]):
		return "a public package imports only sites and what is below itself"
	default:
		return ""
	}
}

// within says whether a package is another or lies below it.
func within(pkg, above string) bool { return pkg == above || strings.HasPrefix(pkg, above+"/") }
