package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/internal/auth"
	"github.com/dnsteer/dnsteer/internal/version"
	"github.com/dnsteer/dnsteer/sites"
)

// object is a JSON object.
type object = map[string]any

// OpenAPI gives the document that describes the API (OpenAPI 3.1), made from the
// routes and from the types that they answer with.
func OpenAPI() []byte {
	s := schemas{}
	paths := object{}
	for pattern, op := range operations() {
		method, path, _ := strings.Cut(pattern, " ")
		at, ok := paths[path].(object)
		if !ok {
			at = object{}
			paths[path] = at
		}
		at[strings.ToLower(method)] = op.describe(pattern, &s)
	}
	doc := object{
		"openapi": "3.1.0",
		"info": object{
			"title": "dnsteer", "version": version.Version,
			"description": "What the commands can do, over HTTP. Durations whose names end in _ns are in nanoseconds.",
			"license":     object{"name": "Apache-2.0", "identifier": "Apache-2.0"},
		},
		"paths": paths,
		"components": object{
			"schemas": s,
			"securitySchemes": object{
				"token":   object{"type": "http", "scheme": "bearer"},
				"session": object{"type": "apiKey", "in": "cookie", "name": secureCookie, "description": "Set by POST /api/v1/login; " + plainCookie + " where the connection is not encrypted. Below a base path that follows, with dots for its slashes."},
			},
		},
	}
	out, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("api: the description cannot be encoded: %v", err))
	}
	return append(out, '\n')
}

// describe gives an operation as the document has it.
func (op *operation) describe(pattern string, s *schemas) object {
	role := roles[pattern]
	out := object{"summary": op.summary, "operationId": operationID(pattern)}
	if role == anybody {
		out["security"] = []any{}
	} else {
		out["security"] = []any{object{"token": []any{}}, object{"session": []any{}}}
		out["description"] = "Takes the role " + role.String() + "."
	}
	var params []any
	for _, p := range op.params {
		params = append(params, p.describe())
	}
	if params != nil {
		out["parameters"] = params
	}
	if op.body != nil {
		out["requestBody"] = object{"required": true, "content": object{"application/json": object{"schema": s.of(reflect.TypeOf(op.body))}}}
	}
	media, schema := "application/json", object{"type": "string"}
	if op.reply != nil {
		schema = s.of(reflect.TypeOf(op.reply))
	}
	if op.media != "" {
		media = op.media
	}
	responses := object{"200": object{"description": "Done.", "content": object{media: object{"schema": schema}}}}
	if op.reply == nil && op.media == "" {
		responses = object{"204": object{"description": "Done."}}
	}
	problems := append([]int{http.StatusMisdirectedRequest, http.StatusInternalServerError, http.StatusServiceUnavailable}, op.problems...)
	if role != anybody {
		problems = append(problems, http.StatusUnauthorized, http.StatusForbidden)
	}
	for _, status := range problems {
		responses[strconv.Itoa(status)] = object{
			"description": http.StatusText(status) + ".",
			"content":     object{"application/problem+json": object{"schema": s.of(reflect.TypeFor[Problem]())}},
		}
	}
	out["responses"] = responses
	return out
}

// operationID names an operation for programs that are made from the document.
func operationID(pattern string) string {
	words := strings.FieldsFunc(strings.ToLower(pattern), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	var b strings.Builder
	for _, w := range words {
		if w == "api" || w == "v1" {
			continue
		}
		if b.Len() > 0 {
			w = strings.ToUpper(w[:1]) + w[1:]
		}
		b.WriteString(w)
	}
	return b.String()
}

// parameter of a query, a path or a header.
type parameter struct {
	in, name, about string
	schema          object
}

func (p *parameter) describe() object {
	out := object{"in": p.in, "name": p.name, "description": p.about, "schema": p.schema}
	if p.in == "path" || p.name == "what" {
		out["required"] = true
	}
	return out
}

// schemas are the types that are described, by name.
type schemas map[string]any

// of describes a type as encoding/json writes it.
func (s schemas) of(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case reflect.TypeFor[netip.Addr]():
		return object{"type": "string", "description": "An IP address."}
	case reflect.TypeFor[sites.Kind]():
		return object{"type": "string", "enum": sites.Kinds()}
	case reflect.TypeFor[sites.Verb]():
		return object{"type": "string", "enum": sites.Verbs()}
	case reflect.TypeFor[sites.Severity]():
		return object{"type": "string", "enum": []sites.Severity{sites.Info, sites.Warning, sites.Critical}}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem())
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return object{"type": "integer"}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return object{"type": "integer", "minimum": 0}
	case reflect.Slice, reflect.Array:
		return object{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.Struct:
		name := t.Name()
		if strings.HasSuffix(t.PkgPath(), "/alert") {
			name = "Alert" + name // some are called as others of ours
		}
		if s[name] == nil {
			s[name] = true // against endless descent
			s[name] = s.structure(t)
		}
		return object{"$ref": "#/components/schemas/" + name}
	default:
		return object{}
	}
}

// structure describes the fields of a struct.
func (s schemas) structure(t reflect.Type) object {
	properties, required := object{}, []string{}
	s.fields(t, properties, &required)
	return object{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

func (s schemas) fields(t reflect.Type, properties object, required *[]string) {
	for f := range t.Fields() {
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case f.Anonymous && tag == "":
			s.fields(f.Type, properties, required)
			continue
		case name == "-" || !f.IsExported():
			continue
		case name == "":
			name = f.Name
		}
		properties[name] = s.of(f.Type)
		if !strings.Contains(options, "omit") {
			*required = append(*required, name)
		}
	}
}

func (h *Handler) openapi(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(OpenAPI()) // a client that is gone is told nothing
	return nil
}

// roleWord names who may ask for a route, for the documents.
func roleWord(r auth.Role) string {
	if r == anybody {
		return "anybody"
	}
	return r.String()
}
