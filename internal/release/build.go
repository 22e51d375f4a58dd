package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const module = "github.com/dnsteer/dnsteer"

// system is one that binaries are made for. The instructions of 32-bit ARM are
// those of version 6, which every board with Linux in use has.
type system struct{ os, arch string }

func (s system) String() string { return s.os + "/" + s.arch }

// name is as file names have it.
func (s system) name() string {
	if s.arch == "arm" {
		return s.os + "_armv6"
	}
	return s.os + "_" + s.arch
}

// packageArch is how nfpm calls the architecture.
func (s system) packageArch() string {
	if s.arch == "arm" {
		return "arm6"
	}
	return s.arch
}

// program is the name of the binary.
func (s system) program() string {
	if s.os == "windows" {
		return "dnsteer.exe"
	}
	return "dnsteer"
}

// systems are all of them. There is no Windows and no macOS for 32-bit ARM.
var systems = []system{
	{"linux", "amd64"},
	{"linux", "arm64"},
	{"linux", "arm"},
	{"freebsd", "amd64"},
	{"freebsd", "arm64"},
	{"freebsd", "arm"},
	{"darwin", "amd64"},
	{"darwin", "arm64"},
	{"windows", "amd64"},
	{"windows", "arm64"},
}

// release is one release in the making.
type release struct {
	root    string // of the sources
	out     string // folder for what is made
	tools   string // folder with make's tools, beside the one with their modules
	version string // semantic, without "v"
	date    time.Time
}

// all makes everything; only names the one system that it is made for, "" for
// all.
func (r release) all(ctx context.Context, only string) error {
	if only != "" && !slices.ContainsFunc(systems, func(s system) bool { return s.String() == only }) {
		return fmt.Errorf("-only %q is none of %v", only, systems)
	}
	if err := r.files(ctx); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return fmt.Errorf("make the folder for the release: %w", err)
	}
	var made []string
	for _, s := range systems {
		if only != "" && s.String() != only {
			continue
		}
		files, err := r.system(ctx, s)
		if err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
		made = append(made, files...)
	}
	return checksums(r.out, made)
}

// system makes what there is for one system and gives the names of the files.
func (r release) system(ctx context.Context, s system) (made []string, err error) {
	binary := filepath.Join(r.root, "bin", "release", s.name(), s.program())
	if err := r.binary(ctx, s, binary); err != nil {
		return nil, err
	}
	name := "dnsteer_" + r.version + "_" + s.name()
	bill, err := r.sbom(ctx, binary)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(r.out, name+".cdx.json"), bill, 0o644); err != nil {
		return nil, fmt.Errorf("write the SBOM: %w", err)
	}
	archive, err := r.archive(s, binary, name)
	if err != nil {
		return nil, err
	}
	made = []string{name + ".cdx.json", archive}
	if s.os != "linux" {
		return made, nil
	}
	for _, kind := range []string{"deb", "rpm"} {
		file, err := r.pack(ctx, s, binary, kind)
		if err != nil {
			return nil, err
		}
		made = append(made, file)
	}
	return made, nil
}

// binary links the program.
func (r release) binary(ctx context.Context, s system, to string) error {
	flags := fmt.Sprintf("-s -w -X %[1]s/internal/version.Version=%[2]s -X %[1]s/internal/version.Date=%[3]s", module, r.version, r.stamp())
	absolute, err := filepath.Abs(to)
	if err != nil {
		return fmt.Errorf("find the folder of the sources: %w", err)
	}
	cmd := r.goCommand(ctx, "build", "-trimpath", "-ldflags", flags, "-o", absolute, "./cmd/dnsteer")
	cmd.Env = append(cmd.Env, "CGO_ENABLED=0", "GOOS="+s.os, "GOARCH="+s.arch, "GOARM=6")
	return output(cmd, nil)
}

// stamp is the date as the binary knows it.
func (r release) stamp() string { return r.date.UTC().Format(time.RFC3339) }

// sbom gives the SBOM of a binary.
func (r release) sbom(ctx context.Context, binary string) ([]byte, error) {
	absolute, err := filepath.Abs(binary)
	if err != nil {
		return nil, fmt.Errorf("find the binary: %w", err)
	}
	var out strings.Builder
	err = output(r.goCommand(ctx, "run", "./internal/licenses", "-sbom", absolute, "-version", r.version, "-date", r.stamp()), &out)
	return []byte(out.String()), err
}

// goCommand is the go command among the sources, in an environment where no
// setting of the machine decides what is built.
func (r release) goCommand(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = r.root
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=readonly -buildvcs=false", "GOWORK=off")
	return cmd
}

// output runs a command and keeps what it prints; an error has what it said.
func output(cmd *exec.Cmd, out *strings.Builder) error {
	var printed, messages strings.Builder
	cmd.Stdout, cmd.Stderr = &printed, &messages
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(messages.String()+printed.String()))
	}
	if out != nil {
		out.WriteString(printed.String())
	}
	return nil
}
