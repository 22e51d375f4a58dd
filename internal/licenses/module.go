package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// module is one that is linked; Dir is where its sources lie on this machine.
type module struct {
	Path, Version, Dir string
	Main               bool
	Replace            *module
}

// std stands for the standard library and the run-time, which are linked into
// every program.
const std = "std"

// linked gives the modules of other people that the packages are built from,
// by path, the standard library first. env, such as "GOOS=freebsd", is added to
// the environment.
func linked(ctx context.Context, env, packages []string) ([]module, error) {
	out, err := goCommand(ctx, env, append([]string{"list", "-deps", "-json=Module,Standard"}, packages...)...)
	if err != nil {
		return nil, err
	}
	found := map[string]module{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var pkg struct {
			Module   *module
			Standard bool
		}
		err := decoder.Decode(&pkg)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read the answer of go list: %w", err)
		}
		if m := pkg.Module; m != nil && !m.Main {
			if m.Replace != nil {
				m = m.Replace
			}
			found[m.Path] = *m
		}
	}
	installed, err := goCommand(ctx, nil, "env", "GOROOT", "GOVERSION")
	if err != nil {
		return nil, err
	}
	goroot, version, _ := strings.Cut(strings.TrimSpace(string(installed)), "\n")
	modules := slices.SortedFunc(maps.Values(found), func(a, b module) int { return cmp.Compare(a.Path, b.Path) })
	return slices.Insert(modules, 0, module{Path: std, Version: version, Dir: goroot}), nil
}

func goCommand(ctx context.Context, env []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}

// licenceName is how a licence's file is called at the top of a module.
var licenceName = regexp.MustCompile(`(?i)^((un)?licen[cs]e|copying)([.-].*)?$`)

// licences gives the kinds of all licence files at the top of the module.
// A file that is of no known kind is an error, even beside one that is.
func (m module) licences() ([]kind, error) {
	names, err := m.licenceFiles()
	if err != nil {
		return nil, err
	}
	var kinds []kind
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(m.Dir, name))
		if err != nil {
			return nil, fmt.Errorf("read the licence of %s: %w", m.Path, err)
		}
		found := kindsOf(string(text))
		if len(found) == 0 {
			return kinds, fmt.Errorf("%s is of no kind that is known", name)
		}
		for _, k := range found {
			if !slices.Contains(kinds, k) {
				kinds = append(kinds, k)
			}
		}
	}
	return kinds, nil
}

// licenceFiles gives the names of the licence files at the top of the module.
func (m module) licenceFiles() ([]string, error) {
	entries, err := os.ReadDir(m.Dir)
	if err != nil {
		return nil, fmt.Errorf("look for the licence of %s: %w", m.Path, err)
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && filepath.Ext(e.Name()) != ".go" && licenceName.MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}
