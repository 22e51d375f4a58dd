package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// Schema gives a JSON Schema (draft 2020-12) of the configuration, for
// editors. It is made from the types that are decoded.
func Schema() []byte {
	s := schemaMaker{defs: map[string]any{
		"variable": map[string]any{
			"description": "A value with ${NAME}, an environment variable.",
			"type":        "string", "pattern": `\$\{[A-Za-z_][A-Za-z0-9_]*\}`,
		},
	}}
	root := s.object(reflect.TypeFor[file]())
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "dnsteer configuration"
	root["patternProperties"] = map[string]any{"^x-": map[string]any{"description": "Free, for anchors."}}
	root["$defs"] = s.defs
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("config: the schema cannot be encoded: %s", err))
	}
	return append(out, '\n')
}

type schemaMaker struct{ defs map[string]any }

// object describes a struct of keys.
func (s *schemaMaker) object(t reflect.Type) map[string]any {
	keys, _ := keysOf(t)
	properties := make(map[string]any)
	var required []string
	for _, k := range keys {
		p := s.value(k.typ, k.tag)
		p["description"] = description(&k)
		if text := k.tag.Get("default"); text != "" {
			if f, ok := scalarForm(reflect.New(valueType(k.typ)).Interface()); ok {
				p["default"] = literal(text, f)
			}
		}
		properties[k.name] = p
		if k.tag.Get("required") != "" {
			required = append(required, k.name)
		}
	}
	o := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if required != nil {
		o["required"] = required
	}
	return o
}

// description is a key's meaning with the values that its kind is bound to.
func description(k *key) string {
	text := k.tag.Get("doc")
	if when := k.list("when"); when != nil {
		text += " For type " + words(when) + "."
	}
	if d := k.tag.Get("otherwise"); d != "" {
		text += " Default: " + d + "."
	}
	return text
}

// literal is a default as JSON.
func literal(text string, f form) any {
	var v any
	if f.kind != "" && json.Unmarshal([]byte(text), &v) == nil {
		return v
	}
	return unquoted(text)
}

// value describes the type of a field.
func (s *schemaMaker) value(t reflect.Type, tag reflect.StructTag) map[string]any {
	t = valueType(t)
	ptr := reflect.New(t).Interface()
	if f, ok := scalarForm(ptr); ok {
		return scalarSchema(f, tag)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.value(t.Elem(), tag)
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": s.value(t.Elem(), tag)}
	case reflect.Slice:
		item := s.value(t.Elem(), tag)
		list := map[string]any{"type": "array", "items": item}
		if tag.Get("nonempty") != "" {
			list["minItems"] = 1
		}
		if _, single := ptr.(oneOrMany); single {
			return map[string]any{"anyOf": []any{item, list}}
		}
		return list
	}
	name := strings.TrimSuffix(t.Name(), "Keys")
	if s.defs[name] == nil {
		s.defs[name] = true // against endless descent
		o := s.object(t)
		if _, short := keysOf(t); short != nil {
			o = map[string]any{"anyOf": []any{s.value(short.typ, short.tag), o}}
		}
		s.defs[name] = o
	}
	return map[string]any{"$ref": "#/$defs/" + name}
}

// scalarSchema describes a single value. Whatever it is, it may come from the
// environment.
func scalarSchema(f form, tag reflect.StructTag) map[string]any {
	p := make(map[string]any)
	switch enum := tag.Get("enum"); {
	case enum != "":
		p["enum"] = strings.Split(enum, "|")
	case f.kind == "integer":
		p["type"] = f.kind
		for tagName, keyword := range map[string]string{"min": "minimum", "max": "maximum"} {
			if text := tag.Get(tagName); text != "" {
				p[keyword] = json.Number(text)
			}
		}
	case f.kind != "":
		p["type"] = f.kind
	case f.pattern != "" && f.number:
		p["type"], p["pattern"] = []string{"string", "integer"}, f.pattern
	case f.pattern != "":
		p["type"], p["pattern"] = "string", f.pattern
	default:
		return map[string]any{"type": []string{"string", "number", "boolean"}}
	}
	return map[string]any{"anyOf": []any{p, map[string]any{"$ref": "#/$defs/variable"}}}
}
