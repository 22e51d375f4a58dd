package config

import (
	"fmt"
	"reflect"

	"gopkg.in/yaml.v3"
)

// fillDefaults gives every key of a struct that was left out the default of
// its tag. Embedded groups are left alone unless asked for: where settings are
// inherited, only the struct that everything inherits from is filled.
func fillDefaults(ptr any, groups bool) {
	v := reflect.ValueOf(ptr).Elem()
	keys, _ := keysOf(v.Type())
	for _, k := range keys {
		text := k.tag.Get("default")
		if text == "" || k.group != nil && !groups {
			continue
		}
		field := v.FieldByIndex(k.index)
		if h, ok := field.Addr().Interface().(holder); ok && h.set() || !ok && !field.IsZero() {
			continue
		}
		if err := defaultValue(text, field, k.tag); err != nil {
			panic(fmt.Sprintf("config: the default of %q cannot be read: %s", k.name, err))
		}
	}
}

// defaultValue decodes a default as it would be written. Its place is the zero
// Pos.
func defaultValue(text string, field reflect.Value, tag reflect.StructTag) error {
	if h, ok := field.Addr().Interface().(holder); ok {
		inner := h.hold(Pos{})
		if _, ok := scalarForm(inner); ok {
			return parseScalar(text, inner)
		}
	}
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(text), &node); err != nil {
		return err
	}
	r := &report{}
	d := &decoder{report: r, env: &environment{}, known: make(map[reflect.Type]keySet)}
	d.into(node.Content[0], "", field, tag)
	return r.err()
}

// or gives the place of a value, or that of what it belongs to where it was
// not written.
func (p Pos) or(other Pos) Pos {
	if p.File == "" {
		return other
	}
	return p
}
