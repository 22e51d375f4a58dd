package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Decode reads a YAML file of one document into the struct that v points to,
// strictly: unknown and double keys, values of another type and a second
// document are refused, and every fault names its place ([FaultsError]).
//
// Fields take the tags that [key] lists, of which yaml, enum, required, min
// and max are of use outside of this package. A field of type [Pos] receives the
// place of its mapping, a [Value] the place of its value; durations are Go's
// and "d" (see [ParseDuration]); [Subtree] keeps a part of the file undecoded.
func Decode(name string, data []byte, v any) error {
	r := &report{}
	doc, ok := parseDocument(name, data, 0, r)
	if ok && doc.root == nil {
		r.fault(Pos{File: name}, "the file is empty")
	}
	if ok && doc.root != nil {
		d := &decoder{document: doc, report: r, env: &environment{}, known: make(keySets)}
		d.into(doc.root, "", reflect.ValueOf(v).Elem(), "")
	}
	return r.err()
}

// decoder takes the tree of a file into structs.
type decoder struct {
	document
	*report
	env    *environment
	visits int
	// open holds the aliases that are being followed.
	open []*yaml.Node
	// anywhere lists the keys of all structs with their places, for hints.
	anywhere map[string][]string
	// known keeps the keys of the structs that were met.
	known keySets
	// free lets keys that start with "x-" pass in the mapping at the path top.
	free bool
	top  string
}

// into decodes a node into v, under the tags of the field that v is.
func (d *decoder) into(n *yaml.Node, path string, v reflect.Value, tag reflect.StructTag) {
	d.visits++
	switch {
	case d.visits == maxVisits:
		d.fault(d.pos(n, path), "aliases make this file larger than %d values, expected fewer of them", maxVisits)
		return
	case d.visits > maxVisits:
		return
	}
	if n.Kind == yaml.AliasNode {
		if slices.Contains(d.open, n.Alias) {
			d.fault(d.pos(n, path), "the alias *%s contains itself", n.Value)
			return
		}
		d.open = append(d.open, n.Alias)
		d.into(n.Alias, path, v, tag)
		d.open = d.open[:len(d.open)-1]
		return
	}
	if tree, ok := v.Addr().Interface().(*Subtree); ok {
		*tree = Subtree{node: n, doc: d.document, path: path}
		return
	}
	if h, ok := v.Addr().Interface().(holder); ok {
		v = reflect.ValueOf(h.hold(d.pos(n, path))).Elem()
	}
	d.kind(n, path, v, tag)
}

func (d *decoder) kind(n *yaml.Node, path string, v reflect.Value, tag reflect.StructTag) {
	if _, ok := scalarForm(v.Addr().Interface()); ok || isText(v) {
		d.scalar(n, path, v, tag)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		fresh := reflect.New(v.Type().Elem())
		d.into(n, path, fresh.Elem(), tag)
		v.Set(fresh)
	case reflect.Struct:
		d.mapping(n, path, v)
	case reflect.Slice:
		d.sequence(n, path, v, tag)
	case reflect.Map:
		d.dictionary(n, path, v, tag)
	default:
		panic(fmt.Sprintf("config: field %s has a type that cannot be decoded: %s", path, v.Type()))
	}
}

func isText(v reflect.Value) bool {
	_, ok := v.Addr().Interface().(interface{ UnmarshalText(text []byte) error })
	return ok
}

// scalar decodes a single value.
func (d *decoder) scalar(n *yaml.Node, path string, v reflect.Value, tag reflect.StructTag) {
	at := d.pos(n, path)
	f, _ := scalarForm(v.Addr().Interface())
	want := cmpName(f, tag)
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		d.fault(at, "found %s, expected %s%s", shape(n), want, quoteHint(n))
		return
	}
	text, err := d.env.expand(n.Value)
	if err == nil {
		err = parseScalar(text, v.Addr().Interface())
	}
	if err == nil {
		err = within(text, v, tag)
	}
	var exp expected
	_, hidden := v.Addr().Interface().(hiding)
	switch {
	case errors.As(err, &exp) && hidden:
		d.fault(at, "this secret cannot be read, expected %s", string(exp))
	case errors.As(err, &exp):
		d.fault(at, "found %s, expected %s", d.found(n, text), string(exp))
	case err != nil:
		d.fault(at, "%s", err)
	}
}

// found quotes what stands in the file, never what an environment variable
// holds: it may be a secret.
func (d *decoder) found(n *yaml.Node, text string) string {
	if text != n.Value && text != "" {
		return fmt.Sprintf("%q (with the environment's value)", n.Value)
	}
	return fmt.Sprintf("%q", clip(n.Value))
}

// clip keeps a quoted value readable.
func clip(s string) string {
	if len(s) > 80 {
		return strings.ToValidUTF8(s[:77], "") + "..."
	}
	return s
}

// sequence decodes a list.
func (d *decoder) sequence(n *yaml.Node, path string, v reflect.Value, tag reflect.StructTag) {
	_, single := v.Addr().Interface().(oneOrMany)
	if single && n.Kind != yaml.SequenceNode && n.Tag != "!!null" {
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		d.into(n, path, v.Index(0), tag)
		return
	}
	if n.Kind != yaml.SequenceNode {
		hint := ""
		_, plain := scalarForm(reflect.New(valueType(v.Type().Elem())).Interface())
		if plain && n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
			hint = fmt.Sprintf(": write [%s]", clip(n.Value))
		}
		d.fault(d.pos(n, path), "found %s, expected a list%s", shape(n), hint)
		return
	}
	if len(n.Content) == 0 && tag.Get("nonempty") != "" {
		d.fault(d.pos(n, path), "found an empty list, expected at least one entry")
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, c := range n.Content {
		d.into(c, fmt.Sprintf("%s[%d]", path, i), v.Index(i), tag)
	}
}

// dictionary decodes a mapping with free keys.
func (d *decoder) dictionary(n *yaml.Node, path string, v reflect.Value, tag reflect.StructTag) {
	if n.Kind != yaml.MappingNode {
		d.fault(d.pos(n, path), "found %s, expected a mapping of names to values", shape(n))
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for _, p := range d.pairs(n, path) {
		elem := reflect.New(v.Type().Elem()).Elem()
		d.into(p.value, joinPath(path, p.key.Value), elem, tag)
		v.SetMapIndex(reflect.ValueOf(p.key.Value).Convert(v.Type().Key()), elem)
	}
}

// cmpName says what a scalar is expected to be.
func cmpName(f form, tag reflect.StructTag) string {
	if enum := tag.Get("enum"); enum != "" {
		return words(strings.Split(enum, "|"))
	}
	if f.name == "" {
		return "a single value"
	}
	if strings.ContainsAny(f.name[:1], "aeiou") {
		return "an " + f.name
	}
	if f.kind == "boolean" || f.name == "text" || len(f.words) > 0 {
		return f.name
	}
	return "a " + f.name
}

// shape names a node for people.
func shape(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Tag == "!!null":
		return "nothing"
	default:
		return fmt.Sprintf("%q", clip(n.Value))
	}
}

// quoteHint explains the mapping that an IPv6 address or an alias-like host
// becomes without quotes.
func quoteHint(n *yaml.Node) string {
	if n.Kind == yaml.MappingNode {
		return "; a value with a colon needs quotes"
	}
	return ""
}

// joinPath puts a key behind a path.
func joinPath(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
