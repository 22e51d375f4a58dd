package routersim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// caller is who gives a command.
type caller struct {
	name, via string
	readOnly  bool
}

const static = "/ip/dns/static/"

func trap(message, category string) [][]string {
	words := []string{"!trap", "=message=" + message}
	if category != "" {
		words = []string{"!trap", "=category=" + category, "=message=" + message}
	}
	return [][]string{words, {"!done"}}
}

// arguments gives the =name=value words.
func arguments(words []string) (args []pair) {
	for _, w := range words {
		if w, ok := strings.CutPrefix(w, "="); ok {
			key, value, _ := strings.Cut(w, "=")
			args = append(args, pair{key, value})
		}
	}
	return args
}

func get(args []pair, key string) string {
	for _, a := range args {
		if a.key == key {
			return a.value
		}
	}
	return ""
}

// writes says whether a command needs the right to write.
func writes(command string) bool {
	i := strings.LastIndexByte(command, '/')
	return slices.Contains([]string{"add", "set", "remove", "enable", "disable", "move", "wol"}, command[i+1:])
}

// run carries out a command.
func (r *Router) run(words []string, who caller) [][]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	command := words[0]
	if writes(command) && who.readOnly {
		return trap("not enough permissions (9)", "")
	}
	if verb, ok := strings.CutPrefix(command, static); ok {
		if writes(command) {
			r.writes++
		}
		return r.static(verb, words[1:], who)
	}
	switch command {
	case "/system/resource/print":
		return r.single(words, []pair{{"uptime", "1w2d3h"}, {"version", r.o.Version + " (stable)"}, {"board-name", "CHR"}})
	case "/system/identity/print":
		return r.single(words, []pair{{"name", r.o.Identity}})
	case "/ip/dns/print":
		return r.single(words, []pair{{"servers", ""}, {"allow-remote-requests", strconv.FormatBool(!r.refuseDNS)}, {"cache-max-ttl", "1w"}})
	case "/ip/dns/set":
		r.refuseDNS = slices.Contains([]string{"no", "false"}, get(arguments(words), "allow-remote-requests"))
		r.note("dns changed by " + who.name)
		return [][]string{{"!done"}}
	case "/ip/dns/cache/flush":
		return [][]string{{"!done"}}
	case "/log/print":
		var rows [][]pair
		for _, line := range r.log {
			rows = append(rows, []pair{{"message", line}})
		}
		return r.list(words, rows)
	case "/tool/wol":
		args := arguments(words)
		if get(args, "mac") == "" {
			return trap("missing value(s) of argument(s) mac", "0")
		}
		r.woken = append(r.woken, get(args, "mac")+" "+get(args, "interface"))
		return [][]string{{"!done"}}
	}
	last := command[strings.LastIndexByte(command, '/')+1:]
	return trap(fmt.Sprintf("no such command or directory (%s)", last), "0")
}

// static carries out a command of the menu /ip/dns/static.
func (r *Router) static(verb string, words []string, who caller) [][]string {
	args := arguments(words)
	ids := get(args, ".id")
	if ids == "" {
		ids = get(args, "numbers")
	}
	rest := slices.DeleteFunc(slices.Clone(args), func(a pair) bool { return a.key == ".id" || a.key == "numbers" })
	done, why, did := []string{"!done"}, "", ""
	switch verb {
	case "print", "getall":
		var rows [][]pair
		for _, row := range r.table.rows {
			rows = append(rows, r.ordered(row))
		}
		return r.list(words, rows)
	case "add":
		var id string
		if id, why = r.table.add(rest, r.p); why == "" {
			done = append(done, "=ret="+id)
		}
		did = "added"
	case "set":
		why, did = r.table.set(ids, rest, r.p), "changed"
	case "remove":
		why, did = r.table.remove(ids), "removed"
	case "enable":
		why, did = r.table.set(ids, []pair{{"disabled", "no"}}, r.p), "changed"
	case "disable":
		why, did = r.table.set(ids, []pair{{"disabled", "yes"}}, r.p), "changed"
	case "move":
		why, did = r.table.move(ids, get(rest, "destination")), "moved"
	default:
		return trap("no such command", "0")
	}
	if why != "" {
		return trap(why, "")
	}
	r.note("static dns entry " + did + " by " + who.name)
	return [][]string{done}
}

// ordered gives a row's fields in the order of a print.
func (r *Router) ordered(row *row) (fields []pair) {
	shown := row.show(r.p)
	for _, k := range order {
		if v, ok := shown[k]; ok {
			fields = append(fields, pair{k, v})
		}
	}
	return fields
}

// single answers a print of a menu that has one row.
func (r *Router) single(words []string, row []pair) [][]string {
	return r.list(words, [][]pair{row})
}

// list answers a print, by its query words and .proplist.
func (r *Router) list(words []string, rows [][]pair) (out [][]string) {
	var queries, props []string
	for _, w := range words {
		if q, ok := strings.CutPrefix(w, "?"); ok {
			queries = append(queries, q)
		}
	}
	args := arguments(words)
	if list := get(args, ".proplist"); list != "" {
		props = strings.Split(list, ",")
	}
	for _, row := range rows {
		if len(queries) > 0 {
			fields := map[string]string{}
			for _, p := range row {
				fields[p.key] = p.value
			}
			if !matches(fields, queries) {
				continue
			}
		}
		sentence := []string{"!re"}
		for _, p := range row {
			if props == nil || slices.Contains(props, p.key) {
				sentence = append(sentence, "="+p.key+"="+p.value)
			}
		}
		out = append(out, sentence)
	}
	if len(out) == 0 && r.p.sayEmpty {
		out = append(out, []string{"!empty"})
	}
	return append(out, []string{"!done"})
}
