package config

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// mapping decodes the keys of a struct.
func (d *decoder) mapping(n *yaml.Node, path string, v reflect.Value) {
	set := d.known.of(v.Type())
	keys, short := set.keys, set.short
	if n.Kind != yaml.MappingNode {
		if short != nil && n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
			d.place(n, path, v, set)
			before := len(d.faults)
			d.into(n, path, v.FieldByIndex(short.index), short.tag)
			if f := d.faults[before:]; short.name == "-" && len(f) > 0 && !strings.Contains(f[0].Text, "did you mean") {
				f[0].Text += ", or a mapping with " + clipWords(names(keys))
			}
			return
		}
		d.fault(d.pos(n, path), "found %s, expected a mapping with %s", shape(n), clipWords(names(keys)))
		return
	}
	d.place(n, path, v, set)
	seen := make(map[string]*yaml.Node)
	excused := make(map[string]bool) // required keys that a misspelt one stands for
	for _, p := range d.pairs(n, path) {
		name := p.key.Value
		k := find(keys, name)
		at := d.pos(p.key, joinPath(path, name))
		switch {
		case k == nil && d.free && path == d.top && strings.HasPrefix(name, "x-"):
		case k == nil:
			excused[nearest(name, names(keys))] = true
			d.unknown(at, name, keys)
		default:
			seen[name] = p.key
			d.into(p.value, at.Path, v.FieldByIndex(k.index), k.tag)
		}
	}
	for _, k := range keys {
		if k.required && seen[k.name] == nil && !excused[k.name] {
			d.fault(d.pos(n, path), "the key %q is missing", k.name)
		}
	}
	d.variant(v, keys, path, seen)
}

// place fills the struct's field of type Pos.
func (d *decoder) place(n *yaml.Node, path string, v reflect.Value, set *keySet) {
	if set.place >= 0 {
		v.Field(set.place).Set(reflect.ValueOf(d.pos(n, path)))
	}
}

// unknown refuses a key with the best hint there is.
func (d *decoder) unknown(at Pos, name string, keys []key) {
	hint := Suggest(name, names(keys))
	if places := d.anywhere[name]; hint == "" && len(places) > 0 {
		hint = fmt.Sprintf("; %q is a key of %s", name, words(places[:min(3, len(places))]))
	}
	if hint == "" {
		hint = ", expected one of " + clipWords(names(keys))
	}
	d.fault(at, "unknown key %q%s", clip(name), hint)
}

// variant refuses keys that belong to another value of the key "type".
func (d *decoder) variant(v reflect.Value, keys []key, path string, seen map[string]*yaml.Node) {
	typ := find(keys, "type")
	if typ == nil || seen["type"] == nil {
		return
	}
	value, ok := v.FieldByIndex(typ.index).Interface().(Value[string])
	if !ok || !slices.Contains(typ.list("enum"), value.V) {
		return
	}
	for _, k := range keys {
		when := k.list("when")
		belongs := len(when) == 0 || slices.Contains(when, value.V)
		switch at := seen[k.name]; {
		case at != nil && !belongs:
			hint := ""
			if other := k.tag.Get("instead"); other != "" {
				hint = fmt.Sprintf("; did you mean %q?", other)
			}
			d.fault(d.pos(at, joinPath(path, k.name)), "%q is a key of type %s, found type %s%s", k.name, words(when), value.V, hint)
		case at == nil && belongs && slices.Contains(k.list("needed"), value.V):
			d.fault(d.pos(seen["type"], path), "type %s needs the key %q", value.V, k.name)
		}
	}
}

// pair is a key of a mapping with its value.
type pair struct{ key, value *yaml.Node }

// pairs lists the keys of a mapping in order, merge keys (<<) taken in: what
// the mapping says itself wins, then what was merged first.
func (d *decoder) pairs(n *yaml.Node, path string) []pair {
	var own, merged []pair
	seen := make(map[string]*yaml.Node)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, value := n.Content[i], n.Content[i+1]
		switch first := seen[k.Value]; {
		case k.Kind != yaml.ScalarNode:
			d.fault(d.pos(k, path), "found %s as a key, expected a name", shape(k))
		case k.Tag == "!!merge":
			merged = append(merged, d.merge(value, path)...)
		case first != nil:
			d.fault(d.pos(k, joinPath(path, k.Value)), "the key %q stands twice, first in line %d", k.Value, first.Line+d.offset)
		default:
			seen[k.Value] = k
			own = append(own, pair{k, value})
		}
	}
	for _, p := range merged {
		if seen[p.key.Value] == nil {
			seen[p.key.Value] = p.key
			own = append(own, p)
		}
	}
	return own
}

// merge gives the pairs behind a merge key: a mapping, or a list of them.
func (d *decoder) merge(n *yaml.Node, path string) []pair {
	d.visits++
	switch {
	case d.visits > maxVisits:
		return nil
	case n.Kind == yaml.AliasNode && slices.Contains(d.open, n.Alias):
		d.fault(d.pos(n, path), "the alias *%s contains itself", n.Value)
		return nil
	case n.Kind == yaml.AliasNode:
		d.open = append(d.open, n.Alias)
		defer func() { d.open = d.open[:len(d.open)-1] }()
		return d.merge(n.Alias, path)
	case n.Kind == yaml.MappingNode:
		d.visits += len(n.Content)
		return d.pairs(n, path)
	case n.Kind == yaml.SequenceNode:
		var list []pair
		for _, c := range n.Content {
			list = append(list, d.merge(c, path)...)
		}
		return list
	}
	d.fault(d.pos(n, path), "found %s behind <<, expected an alias of a mapping", shape(n))
	return nil
}

// within holds a parsed value against the enum, min and max of its field.
func within(text string, v reflect.Value, tag reflect.StructTag) error {
	if enum := tag.Get("enum"); enum != "" && v.Kind() == reflect.String {
		list := strings.Split(enum, "|")
		if slices.Contains(list, text) {
			return nil
		}
		return expected(words(list) + Suggest(text, list))
	}
	switch x := v.Interface().(type) {
	case int:
		return inRange(x, tag, strconv.Atoi, strconv.Itoa)
	case time.Duration:
		if unit, err := ParseDuration(tag.Get("whole")); err == nil && x%unit != 0 {
			return expected("whole seconds")
		}
		return inRange(x, tag, ParseDuration, formatDuration)
	case string:
		if x == "" && (tag.Get("required") != "" || tag.Get("nonempty") != "") {
			return expected("some text")
		}
	}
	return nil
}

// inRange compares with the tags min and max.
func inRange[T int | time.Duration](x T, tag reflect.StructTag, parse func(string) (T, error), format func(T) string) error {
	low, errLow := parse(tag.Get("min"))
	high, errHigh := parse(tag.Get("max"))
	switch {
	case errLow == nil && errHigh == nil && (x < low || x > high):
		return expected(fmt.Sprintf("%s to %s", format(low), format(high)))
	case errLow == nil && x < low:
		return expected("at least " + format(low))
	case errHigh == nil && x > high:
		return expected("at most " + format(high))
	}
	return nil
}

// clipWords lists keys for a message.
func clipWords(list []string) string {
	if len(list) > 12 {
		return strings.Join(list[:12], ", ") + ", …"
	}
	return words(list)
}
