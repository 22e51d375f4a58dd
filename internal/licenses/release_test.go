package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Who passes a binary on must pass the licences on too: one that lacks here, of
// any system, is a breach of it.
func TestTexts(t *testing.T) {
	t.Chdir("../..")
	var out strings.Builder
	if err := texts(t.Context(), &out, []string{"./cmd/..."}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\nstd ", "\nCopyright 2009 The Go Authors.", // BSD wants the line with the holder
		"\ngithub.com/miekg/dns v", "\ngopkg.in/yaml.v3 v",
		"\ngithub.com/inconshreveable/mousetrap v", // linked on Windows alone
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the texts lack %q", want)
		}
	}
	if n := strings.Count(out.String(), "\ngithub.com/miekg/dns v"); n != 1 {
		t.Errorf("a module that is linked on every system stands there %d times", n)
	}
}

// An SBOM that names other modules than those that run sends whoever looks for a
// vulnerable one astray.
func TestBill(t *testing.T) {
	t.Chdir("../..")
	binary := filepath.Join(t.TempDir(), "program")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", binary, "./internal/benchdns")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, err := bill(t.Context(), binary, "1.2.3", "2026-11-30T12:00:00Z")
	if err != nil {
		t.Fatal(err)
	}
	var doc sbom
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	root := doc.Metadata.Component
	if got := doc.Format + " " + doc.Spec + " " + doc.Metadata.Timestamp + " " + root.PURL; got != "CycloneDX 1.6 2026-11-30T12:00:00Z pkg:golang/github.com/dnsteer/dnsteer@1.2.3" {
		t.Errorf("it is of %s", got)
	}
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	var got, refs []string
	for _, c := range doc.Components {
		got = append(got, c.Name+" "+c.Licences[0].License.ID)
		refs = append(refs, c.Ref)
		if c.Name != std && !strings.Contains(string(sums), c.Name+" "+c.Version+" "+c.Properties[0].Value+"\n") {
			t.Errorf("%s %s %v is not what go.sum has", c.Name, c.Version, c.Properties)
		}
	}
	want := []string{"std BSD-3-Clause", "github.com/miekg/dns BSD-3-Clause", "golang.org/x/net BSD-3-Clause", "golang.org/x/sys BSD-3-Clause"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("components (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]sbomDepends{{Ref: root.Ref, On: refs}}, doc.Dependencies); d != "" {
		t.Errorf("dependencies (-want +got):\n%s", d)
	}
	if _, err := bill(t.Context(), "go.mod", "1.2.3", ""); err == nil || !strings.HasPrefix(err.Error(), "read what is linked into go.mod: ") {
		t.Errorf("of no binary: %v", err)
	}
}
