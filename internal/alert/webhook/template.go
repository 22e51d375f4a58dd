package webhook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"text/template"
	"text/template/parse"
	"time"

	"github.com/dnsteer/dnsteer/internal/alert"
)

// json says whether the body is meant to be JSON.
func (h *Hook) json() bool {
	for name, value := range h.opt.Headers {
		if strings.EqualFold(name, "Content-Type") {
			return strings.Contains(value, "json")
		}
	}
	return true
}

// reserved are headers that are the request's own.
var reserved = []string{"Content-Length", "Transfer-Encoding", "Connection", "Trailer", "Upgrade", IdempotencyHeader, SignatureHeader}

// read parses a template.
func read(what, text string) (*template.Template, error) {
	t, err := template.New(what).Option("missingkey=error").Funcs(template.FuncMap{
		"json": func(v any) (string, error) {
			var b bytes.Buffer
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(false)
			err := e.Encode(v)
			return strings.TrimSuffix(b.String(), "\n"), err
		},
		"join":  func(sep string, list []string) string { return strings.Join(list, sep) },
		"upper": strings.ToUpper, "lower": strings.ToLower,
		"urlquery": url.QueryEscape,
		"rfc3339":  func(t time.Time) string { return t.Format(time.RFC3339) },
		turnFunc:   func() (string, error) { return "", nil },
	}).Parse(text)
	if err != nil {
		return nil, fmt.Errorf("read the template: %w", err)
	}
	mark := template.Must(template.New("").Funcs(template.FuncMap{turnFunc: fmt.Sprint}).Parse("{{" + turnFunc + "}}")).Root.Nodes[0]
	for _, x := range t.Templates() {
		if x.Tree != nil {
			count(x.Root, mark)
		}
	}
	return t, nil
}

// turnFunc is called in each turn of each loop of a template, which could turn
// without end and write nothing.
const turnFunc = "_turn"

// count has the loops below a node count their turns.
func count(n parse.Node, mark parse.Node) {
	branch := func(b *parse.BranchNode) {
		count(b.List, mark)
		count(b.ElseList, mark)
	}
	switch n := n.(type) {
	case *parse.ListNode:
		if n != nil {
			for _, x := range n.Nodes {
				count(x, mark)
			}
		}
	case *parse.IfNode:
		branch(&n.BranchNode)
	case *parse.WithNode:
		branch(&n.BranchNode)
	case *parse.RangeNode:
		branch(&n.BranchNode)
		n.List.Nodes = append([]parse.Node{mark}, n.List.Nodes...)
	}
}

// execute renders a template within the bounds of what is made and of turns.
func execute(t *template.Template, m *alert.Message) ([]byte, error) {
	t, err := t.Clone()
	if err != nil {
		return nil, fmt.Errorf("render the template: %w", err)
	}
	turns := 0
	t.Funcs(template.FuncMap{turnFunc: func() (string, error) {
		if turns++; turns > maxTurns {
			return "", fmt.Errorf("its loops turn more than %d times", maxTurns)
		}
		return "", nil
	}})
	var b bytes.Buffer
	if err := t.Execute(&bounded{&b}, m); err != nil {
		return nil, fmt.Errorf("render the template: %w", err)
	}
	return b.Bytes(), nil
}

// render makes the body for a message.
func (h *Hook) render(m *alert.Message) ([]byte, error) {
	for name := range h.headers {
		if _, err := h.header(name, m); err != nil {
			return nil, err
		}
	}
	if h.body == nil {
		body, err := json.Marshal(m)
		if err != nil {
			return nil, fmt.Errorf("write the message: %w", err)
		}
		return body, nil
	}
	return execute(h.body, m)
}

// header renders a header, in one line.
func (h *Hook) header(name string, m *alert.Message) (string, error) {
	text, err := execute(h.headers[name], m)
	if err != nil {
		return "", err
	}
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(text), "?"))), " "), nil
}

// bounded keeps a template that repeats itself from taking all memory.
type bounded struct{ *bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxMade {
		return 0, fmt.Errorf("it makes more than %d bytes", maxMade)
	}
	return b.Buffer.Write(p)
}
