package config

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// StatePath gives the folder of the store and of the control socket that the
// configuration at path names. What is wrong with the rest of it does not
// matter, not even that it is no YAML any more: a controller that runs with an earlier
// state of the file must still be found, and its last good configuration. It is "" where
// that cannot be read.
func StatePath(path string) string {
	l := newLoader(Options{})
	_, _ = l.load(path)
	whole := l.combine()
	if !whole.State.Path.Set {
		if dir := writtenState(path); dir != "" || len(l.parts) == 0 {
			return dir
		}
	}
	l.known.fill(&whole.State, true)
	if whole.State.Path.V == "" {
		return ""
	}
	return relative(whole.State.Path)
}

// statePath finds the path in the part "state" of a file that is no YAML any
// more: in the same line, or in the indented ones below it.
var statePath = regexp.MustCompile(`(?m)^state:[^\n]*(?:\n[ \t]+[^\n]*)*?\bpath:[ \t]*("[^"\n]*"|'[^'\n]*'|(?:\$\{\w+\}|[^\s,}#])+)`)

// writtenState looks for the state folder in files that cannot be read as YAML.
func writtenState(path string) string {
	files := []string{path}
	if entries, err := os.ReadDir(path); err == nil {
		files = nil
		for _, e := range entries {
			if Reads(e.Name()) {
				files = append(files, filepath.Join(path, e.Name()))
			}
		}
	}
	d := disk{stamps: make(map[string]Stamp)}
	for _, name := range files {
		data, err := d.read("", name, maxFileSize)
		if err != nil {
			continue
		}
		if found := statePath.FindSubmatch(data); found != nil {
			env := environment{lookup: os.LookupEnv, used: make(map[string]string)}
			dir, err := env.expand(strings.Trim(string(found[1]), `"'`))
			if err != nil || dir == "" {
				continue
			}
			return relative(Value[string]{V: dir, At: Pos{File: name}})
		}
	}
	return ""
}
