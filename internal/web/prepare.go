package web

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"html/template"
	"io/fs"
	"strings"
	"sync"
)

// prepared are the pages, and the scripts and styles as they travel: the same for
// as long as the process runs.
type prepared struct {
	pages map[string]*template.Template
	paths map[string]string // of URLs, by name
	small map[string][]byte // compressed, by name
}

var prepare = sync.OnceValues(func() (p prepared, err error) {
	if p.paths, err = assetPaths(); err != nil {
		return p, err
	}
	if p.pages, err = parse(p.paths); err != nil {
		return p, err
	}
	if p.small, err = compress(); err != nil {
		return p, fmt.Errorf("compress the scripts: %w", err)
	}
	return p, nil
})

// parse reads the templates of the pages.
func parse(paths map[string]string) (map[string]*template.Template, error) {
	funcs := helpers(paths)
	names, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		return nil, err
	}
	pages := make(map[string]*template.Template)
	for _, name := range names {
		page := strings.TrimSuffix(strings.TrimPrefix(name, "templates/"), ".html")
		if page == "layout" || page == "parts" {
			continue
		}
		t, err := template.New("layout.html").Funcs(funcs).ParseFS(files, "templates/layout.html", "templates/parts.html", name)
		if err != nil {
			return nil, fmt.Errorf("read the page %s: %w", page, err)
		}
		pages[page] = t
	}
	return pages, nil
}

// compress gives the scripts and styles as they travel. Pages, which hold secrets of
// a session's, are not compressed.
func compress() (map[string][]byte, error) {
	small := make(map[string][]byte)
	for _, kind := range []string{"js", "css"} {
		names, err := fs.Glob(files, "assets/*."+kind)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			data, err := fs.ReadFile(files, name)
			if err != nil {
				return nil, err
			}
			var out bytes.Buffer
			z := gzip.NewWriter(&out)
			if _, err := z.Write(data); err != nil {
				return nil, err
			}
			if err := z.Close(); err != nil {
				return nil, err
			}
			small[strings.TrimPrefix(name, "assets/")] = out.Bytes()
		}
	}
	return small, nil
}
