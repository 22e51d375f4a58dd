package config

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

// known lists every key of a configuration as "section key", by walking the
// types that are decoded.
func known() []string {
	var list []string
	for _, s := range sections() {
		for _, k := range s.keys {
			list = append(list, s.name+" "+k.name)
		}
	}
	slices.Sort(list)
	return list
}

// If this fails, the decoder takes a key that the description of the types
// does not have, or refuses one that it has.
func TestDecoderKnowsEveryKey(t *testing.T) {
	for _, s := range sections() {
		for _, k := range append(slices.Clone(s.keys), key{name: "no-such-key"}) {
			r := &report{}
			d := &decoder{report: r, env: &environment{}, known: make(keySets)}
			var node yaml.Node
			if err := yaml.Unmarshal([]byte("{"+k.name+": }"), &node); err != nil {
				t.Fatal(err)
			}
			d.into(node.Content[0], "", reflect.New(s.typ).Elem(), "")
			text := r.err().Error()
			if unknown := strings.Contains(text, "unknown key"); unknown != (k.typ == nil) {
				t.Errorf("%s %s: %s", s.name, k.name, text)
			}
		}
	}
}

// If this fails, editors mark a right key as wrong, or the other way round.
func TestSchemaKnowsEveryKey(t *testing.T) {
	var schema map[string]any
	if err := json.Unmarshal(Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	defs := schema["$defs"].(map[string]any)
	var list []string
	var walk func(node any, path string)
	walk = func(node any, path string) {
		m, ok := node.(map[string]any)
		if !ok {
			return
		}
		if ref, ok := m["$ref"].(string); ok {
			walk(defs[strings.TrimPrefix(ref, "#/$defs/")], path)
		}
		if alternatives, ok := m["anyOf"].([]any); ok {
			for _, a := range alternatives {
				walk(a, path)
			}
		}
		if m["type"] == "array" {
			walk(m["items"], strings.TrimSuffix(path, "[]")+"[]")
		}
		properties, ok := m["properties"].(map[string]any)
		if !ok {
			return
		}
		if m["additionalProperties"] != false {
			t.Errorf("%s takes unknown keys", path)
		}
		for name, p := range properties {
			section := path
			if section == "" {
				section = topLevel
			}
			list = append(list, section+" "+name)
			if p.(map[string]any)["description"] == "" {
				t.Errorf("%s %s has no description", section, name)
			}
			walk(p, joinPath(path, name))
		}
	}
	walk(schema, "")
	slices.Sort(list)
	// A list that may be its only element is met in both forms; the types
	// name it by the list.
	lists := make(map[string]bool)
	for _, k := range list {
		if path, _, _ := strings.Cut(k, " "); strings.HasSuffix(path, "[]") {
			lists[path] = true
		}
	}
	list = slices.DeleteFunc(list, func(k string) bool { path, _, _ := strings.Cut(k, " "); return lists[path+"[]"] })
	if diff := cmp.Diff(known(), slices.Compact(list)); diff != "" {
		t.Errorf("types and schema (-types +schema):\n%s", diff)
	}
}

// If this fails, the reference leaves out a key, or describes one that does
// not exist.
func TestReferenceKnowsEveryKey(t *testing.T) {
	described := make(map[string]bool)
	var in []string
	heading := regexp.MustCompile("`([^`]+)`")
	for line := range strings.Lines(string(Reference())) {
		names := func() (list []string) {
			for _, m := range heading.FindAllStringSubmatch(line, -1) {
				list = append(list, m[1])
			}
			return list
		}
		switch {
		case strings.HasPrefix(line, "## Top level"):
			in = []string{topLevel}
		case strings.HasPrefix(line, "## "), strings.HasPrefix(line, "They stand in "):
			in = names()
		case strings.HasPrefix(line, "| `"):
			for _, section := range in {
				described[section+" "+names()[0]] = true
			}
		}
	}
	var list []string
	for k := range described {
		list = append(list, k)
	}
	slices.Sort(list)
	if diff := cmp.Diff(known(), list); diff != "" {
		t.Errorf("types and reference (-types +reference):\n%s", diff)
	}
}

// If this fails, a key stands in the reference without a meaning, or a default
// or an example in it could not be written in a configuration.
func TestEveryKeyIsDescribed(t *testing.T) {
	for _, s := range sections() {
		for _, k := range s.keys {
			if k.tag.Get("doc") == "" {
				t.Errorf("%s %s has no doc", s.name, k.name)
			}
			for _, tag := range []string{"default", "example"} {
				text := k.tag.Get(tag)
				if text == "" || strings.Contains(text, "…") {
					continue
				}
				if err := defaultValue(text, reflect.New(k.typ).Elem(), k.tag); tag == "default" && err != nil {
					t.Errorf("%s of %s %s: %s", tag, s.name, k.name, err)
				}
				if err := checkValue(text, &k); err != nil {
					t.Errorf("%s of %s %s: %s", tag, s.name, k.name, err)
				}
			}
		}
	}
}

// checkValue decodes a text as it would be decoded in a file.
func checkValue(text string, k *key) error {
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(text), &node); err != nil {
		return err
	}
	r := &report{}
	d := &decoder{report: r, env: &environment{}, known: make(keySets)}
	d.into(node.Content[0], k.name, reflect.New(k.typ).Elem(), k.tag)
	return r.err()
}

// If this fails, the committed reference or schema is not that of the program.
func TestReferenceIsCurrent(t *testing.T) {
	for path, made := range map[string][]byte{
		"../../docs/configuration.md": Reference(),
		"testdata/schema.json":        Schema(),
	} {
		if updating() {
			if err := os.WriteFile(path, made, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		committed, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(committed), string(made)); diff != "" {
			t.Errorf("%s is out of date, run go test ./internal/config -update (-file +made):\n%s", path, diff)
		}
	}
}

// updating says whether the tests run with -update.
func updating() bool {
	return slices.Contains(os.Args, "-update") || slices.Contains(os.Args, "-update=true")
}

// If this fails, an example of the reference is refused.
func TestWorkedExamples(t *testing.T) {
	rest, examples := intro, 0
	for {
		_, after, ok := strings.Cut(rest, "```yaml\n")
		if !ok {
			break
		}
		example, behind, ok := strings.Cut(after, "```")
		if !ok {
			t.Fatal("an example in intro.md does not end")
		}
		if _, err := Parse("example.yaml", []byte(example), Options{}); err != nil {
			t.Errorf("%s\n%s", err, example)
		}
		rest, examples = behind, examples+1
	}
	if examples == 0 {
		t.Fatal("no example in intro.md")
	}
}

// If this fails, a name is suggested that nobody meant, or the one that was
// Suggest is not.
func TestSuggestions(t *testing.T) {
	list := []string{"threshold", "grace", "nodes", "mode", "a", "hamburg"}
	for _, tt := range []struct{ in, want string }{
		{"treshold", "threshold"},
		{"thersohld", "threshold"},
		{"THRESHOLD", "threshold"},
		{"node", "nodes"},
		{"mdoe", "mode"},
		{"b", ""},
		{"berlin", ""},
		{"hambrug", "hamburg"},
		{"", ""},
	} {
		t.Run(fmt.Sprintf("%q", tt.in), func(t *testing.T) {
			if got := nearest(tt.in, list); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
