package config

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"sort"
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
		r.tooLarge(name)
		return doc, false
	case !utf8.Valid(data):
		r.fault(notText(name, data, offset), "the file is not UTF-8 text from here on: save it in that encoding")
		return doc, false
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var node yaml.Node
	if err := dec.Decode(&node); errors.Is(err, io.EOF) {
		return doc, true
	} else if err != nil {
		r.syntax(doc, data, err)
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
		r.syntax(doc, data, err)
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

func (r *report) tooLarge(name string) {
	r.fault(Pos{File: name}, "the file is larger than %d bytes (1 MiB), expected at most that: split it into several files of a folder", maxFileSize)
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

// notText is the place of the first octets of a file that are not UTF-8.
func notText(name string, data []byte, offset int) Pos {
	good := len(data)
	for i := 0; i < len(data); {
		c, size := utf8.DecodeRune(data[i:])
		if c == utf8.RuneError && size == 1 {
			good = i
			break
		}
		i += size
	}
	before := data[:good]
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	return Pos{File: name, Line: bytes.Count(before, []byte("\n")) + 1 + offset, Col: utf8.RuneCount(line) + 1}
}

var yamlErrorLine = regexp.MustCompile(`^(?:yaml: )?(?:line \d+: )?`)

// syntax reports what the YAML library could not read, with a remedy where the
// cause is a common one.
func (r *report) syntax(doc document, data []byte, err error) {
	text := err.Error()
	at := Pos{File: doc.name, Line: faultyLine(data, text) + doc.offset}
	text = strings.TrimPrefix(text, yamlErrorLine.FindString(text))
	for _, h := range []struct{ sign, remedy string }{
		{"mapping values are not allowed", "check the indentation, and put a value that contains \": \" in quotes"},
		{"tab character", "indent with spaces instead of tabs"},
		{"control characters", "remove what is no text in this line"},
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

// faultyLine counts the lines up to the one with which the text first fails by the error
// that all of it fails by. The library names none for some errors, and for others the
// line where the part begins that it was reading, which may be far above.
func faultyLine(data []byte, text string) int {
	var ends []int // of the lines
	for line := range bytes.Lines(data) {
		end := len(line)
		if len(ends) > 0 {
			end += ends[len(ends)-1]
		}
		ends = append(ends, end)
	}
	return 1 + sort.Search(len(ends)-1, func(i int) bool {
		err := unreadable(data[:ends[i]])
		return err != nil && err.Error() == text
	})
}

// unreadable says why a text of one YAML document, or the beginning of another, cannot
// be read.
func unreadable(data []byte) error {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	for range 2 {
		if err := dec.Decode(new(yaml.Node)); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}
