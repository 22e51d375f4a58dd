package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// roots are where systems keep the certificates that they trust, in one file.
var roots = []string{
	"/etc/ssl/certs/ca-certificates.crt", // Debian, Arch, Alpine
	"/etc/pki/tls/certs/ca-bundle.crt",   // Fedora
	"/etc/ssl/ca-bundle.pem",             // openSUSE
	"/etc/ssl/cert.pem",                  // FreeBSD, macOS
}

// image writes what deploy/Containerfile builds an image of: the static program,
// this machine's root certificates and an empty folder for the state. So the
// image needs no other image, no registry and no emulator: any machine makes that
// of any processor.
func (r release) image(ctx context.Context, only, dir string) error {
	s := system{"linux", runtime.GOARCH}
	if only != "" {
		found := false
		for _, known := range systems {
			if known.String() == only && known.os == "linux" {
				s, found = known, true
			}
		}
		if !found {
			return fmt.Errorf("-only %q: an image is made for linux/amd64, linux/arm64 or linux/arm", only)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("empty the folder for the image: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "state"), 0o750); err != nil {
		return fmt.Errorf("make the folder for the image: %w", err)
	}
	certificates, err := trusted(roots)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "ca-certificates.crt"), certificates, 0o644); err != nil {
		return fmt.Errorf("write the root certificates: %w", err)
	}
	return r.binary(ctx, s, filepath.Join(dir, "dnsteer"))
}

// trusted gives the first of the files that is there.
func trusted(files []string) ([]byte, error) {
	for _, f := range files {
		data, err := os.ReadFile(f)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the root certificates: %w", err)
		}
		return data, nil
	}
	return nil, fmt.Errorf("this machine has no root certificates in any of %v: install them (Debian: ca-certificates)", files)
}
