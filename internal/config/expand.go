package config

import (
	"fmt"
	"strings"
)

// environment looks up variables for ${NAME}; a nil lookup leaves texts as
// they are.
type environment struct {
	lookup func(name string) (string, bool)
	// used keeps what was taken, so that the last good configuration can be
	// read again as it was.
	used map[string]string
}

// expand replaces ${NAME} in a value by an environment variable and $$ by $.
func (e *environment) expand(text string) (string, error) {
	if e.lookup == nil || !strings.Contains(text, "$") {
		return text, nil
	}
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(text, "$")
		b.WriteString(before)
		if !ok {
			return b.String(), nil
		}
		if strings.HasPrefix(after, "$") {
			b.WriteByte('$')
			text = after[1:]
			continue
		}
		name, rest, ok := strings.Cut(strings.TrimPrefix(after, "{"), "}")
		if !strings.HasPrefix(after, "{") || !ok || !isVariable(name) {
			return "", expected("${NAME} for an environment variable, or $$ for a dollar sign")
		}
		value, ok := e.lookup(name)
		if !ok {
			return "", fmt.Errorf("the environment variable %s is not set: set it, or write $$ for a dollar sign", name)
		}
		e.used[name] = value
		b.WriteString(value)
		text = rest
	}
}

func isVariable(name string) bool {
	for i, c := range []byte(name) {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}
