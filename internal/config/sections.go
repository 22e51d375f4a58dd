package config

import (
	"reflect"
	"slices"
)

// section is a mapping of the configuration with its keys.
type section struct {
	// name is the path, with [] behind lists; "the top level" for the first.
	name string
	typ  reflect.Type
	keys []key
}

const topLevel = "the top level"

// sections walks the types that a configuration is decoded into.
func sections() []section {
	var list []section
	var walk func(t reflect.Type, path string)
	walk = func(t reflect.Type, path string) {
		keys, _ := keysOf(t)
		name := path
		if name == "" {
			name = topLevel
		}
		list = append(list, section{name, t, keys})
		for _, k := range keys {
			if inner, many := nested(k.typ); inner != nil {
				p := joinPath(path, k.name)
				if many {
					p += "[]"
				}
				walk(inner, p)
			}
		}
	}
	walk(reflect.TypeFor[file](), "")
	return list
}

// nested gives the struct of keys inside a field's type, nil where there is
// none, and whether it stands in a list.
func nested(t reflect.Type) (inner reflect.Type, many bool) {
	for {
		t = valueType(t)
		if _, scalar := scalarForm(reflect.New(t).Interface()); scalar {
			return nil, false
		}
		switch t.Kind() {
		case reflect.Slice:
			many = true
			t = t.Elem()
		case reflect.Pointer, reflect.Map:
			t = t.Elem()
		case reflect.Struct:
			return t, many
		default:
			return nil, false
		}
	}
}

// title names the groups of settings that several mappings share.
func title(group reflect.Type) string {
	switch group {
	case reflect.TypeFor[nodeSettings]():
		return "Settings of nodes"
	case reflect.TypeFor[poolSettings]():
		return "Settings of pools"
	case reflect.TypeFor[siteSettings]():
		return "Settings of sites"
	case reflect.TypeFor[callKeys]():
		return "How an address is called"
	case reflect.TypeFor[matchKeys]():
		return "Which events"
	default:
		return "What a probe asks"
	}
}

// groups lists the groups of a struct's keys in order.
func groups(keys []key) []reflect.Type {
	var list []reflect.Type
	for _, k := range keys {
		if k.group != nil && !slices.Contains(list, k.group) {
			list = append(list, k.group)
		}
	}
	return list
}
