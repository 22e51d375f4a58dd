package main

import (
	"cmp"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"runtime/debug"
	"slices"
	"strings"
)

// The parts of a CycloneDX 1.6 document that are written
// (https://cyclonedx.org/docs/1.6/json/).
type (
	sbom struct {
		Format       string          `json:"bomFormat"`
		Spec         string          `json:"specVersion"`
		Version      int             `json:"version"`
		Metadata     sbomMetadata    `json:"metadata"`
		Components   []sbomComponent `json:"components"`
		Dependencies []sbomDepends   `json:"dependencies"`
	}
	sbomMetadata struct {
		Timestamp string        `json:"timestamp,omitempty"`
		Component sbomComponent `json:"component"`
	}
	sbomComponent struct {
		Ref        string         `json:"bom-ref"`
		Type       string         `json:"type"`
		Name       string         `json:"name"`
		Version    string         `json:"version"`
		Licences   []sbomLicence  `json:"licenses,omitempty"`
		PURL       string         `json:"purl"`
		Properties []sbomProperty `json:"properties,omitempty"`
	}
	sbomLicence struct {
		License struct {
			ID string `json:"id"`
		} `json:"license"`
	}
	sbomProperty struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	sbomDepends struct {
		Ref string   `json:"ref"`
		On  []string `json:"dependsOn"`
	}
)

// bill gives the SBOM of a binary: what the linker wrote into it, which is what
// runs, with the licences found in the sources of those modules. The same
// binary gives the same bytes; version and date (RFC 3339, "" for none) are
// those of the release.
func bill(ctx context.Context, binary, version, date string) ([]byte, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, fmt.Errorf("read what is linked into %s: %w", binary, err)
	}
	licences, err := licencesOf(ctx, info)
	if err != nil {
		return nil, err
	}
	root := component("application", info.Main.Path, version, "")
	root.Licences = ids([]kind{"Apache-2.0"})
	for _, s := range info.Settings {
		switch s.Key {
		case "GOOS", "GOARCH", "GOARM", "CGO_ENABLED":
			root.Properties = append(root.Properties, sbomProperty{"go:" + s.Key, s.Value})
		}
	}
	doc := sbom{
		Format: "CycloneDX", Spec: "1.6", Version: 1,
		Metadata:     sbomMetadata{Timestamp: date, Component: root},
		Dependencies: []sbomDepends{{Ref: root.Ref}},
	}
	for _, m := range linkedInto(info) {
		c := component("library", m.Path, m.Version, m.Sum)
		c.Licences = ids(licences[m.Path])
		doc.Components = append(doc.Components, c)
		doc.Dependencies[0].On = append(doc.Dependencies[0].On, c.Ref)
	}
	out, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the SBOM: %w", err)
	}
	return append(out, '\n'), nil
}

// linkedInto gives the modules of a binary by path, the standard library first.
func linkedInto(info *debug.BuildInfo) []*debug.Module {
	list := []*debug.Module{{Path: std, Version: strings.TrimPrefix(info.GoVersion, "go")}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		list = append(list, m)
	}
	slices.SortFunc(list[1:], func(a, b *debug.Module) int { return cmp.Compare(a.Path, b.Path) })
	return list
}

// licencesOf reads the licences of the modules that are linked for the system
// that the binary is for: the sources of each lie on this machine, since it was
// built here.
func licencesOf(ctx context.Context, info *debug.BuildInfo) (map[string][]kind, error) {
	found := map[string][]kind{}
	modules, err := linked(ctx, systemOf(info), []string{info.Path})
	if err != nil {
		return nil, err
	}
	for _, m := range modules {
		kinds, err := m.licences()
		if err != nil {
			return nil, err
		}
		found[m.Path] = kinds
	}
	for _, m := range linkedInto(info) {
		if len(found[m.Path]) == 0 {
			return nil, fmt.Errorf("%s is linked and its licence is not known: was the binary built from these sources?", m.Path)
		}
	}
	return found, nil
}

// systemOf gives the environment in which go list sees what the binary was
// built from.
func systemOf(info *debug.BuildInfo) (env []string) {
	for _, s := range info.Settings {
		switch s.Key {
		case "GOOS", "GOARCH", "CGO_ENABLED":
			env = append(env, s.Key+"="+s.Value)
		}
	}
	return env
}

func component(typ, module, version, sum string) sbomComponent {
	purl := "pkg:golang/" + escapedPath(module) + "@" + url.PathEscape(version)
	c := sbomComponent{Ref: purl, Type: typ, Name: module, Version: version, PURL: purl}
	if sum != "" { // not the digest of a file, so it is no "hash"
		c.Properties = append(c.Properties, sbomProperty{"go:sum", sum})
	}
	return c
}

// escapedPath escapes a module's path as a package URL wants it, element by
// element.
func escapedPath(module string) string {
	elements := strings.Split(module, "/")
	for i, e := range elements {
		elements[i] = url.PathEscape(e)
	}
	return path.Join(elements...)
}

func ids(kinds []kind) (list []sbomLicence) {
	for _, k := range kinds {
		var l sbomLicence
		l.License.ID = string(k)
		list = append(list, l)
	}
	return list
}
