package config

import (
	"path/filepath"

	"gopkg.in/yaml.v3"
)

// Subtree is a part of a YAML file that [Decode] leaves undecoded: a
// configuration inside another file, or the name of its file.
type Subtree struct {
	node *yaml.Node
	doc  document
	path string
}

// IsZero says whether the key was left out.
func (s Subtree) IsZero() bool { return s.node == nil }

// Pos is where the part stands.
func (s Subtree) Pos() Pos { return s.doc.pos(s.node, s.path) }

// File gives the name of the file that a single value names, relative to the
// file that it stands in; "" where the part is something else.
func (s Subtree) File() string {
	if s.node == nil || s.node.Kind != yaml.ScalarNode || s.node.Tag == "!!null" || s.node.Value == "" {
		return ""
	}
	if filepath.IsAbs(s.node.Value) {
		return s.node.Value
	}
	return filepath.Join(filepath.Dir(s.doc.name), s.node.Value)
}

// Config reads the part as a configuration, or the file that it names. Faults
// name the places in the file that the part stands in.
func (s Subtree) Config(opts Options) (*Config, error) {
	l := newLoader(opts)
	if name := s.File(); name != "" {
		return l.load(name)
	}
	if s.node != nil && s.node.Kind == yaml.AliasNode {
		s.node = s.node.Alias
	}
	doc := s.doc
	doc.root = s.node
	l.decode(doc, s.path)
	return l.finish()
}
