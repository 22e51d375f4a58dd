package config

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// Limits of one YAML file. They stand before any decoding.
const (
	maxFileSize = 1 << 20
	maxDepth    = 32
	// maxVisits bounds the nodes that are decoded, aliases counted at each use.
	maxVisits = 300_000
)

// document is the tree of one YAML file.
type document struct {
	name string
	// offset is added to every line: where the text starts in its file.
	offset int
	root   *yaml.Node
}

// parseDocument reads the only document of a file. A file without content
// gives a nil root.
func parseDocument(name string, data []byte, offset int, r *report) (document, bool) {
	doc := document{name: name, offset: offset}
	switch {
	case len(data) > maxFileSize:
		r.fault(Pos{File: name}, "the file has %d bytes, expected at most %d (1 MiB): split it into several files of a folder", len(data), maxFileSize)
		return doc, false
	case !utf8.Valid(data):
		r.fault(Pos{File: name}, "the file is not UTF-8 text: save it in that encoding")
		return doc, false
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var node yaml.Node
	if err := dec.Decode(&node); errors.Is(err, io.EOF) {
		return doc, true
	} else if err != nil {
		r.syntax(doc, err)
		return doc, false
	}
	if len(node.Content) == 1 {
		doc.root = node.Content[0]
	}
	var second yaml.Node
	if err := dec.Decode(&second); err == nil {
		at := Pos{File: name, Line: second.Line + offset, Col: second.Column}
		r.fault(at, "a second YAML document begins here, expected one in a file: remove the line --- above or use a file of its own")
		return doc, false
	} else if !errors.Is(err, io.EOF) {
		r.syntax(doc, err)
		return doc, false
	}
	if deep := deeper(&node, maxDepth+1); deep != nil {
		r.fault(doc.pos(deep, ""), "nested more than %d levels deep, expected fewer", maxDepth)
		return doc, false
	}
	if doc.root != nil && doc.root.Kind == yaml.ScalarNode && doc.root.Tag == "!!null" {
		doc.root = nil
	}
	return doc, true
}

// deeper gives the first node that lies below so many levels, or nil. Aliases
// are not followed.
func deeper(n *yaml.Node, levels int) *yaml.Node {
	if levels < 0 {
		return n
	}
	for _, c := range n.Content {
		if found := deeper(c, levels-1); found != nil {
			return found
		}
	}
	return nil
}

func (d document) pos(n *yaml.Node, path string) Pos {
	if n == nil {
		return Pos{File: d.name, Path: path}
	}
	return Pos{File: d.name, Line: n.Line + d.offset, Col: n.Column, Path: path}
}

var yamlErrorLine = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)

// syntax reports what the YAML library could not read, with a remedy where the
// cause is a common one.
func (r *report) syntax(doc document, err error) {
	text := err.Error()
	m := yamlErrorLine.FindStringSubmatch(text)
	text = strings.TrimPrefix(text, m[0])
	at := Pos{File: doc.name}
	line, err := strconv.Atoi(m[1])
	switch {
	case strings.HasPrefix(text, "unknown anchor"):
	case err != nil:
		at.Line = 1 + doc.offset // the library leaves the first line out
	case strings.HasPrefix(text, "did not find expected") && !strings.Contains(text, "character"):
		at.Line = line + 1 + doc.offset // its parser counts from 0, its scanner from 1
	default:
		at.Line = line + doc.offset
	}
	for _, h := range []struct{ sign, remedy string }{
		{"mapping values are not allowed", "check the indentation, and put a value that contains \": \" in quotes"},
		{"cannot start any token", "indent with spaces instead of tabs, and put a value that starts with @, %, ` or a tab in quotes"},
		{"did not find expected", "check the indentation and the brackets, and put a value that starts with *, &, !, [ or { in quotes"},
		{"unknown anchor", "an alias *name needs an anchor &name before it; put a host such as \"*.apps.example.lan\" in quotes"},
		{"found unexpected end of stream", "a quote or a bracket is not closed"},
	} {
		if strings.Contains(text, h.sign) {
			text += "; " + h.remedy
			break
		}
	}
	r.fault(at, "this is not YAML: %s", text)
}
