package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// systems are those that binaries are made for: which modules are linked
// differs a little.
var systems = []string{"linux", "freebsd", "darwin", "windows"}

// texts writes the licences and notices of all modules that are linked on any
// system. Those who pass a binary on must pass these on with it.
func texts(ctx context.Context, out io.Writer, packages []string) error {
	seen := map[string]bool{}
	var b bytes.Buffer
	fmt.Fprintf(&b, "dnsteer is under the Apache License 2.0. Its programs contain the modules below,\neach under the licence that follows its name.\n")
	for _, system := range systems {
		modules, err := linked(ctx, []string{"GOOS=" + system, "GOARCH=amd64", "CGO_ENABLED=0"}, packages)
		if err != nil {
			return err
		}
		for _, m := range modules {
			if seen[m.Path] {
				continue
			}
			seen[m.Path] = true
			if err := m.write(&b); err != nil {
				return err
			}
		}
	}
	_, err := out.Write(b.Bytes())
	if err != nil {
		return fmt.Errorf("write the licences: %w", err)
	}
	return nil
}

// write writes the texts of a module.
func (m module) write(b *bytes.Buffer) error {
	names, err := m.licenceFiles()
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return fmt.Errorf("%s has no licence", m.Path)
	}
	const rule = "================================================================================"
	fmt.Fprintf(b, "\n%s\n%s %s\n", rule, m.Path, m.Version)
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(m.Dir, name))
		if err != nil {
			return fmt.Errorf("read the licence of %s: %w", m.Path, err)
		}
		lines := strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")
		for i := range lines {
			lines[i] = strings.TrimRight(lines[i], " \t")
		}
		fmt.Fprintf(b, "\n%s\n", strings.Trim(strings.Join(lines, "\n"), "\n"))
	}
	return nil
}
