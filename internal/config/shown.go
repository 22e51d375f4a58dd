package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

// Shown is a file of a configuration as people may see it.
type Shown struct{ Path, Text string }

// covered stands in the place of what nobody is to see.
const covered = "<secret>"

// Shown gives the files as they were read, for people who must not learn their
// secrets: passwords, tokens and hashes are covered, and so are the values of headers
// and of environment variables, the arguments of programs, the user and the query of
// URLs, and what stands behind the host where alerts are sent, for many services know
// their senders by that. Comments are left out, for old secrets stand there. Variables
// are not filled in.
func (c *Config) Shown() ([]Shown, error) {
	var kept bundle
	if err := json.Unmarshal(c.Raw, &kept); err != nil {
		return nil, fmt.Errorf("read the kept configuration: %w", err)
	}
	v := newVeil()
	var list []Shown
	for _, path := range kept.Paths {
		doc, ok := parseDocument(path, kept.Files[path], 0, &report{})
		if !ok || doc.root == nil {
			return nil, fmt.Errorf("show %s: it cannot be read any more", path)
		}
		text, err := v.text(doc.root)
		if err != nil {
			return nil, fmt.Errorf("show %s: %w", path, err)
		}
		list = append(list, Shown{path, text})
	}
	return list, nil
}

// veil knows what is covered, by the names of keys: a name that is a secret's
// anywhere is one everywhere, so that no way of writing a file (anchors, aliases,
// merged mappings) leads around it.
type veil struct {
	// secret are keys with a secret in them, of maps those whose values are all
	// covered, of places those with a URL that is a secret but for its host; known are
	// all keys.
	secret, maps, places, known map[string]bool
}

func newVeil() *veil {
	v := &veil{secret: make(map[string]bool), maps: make(map[string]bool), places: make(map[string]bool), known: make(map[string]bool)}
	for _, s := range sections() {
		for _, k := range s.keys {
			v.known[k.name] = true
			switch t := leaf(k.typ); {
			case k.typ.Kind() == reflect.Map:
				v.maps[k.name] = true
			case t == reflect.TypeFor[hidden]() && k.name == "url":
				v.places[k.name] = true
			case isSecret(t):
				v.secret[k.name] = true
			case t.Kind() == reflect.Struct:
				if _, short := keysOf(t); short != nil && isSecret(leaf(short.typ)) {
					v.secret[k.name] = true
				}
			}
		}
	}
	return v
}

// leaf gives what a key's type is made of.
func leaf(t reflect.Type) reflect.Type {
	for {
		if _, scalar := scalarForm(reflect.New(t).Interface()); scalar {
			return t
		}
		switch inner := valueType(t); {
		case inner != t:
			t = inner
		case t.Kind() == reflect.Slice, t.Kind() == reflect.Pointer, t.Kind() == reflect.Map:
			t = t.Elem()
		default:
			return t
		}
	}
}

// isSecret says whether a type of values holds what must not be seen.
func isSecret(t reflect.Type) bool {
	f, ok := scalarForm(reflect.New(t).Interface())
	return ok && (f.name == "secret" || f.name == "hash" || t == reflect.TypeFor[hidden]())
}

func (v *veil) text(root *yaml.Node) (string, error) {
	v.walk(root, true)
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	if err := e.Encode(root); err != nil {
		return "", err
	}
	return out.String(), nil
}

// walk hides what stands in a node. Of what belongs to nothing (x-…) only values
// of keys that are known elsewhere are seen.
func (v *veil) walk(n *yaml.Node, belongs bool) {
	n.HeadComment, n.LineComment, n.FootComment = "", "", ""
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			switch name := n.Content[i].Value; {
			case hasType(n):
			case v.places[name]:
				v.place(n.Content[i+1])
			case name == "body": // services are told there who sends
				hide(n.Content[i+1], 0)
			}
			v.pair(n.Content[i], n.Content[i+1], belongs)
		}
	case yaml.SequenceNode:
		for _, c := range n.Content {
			v.walk(c, belongs)
		}
	case yaml.ScalarNode:
		if !belongs {
			hide(n, 0)
			return
		}
		n.Value = withoutLogin(n.Value)
	case yaml.DocumentNode, yaml.AliasNode: // what an alias stands for is walked where it stands
	}
}

// hasType says whether a mapping is a probe's or a target's, whose URLs are no secrets, nor
// what a probe expects.
func hasType(n *yaml.Node) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == "type" {
			return true
		}
	}
	return false
}

// place covers what is a secret of where alerts are sent.
func (v *veil) place(n *yaml.Node) {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.ScalarNode {
		hide(n, 0)
		return
	}
	switch scheme, rest, found := strings.Cut(n.Value, "://"); {
	case !found && variable.MatchString(n.Value):
	case !found:
		n.Value = covered
	case strings.EqualFold(scheme, "http"), strings.EqualFold(scheme, "https"):
		authority, _, more := strings.Cut(strings.NewReplacer("?", "/", "#", "/").Replace(rest), "/")
		n.Value = scheme + "://" + authority // whose user is taken out of all texts
		if more {
			n.Value += "/" + covered
		}
	default: // chats may have a token in the place of the host
		n.Value = scheme + "://" + covered
	}
}

// variable is a value that is nothing but a variable.
var variable = regexp.MustCompile(`^\$\{[A-Za-z_][A-Za-z0-9_]*\}$`)

func (v *veil) pair(key, value *yaml.Node, belongs bool) {
	key.HeadComment, key.LineComment, key.FootComment = "", "", ""
	name := key.Value
	switch {
	case v.secret[name], v.maps[name]:
		hide(value, 0)
		value.HeadComment, value.LineComment, value.FootComment = "", "", ""
	case name == "command" && value.Kind == yaml.SequenceNode && len(value.Content) > 0:
		for _, c := range value.Content[1:] {
			hide(c, 0)
		}
		v.walk(value, belongs)
	case strings.HasPrefix(name, "x-"):
		v.walk(value, false)
	default:
		v.walk(value, belongs && (v.known[name] || key.Tag == "!!merge") || v.known[name])
	}
}

// hide takes every value out of a node, and out of what its aliases stand for.
func hide(n *yaml.Node, depth int) {
	n.HeadComment, n.LineComment, n.FootComment = "", "", ""
	switch {
	case depth > maxDepth:
	case n.Kind == yaml.AliasNode:
		hide(n.Alias, depth+1)
	case n.Kind == yaml.ScalarNode:
		n.Value, n.Tag, n.Style = covered, "!!str", 0
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			key.HeadComment, key.LineComment, key.FootComment = "", "", ""
			hide(n.Content[i+1], depth+1)
		}
	default:
		for _, c := range n.Content {
			hide(c, depth+1)
		}
	}
}

var (
	loginOfURL = regexp.MustCompile(`(?i)([a-z][a-z0-9+.-]*://)[^/?#\s]*@`)
	queryOfURL = regexp.MustCompile(`(?i)([a-z][a-z0-9+.-]*://[^?#\s]*)[?#]\S*`)
)

// withoutLogin takes user, password and query out of the URLs in a text.
func withoutLogin(text string) string {
	if !strings.Contains(text, "://") {
		return text
	}
	text = loginOfURL.ReplaceAllString(text, "${1}"+covered+"@")
	return queryOfURL.ReplaceAllString(text, "${1}?"+covered)
}
