package app

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/internal/browser"
)

// documented gives the files of a support bundle as docs/operation.md lists them, that
// of the configuration by the name that it has here.
func documented(t *testing.T, configuration string) (names []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "operation.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, part, _ := strings.Cut(string(text), "\n## Asking others for help\n")
	part, _, _ = strings.Cut(part, "\n## ")
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(part, -1) {
		names = append(names, strings.Replace(row[1], "NAME", configuration, 1))
	}
	slices.Sort(names)
	return names
}

// packed gives the names of the files in a bundle, without its folder, each of which has
// something in it.
func packed(t *testing.T, bundle []byte) (names []string) {
	t.Helper()
	zip, err := gzip.NewReader(bytes.NewReader(bundle))
	if err != nil {
		t.Fatal(err)
	}
	for in := tar.NewReader(zip); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			slices.Sort(names)
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Size == 0 {
			t.Errorf("%s is empty", h.Name)
		}
		_, name, _ := strings.Cut(h.Name, "/")
		names = append(names, name)
	}
}

// If this fails, the link of the support bundle brings an admin no archive, or another
// one than the documents tell of, or shows a viewer what is not for them.
func TestSupportBundleWithABrowser(t *testing.T) {
	b := browser.Open(t)
	w := newWorld(t, "berlin")
	r := startWithPeople(w)
	at := "http://" + r.web.Addrs()[0].String()
	const link = `a[href$="/api/v1/support"]`
	login := func(name string) {
		t.Helper()
		b.Go(at + "/login?to=/configuration")
		b.Type("#user", name)
		b.Type("#password", "night and day")
		b.Click("button.go")
		b.Until("the configuration", `location.pathname === "/configuration" && /instance/.test(document.querySelector("main").textContent)`)
	}

	login("vera")
	if text := b.Text(link); text != "" {
		t.Errorf("a viewer is shown %q", text)
	}
	if status := browser.Eval[int](b, `fetch("/api/v1/support").then((r) => r.status)`); status != http.StatusForbidden {
		t.Errorf("a viewer who asks for the bundle is answered %d", status)
	}

	login("ada")
	name, bundle := b.Download(link)
	if !regexp.MustCompile(`^dnsteer-support-\d{8}T\d{6}Z\.tar\.gz$`).MatchString(name) {
		t.Errorf("the file is called %q", name)
	}
	if d := cmp.Diff(documented(t, filepath.Base(w.opt.ConfigPath)), packed(t, bundle)); d != "" {
		t.Errorf("files (-documented +in the bundle):\n%s", d)
	}
	if path := browser.Eval[string](b, "location.pathname"); path != "/configuration" {
		t.Errorf("the click leads away, to %s", path)
	}
}
