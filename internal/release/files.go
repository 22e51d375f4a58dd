package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/dnsteer/dnsteer/internal/cli"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/manpage"
)

// made is the folder of the files that are made here, below the sources' root.
const made = "bin/files"

// files writes what goes into archives and packages and is made from the program
// itself: manual pages, completions, the licences of what is linked.
func (r release) files(ctx context.Context) error {
	dir := filepath.Join(r.root, filepath.FromSlash(made))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder for man pages and the like: %w", err)
	}
	manuals := r.manuals()
	all := map[string][]byte{}
	for name, text := range manuals {
		all[name] = []byte(text)
		all[name+".gz"] = compressed([]byte(text))
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		script, err := completion(ctx, shell)
		if err != nil {
			return err
		}
		all["dnsteer."+shell] = script
	}
	var licences strings.Builder
	if err := output(r.goCommand(ctx, "run", "./internal/licenses", "-texts", "./cmd/dnsteer"), &licences); err != nil {
		return err
	}
	bundled, err := r.bundled()
	if err != nil {
		return err
	}
	all["THIRD-PARTY-LICENSES"] = []byte(licences.String() + bundled)
	own, err := os.ReadFile(filepath.Join(r.root, "LICENSE"))
	if err != nil {
		return fmt.Errorf("read our licence: %w", err)
	}
	all["copyright"] = append(append(own, '\n'), all["THIRD-PARTY-LICENSES"]...)
	changes, err := os.ReadFile(filepath.Join(r.root, "CHANGELOG.md"))
	if err != nil {
		return fmt.Errorf("read the changes: %w", err)
	}
	all["changelog.gz"] = compressed(changes)
	for name, data := range all {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return fmt.Errorf("write what packages contain: %w", err)
		}
	}
	return nil
}

// manuals gives the manual pages by their file names.
func (r release) manuals() map[string]string {
	source := "dnsteer " + r.version
	return map[string]string{
		"dnsteer.1": manpage.Render(manpage.Page{
			Name: "dnsteer", Section: 1, Summary: "steer DNS answers away from what is down", Date: r.date, Source: source,
			Synopsis: "`dnsteer` COMMAND [ARGUMENT...] [flags]", See: []string{"dnsteer.yaml(5)"},
		}, cli.Reference()),
		"dnsteer.yaml.5": manpage.Render(manpage.Page{
			Name: "dnsteer.yaml", Section: 5, Summary: "configuration of dnsteer", Date: r.date, Source: source,
			Synopsis: "`/etc/dnsteer/dnsteer.yaml`", See: []string{"dnsteer(1)"},
		}, string(config.Reference())),
	}
}

// completion gives the script of a shell, as the program prints it.
func completion(ctx context.Context, shell string) ([]byte, error) {
	var out, messages bytes.Buffer
	env := cli.Env{Out: &out, Err: &messages, LookupEnv: func(string) (string, bool) { return "", false }}
	if code := cli.Run(ctx, []string{"completion", shell}, env); code != 0 {
		return nil, fmt.Errorf("print the completions of %s: %s", shell, strings.TrimSpace(messages.String()))
	}
	return out.Bytes(), nil
}

// bundled gives the licences of what the dashboard brings along.
func (r release) bundled() (string, error) {
	files, err := filepath.Glob(filepath.Join(r.root, "internal", "web", "assets", "*.LICENSE"))
	if err != nil {
		return "", fmt.Errorf("look for licences of the dashboard's scripts: %w", err)
	}
	if len(files) == 0 {
		return "", errors.New("the dashboard's scripts have no licences any more: where are they?")
	}
	var b strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return "", fmt.Errorf("read the licence of a script: %w", err)
		}
		fmt.Fprintf(&b, "\n%s\n%s (dashboard)\n\n%s\n", strings.Repeat("=", 80), strings.TrimSuffix(filepath.Base(f), ".LICENSE"), strings.TrimSpace(string(text)))
	}
	return b.String(), nil
}

// compressed gives data in gzip's form, without a time and a name.
func compressed(data []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = io.Copy(w, bytes.NewReader(data))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil { // a buffer takes everything
		panic(err)
	}
	return b.Bytes()
}
