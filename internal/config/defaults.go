package config

import (
	"fmt"
	"reflect"
	"strconv"

	"gopkg.in/yaml.v3"
)

// preset is the default of a key.
type preset struct {
	index []int
	value reflect.Value
}

// fill gives every key of a struct that was left out the default of its tag.
// Embedded groups are left alone unless asked for: where settings are
// inherited, only the struct that everything inherits from is filled.
func (s keySets) fill(ptr any, groups bool) {
	v := reflect.ValueOf(ptr).Elem()
	set := s.of(v.Type())
	presets, ok := set.presets[groups]
	if !ok {
		presets = defaultsOf(set.keys, groups)
		set.presets[groups] = presets
	}
	for _, p := range presets {
		if field := v.FieldByIndex(p.index); field.IsZero() {
			field.Set(p.value)
		}
	}
}

// defaultsOf reads the defaults of keys.
func defaultsOf(keys []key, groups bool) (presets []preset) {
	for _, k := range keys {
		text := k.tag.Get("default")
		if text == "" || k.group != nil && !groups {
			continue
		}
		value := reflect.New(k.typ).Elem()
		if err := defaultValue(text, value, k.tag); err != nil {
			panic(fmt.Sprintf("config: the default of %q cannot be read: %s", k.name, err))
		}
		presets = append(presets, preset{k.index, value})
	}
	return presets
}

// defaultValue decodes a default as it would be written. Its place is the zero
// Pos.
func defaultValue(text string, field reflect.Value, tag reflect.StructTag) error {
	if h, ok := field.Addr().Interface().(holder); ok {
		inner := h.hold(Pos{})
		if _, ok := scalarForm(inner); ok {
			return parseScalar(unquoted(text), inner)
		}
	}
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(text), &node); err != nil {
		return err
	}
	r := &report{}
	d := &decoder{report: r, env: &environment{}, known: make(keySets)}
	d.into(node.Content[0], "", field, tag)
	return r.err()
}

// unquoted gives a scalar as it is meant: some must be quoted where they are
// written.
func unquoted(text string) string {
	if s, err := strconv.Unquote(text); err == nil {
		return s
	}
	return text
}

// or gives the place of a value, or that of what it belongs to where it was
// not written.
func (p Pos) or(other Pos) Pos {
	if p.File == "" {
		return other
	}
	return p
}
