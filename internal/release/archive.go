package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// entry is one file of an archive.
type entry struct {
	name string // within the archive's one folder
	from string // below the sources' root
	mode int64
}

// contents are what an archive has beside the program, in its order.
func contents(s system) []entry {
	list := []entry{
		{"LICENSE", "LICENSE", 0o644},
		{"THIRD-PARTY-LICENSES", made + "/THIRD-PARTY-LICENSES", 0o644},
		{"README.md", "README.md", 0o644},
		{"CHANGELOG.md", "CHANGELOG.md", 0o644},
		{"config.example.yaml", "config.example.yaml", 0o644},
	}
	if s.os == "windows" {
		return list
	}
	list = append(
		list,
		entry{"man/dnsteer.1", made + "/dnsteer.1", 0o644},
		entry{"man/dnsteer.yaml.5", made + "/dnsteer.yaml.5", 0o644},
		entry{"completions/dnsteer.bash", made + "/dnsteer.bash", 0o644},
		entry{"completions/dnsteer.zsh", made + "/dnsteer.zsh", 0o644},
		entry{"completions/dnsteer.fish", made + "/dnsteer.fish", 0o644},
	)
	if s.os == "linux" {
		list = append(
			list,
			entry{"systemd/dnsteer.service", "deploy/systemd/dnsteer.service", 0o644},
			entry{"systemd/dnsteer.sysusers", "deploy/systemd/dnsteer.sysusers", 0o644},
		)
	}
	return list
}

// archive writes the archive of a system, a zip for Windows, and gives its name.
func (r release) archive(s system, binary, name string) (string, error) {
	type file struct {
		entry
		data []byte
	}
	program, err := os.ReadFile(binary)
	if err != nil {
		return "", fmt.Errorf("read the binary: %w", err)
	}
	files := []file{{entry{name: s.program(), mode: 0o755}, program}}
	for _, e := range contents(s) {
		data, err := os.ReadFile(filepath.Join(r.root, filepath.FromSlash(e.from)))
		if err != nil {
			return "", fmt.Errorf("read what the archive contains: %w", err)
		}
		files = append(files, file{e, data})
	}
	var b bytes.Buffer
	if s.os == "windows" {
		w := zip.NewWriter(&b)
		for _, f := range files {
			h := &zip.FileHeader{Name: path.Join(name, f.name), Method: zip.Deflate, Modified: r.date.UTC()}
			h.SetMode(os.FileMode(f.mode))
			to, err := w.CreateHeader(h)
			if err == nil {
				_, err = to.Write(f.data)
			}
			if err != nil {
				return "", fmt.Errorf("write the archive: %w", err)
			}
		}
		if err := w.Close(); err != nil {
			return "", fmt.Errorf("write the archive: %w", err)
		}
		return name + ".zip", os.WriteFile(filepath.Join(r.out, name+".zip"), b.Bytes(), 0o644)
	}
	w := tar.NewWriter(&b)
	for _, f := range files {
		err := w.WriteHeader(&tar.Header{Name: path.Join(name, f.name), Mode: f.mode, Size: int64(len(f.data)), ModTime: r.date.UTC(), Format: tar.FormatUSTAR})
		if err == nil {
			_, err = w.Write(f.data)
		}
		if err != nil {
			return "", fmt.Errorf("write the archive: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return "", fmt.Errorf("write the archive: %w", err)
	}
	return name + ".tar.gz", os.WriteFile(filepath.Join(r.out, name+".tar.gz"), compressed(b.Bytes()), 0o644)
}

// pack makes a package, a deb or an rpm, and gives its name.
func (r release) pack(ctx context.Context, s system, binary, kind string) (string, error) {
	nfpm, err := r.nfpm(ctx)
	if err != nil {
		return "", err
	}
	out, err := filepath.Abs(r.out)
	if err != nil {
		return "", fmt.Errorf("find the folder for the release: %w", err)
	}
	program, err := filepath.Abs(binary)
	if err != nil {
		return "", fmt.Errorf("find the binary: %w", err)
	}
	name := "dnsteer_" + r.version + "_" + s.name() + "." + kind
	cmd := r.goCommand(ctx)
	cmd.Path, cmd.Args = nfpm, []string{"nfpm", "package", "--config", "deploy/package/nfpm.yaml", "--packager", kind, "--target", filepath.Join(out, name)}
	cmd.Env = append(cmd.Env, "VERSION="+r.version, "ARCH="+s.packageArch(), "BINARY="+program, "SOURCE_DATE_EPOCH="+strconv.FormatInt(r.date.Unix(), 10))
	return name, output(cmd, nil)
}

// nfpm gives the path of the tool that writes packages: the one among make's
// tools, unless its module is newer than that; then the go command builds and
// keeps one. It has a module of its own, so that go.mod stays the product's and
// the linters' modules stay theirs.
func (r release) nfpm(ctx context.Context) (string, error) {
	if tool, err := filepath.Abs(filepath.Join(r.tools, "nfpm")); err == nil && r.current(tool) {
		return tool, nil
	}
	var printed strings.Builder
	cmd := r.goCommand(ctx, "tool", "-n", "nfpm")
	cmd.Dir = filepath.Join(r.root, "tools", "nfpm")
	// It runs on this machine, whatever the release is for.
	if err := output(cmd, &printed); err != nil {
		return "", fmt.Errorf("build nfpm: %w", err)
	}
	return strings.TrimSpace(printed.String()), nil
}

// current tells whether a tool is there, and not older than what it is made of.
func (r release) current(tool string) bool {
	built, err := os.Stat(tool)
	if err != nil {
		return false
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		info, err := os.Stat(filepath.Join(filepath.Dir(r.tools), "tools", "nfpm", name))
		if err != nil || info.ModTime().After(built.ModTime()) {
			return false
		}
	}
	return true
}

// checksums writes the SHA-256 of files in the form that sha256sum -c reads.
func checksums(dir string, names []string) error {
	names = slices.Sorted(slices.Values(names))
	var b strings.Builder
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return fmt.Errorf("add up the checksums: %w", err)
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), name)
	}
	if err := os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(b.String()), 0o644); err != nil {
		return fmt.Errorf("write the checksums: %w", err)
	}
	return nil
}
