package config

import (
	"reflect"
	"strings"
)

// key is what the tags of a struct field say about the key that is decoded
// into it. The tags:
//
//	yaml      name, or ",inline" for an embedded group of keys
//	doc       meaning, for the reference and the schema
//	default   the value where the key is left out, as one would write it
//	otherwise the same in words, where it is no fixed value
//	enum      permitted values, with |
//	when      values of the key "type" that the key belongs to, with |
//	short     "yes": the whole mapping may be written as this key's value
//	required  "yes": the key must stand
//	rule      numbers of rules.md
//	nonempty  "yes": a list needs an entry, and a text a character
//	needed    values of the key "type" that need the key, with |
//	instead   the key that is meant where "type" has another value
//	whole     the unit that a duration must be a multiple of
//	min, max  limits of a number or a duration
//	example   a value for the reference and for tests
type key struct {
	name  string
	index []int // as reflect.Value.FieldByIndex takes it
	typ   reflect.Type
	tag   reflect.StructTag
	// group is the embedded struct that the key comes from, nil for the
	// struct's own.
	group    reflect.Type
	required bool
}

// keySet is what the fields of a struct type say.
type keySet struct {
	keys  []key
	short *key
	// place is the field of type Pos, -1 where there is none.
	place int
	// presets are the defaults that were read, with the groups' or without.
	presets map[bool][]preset
}

// keySets remembers what was read of each type: tags are slow to read, and a
// large configuration holds a type thousands of times.
type keySets map[reflect.Type]*keySet

func (s keySets) of(t reflect.Type) *keySet {
	set := s[t]
	if set == nil {
		set = &keySet{place: -1, presets: make(map[bool][]preset)}
		set.keys, set.short = keysOf(t)
		for i := range t.NumField() {
			if t.Field(i).Type == posType {
				set.place = i
			}
		}
		s[t] = set
	}
	return set
}

func (k *key) list(tag string) []string {
	if t := k.tag.Get(tag); t != "" {
		return strings.Split(t, "|")
	}
	return nil
}

var posType = reflect.TypeFor[Pos]()

// keysOf lists the keys of a struct type, embedded groups included, in the
// order of the fields. The second result is the field that a shorthand goes
// to, which may have no key of its own.
func keysOf(t reflect.Type) (keys []key, short *key) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case options == "inline":
			inner, innerShort := keysOf(f.Type)
			for _, k := range inner {
				k.index = append([]int{i}, k.index...)
				if k.group == nil {
					k.group = f.Type
				}
				keys = append(keys, k)
			}
			if innerShort != nil {
				innerShort.index = append([]int{i}, innerShort.index...)
				short = innerShort
			}
			continue
		case f.Type == posType || name == "" && f.Name != "_" && !f.IsExported():
			continue
		case name == "":
			name = strings.ToLower(f.Name)
		}
		k := key{name: name, index: []int{i}, typ: f.Type, tag: f.Tag, required: f.Tag.Get("required") != ""}
		if f.Tag.Get("short") != "" {
			s := k
			short = &s
		}
		if name != "-" {
			keys = append(keys, k)
		}
	}
	return keys, short
}

// names lists the names of keys.
func names(keys []key) []string {
	var list []string
	for _, k := range keys {
		list = append(list, k.name)
	}
	return list
}

// find gives the key of a name.
func find(keys []key, name string) *key {
	for i := range keys {
		if keys[i].name == name {
			return &keys[i]
		}
	}
	return nil
}

// value gives the type inside a Value, and the type itself of others.
func valueType(t reflect.Type) reflect.Type {
	if h, ok := reflect.New(t).Interface().(holder); ok {
		return reflect.TypeOf(h.hold(Pos{})).Elem()
	}
	return t
}
