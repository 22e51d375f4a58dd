package routersim

import (
	"strconv"
	"strings"
)

// pair is a name and a value of a sentence.
type pair struct{ key, value string }

// matches carries out the query words of a print on a row: each ?name, ?-name,
// ?name=v, ?<name=v and ?>name=v puts a value on a stack, ?# works on it; at the
// end all that is there must be true.
func matches(fields map[string]string, queries []string) bool {
	var stack []bool
	for _, q := range queries {
		if ops, ok := strings.CutPrefix(q, "#"); ok {
			stack = operate(stack, ops)
			continue
		}
		stack = append(stack, test(fields, q))
	}
	for _, v := range stack {
		if !v {
			return false
		}
	}
	return true
}

func test(fields map[string]string, q string) bool {
	if q == "" {
		return false
	}
	sign := q[0]
	if sign == '-' || sign == '<' || sign == '>' || sign == '=' {
		q = q[1:]
	}
	key, want, compared := strings.Cut(q, "=")
	have, there := fields[key]
	switch {
	case sign == '-':
		return !there
	case !compared:
		return there
	case !there:
		return false
	case sign == '<':
		return less(have, want)
	case sign == '>':
		return less(want, have)
	case want == "yes" || want == "no":
		return have == want || have == strconv.FormatBool(want == "yes")
	default:
		return have == want
	}
}

func less(a, b string) bool {
	x, errX := strconv.ParseInt(a, 10, 64)
	y, errY := strconv.ParseInt(b, 10, 64)
	if errX == nil && errY == nil {
		return x < y
	}
	return a < b
}

// operate carries out the operators of a ?# word: an index copies that value
// (from the end, and "." ends it), ! & and | take what is on top, a "." alone
// copies the top.
func operate(stack []bool, ops string) []bool {
	for i := 0; i < len(ops); i++ {
		n := len(stack)
		switch c := ops[i]; {
		case c >= '0' && c <= '9':
			end := i
			for end < len(ops) && ops[end] >= '0' && ops[end] <= '9' {
				end++
			}
			at, err := strconv.Atoi(ops[i:end])
			if err == nil && at < n {
				stack = append(stack, stack[n-1-at])
			}
			if i = end - 1; end < len(ops) && ops[end] == '.' {
				i = end
			}
		case c == '.' && n > 0:
			stack = append(stack, stack[n-1])
		case c == '!' && n > 0:
			stack[n-1] = !stack[n-1]
		case c == '&' && n > 1:
			stack = append(stack[:n-2], stack[n-2] && stack[n-1])
		case c == '|' && n > 1:
			stack = append(stack[:n-2], stack[n-2] || stack[n-1])
		}
	}
	return stack
}
