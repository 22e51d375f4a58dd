package config

import (
	_ "embed"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// intro is what docs/configuration.md says before its tables, with an example.
//
//go:embed intro.md
var intro string

// Reference gives docs/configuration.md, made from the types that are decoded.
func Reference() []byte {
	var b strings.Builder
	b.WriteString(strings.ReplaceAll(intro, "](../../docs/", "](")) // it moves to docs
	all := sections()
	written := make(map[reflect.Type]bool)
	for _, s := range all {
		if written[s.typ] {
			continue
		}
		written[s.typ] = true
		if s.name == topLevel {
			b.WriteString("\n## Top level\n\n")
		} else {
			fmt.Fprintf(&b, "\n## %s\n\n", places(all, func(o section) bool { return o.typ == s.typ }))
		}
		writeForm(&b, s.typ)
		writeTable(&b, s.keys, nil)
		for _, g := range groups(s.keys) {
			if !written[g] {
				written[g] = true
				fmt.Fprintf(&b, "\n### %s\n\nThey stand in %s.\n\n", title(g), places(all, func(o section) bool { return slices.Contains(groups(o.keys), g) }))
				writeTable(&b, s.keys, g)
			} else {
				fmt.Fprintf(&b, "\nAlso all keys of \"%s\".\n", title(g))
			}
		}
	}
	return []byte(b.String())
}

// places lists the sections that a test holds for.
func places(all []section, is func(section) bool) string {
	var list []string
	for _, s := range all {
		if is(s) {
			list = append(list, "`"+s.name+"`")
		}
	}
	return strings.Join(list, ", ")
}

// writeForm says that a mapping may be written as a single value.
func writeForm(b *strings.Builder, t reflect.Type) {
	_, short := keysOf(t)
	if short == nil {
		return
	}
	name, _, _ := strings.Cut(short.tag.Get("yaml"), ",")
	if name == "-" {
		fmt.Fprintf(b, "May be written as %s instead.\n\n", words(ticked(short.list("enum"))))
		return
	}
	fmt.Fprintf(b, "May be written as the value of `%s` alone.\n\n", name)
}

// writeTable lists the keys of one group; nil means the struct's own.
func writeTable(b *strings.Builder, keys []key, group reflect.Type) {
	var rows []string
	for _, k := range keys {
		if k.group == group {
			rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s | %s |\n", k.name, formName(&k), defaultText(&k), meaning(&k), k.tag.Get("rule")))
		}
	}
	if rows != nil {
		b.WriteString("| key | value | default | meaning | rule |\n|---|---|---|---|---|\n" + strings.Join(rows, ""))
	}
}

// formName says how a value is written.
func formName(k *key) string {
	if enum := k.list("enum"); enum != nil {
		return words(ticked(enum))
	}
	t, list, single := valueType(k.typ), false, false
	for {
		if f, ok := scalarForm(reflect.New(t).Interface()); ok {
			return listed(f, list, single)
		}
		switch t.Kind() {
		case reflect.Slice:
			list, single = true, reflect.PointerTo(t).Implements(reflect.TypeFor[oneOrMany]())
			t = valueType(t.Elem())
		case reflect.Map:
			return "mapping"
		case reflect.Pointer:
			t = t.Elem()
		default:
			if _, short := keysOf(t); short != nil {
				return listed(form{name: shortName(short) + " or mapping"}, list, single)
			}
			return listed(form{name: "mapping"}, list, single)
		}
	}
}

// shortName says how the shorthand of a mapping is written.
func shortName(short *key) string {
	if short.list("enum") != nil {
		return "word"
	}
	return formName(short)
}

// listed gives the plural of a form where a list is expected, and both where
// the only element may stand for the list. Words stand alone.
func listed(f form, list, single bool) string {
	if !list {
		return f.name
	}
	var many []string
	for word := range strings.SplitSeq(strings.ReplaceAll(f.name, ", ", " or "), " or ") {
		switch {
		case slices.Contains(f.words, word):
		case strings.HasSuffix(word, "s") || strings.HasSuffix(word, "x"):
			many = append(many, word+"es")
		default:
			many = append(many, word+"s")
		}
	}
	plural := "list of " + strings.Join(many, " or ")
	if single {
		return f.name + ", or a " + plural
	}
	return plural
}

func defaultText(k *key) string {
	switch {
	case k.tag.Get("default") != "":
		return "`" + k.tag.Get("default") + "`"
	case k.tag.Get("otherwise") != "":
		return k.tag.Get("otherwise")
	case k.tag.Get("required") != "" || k.tag.Get("needed") != "":
		return "required"
	default:
		return "–"
	}
}

// meaning is the documentation of a key in a table's cell.
func meaning(k *key) string {
	text := k.tag.Get("doc")
	if when := k.list("when"); when != nil {
		text = "(" + strings.Join(when, ", ") + ") " + text
	}
	low, high := k.tag.Get("min"), k.tag.Get("max")
	switch {
	case low != "" && high != "":
		text += " From " + low + " to " + high + "."
	case low != "":
		text += " At least " + low + "."
	}
	if e := k.tag.Get("example"); e != "" {
		text += " Example: `" + e + "`."
	}
	return strings.ReplaceAll(text, "|", "\\|")
}

func ticked(list []string) []string {
	var out []string
	for _, s := range list {
		out = append(out, "`"+s+"`")
	}
	return out
}
