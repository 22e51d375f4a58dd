package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"gopkg.in/yaml.v3"
)

// Encode writes a value as YAML, with the names and the order that its JSON
// has.
func Encode(v any) ([]byte, error) {
	asJSON, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("write YAML: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(asJSON))
	d.UseNumber()
	doc, err := yamlOf(d)
	if err != nil {
		return nil, fmt.Errorf("write YAML: %w", err)
	}
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	if err := e.Encode(doc); err != nil {
		return nil, fmt.Errorf("write YAML: %w", err)
	}
	return out.Bytes(), nil
}

// yamlOf turns the next JSON value into a node.
func yamlOf(d *json.Decoder) (*yaml.Node, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	scalar := func(tag, value string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value} }
	switch t := t.(type) {
	case nil:
		return scalar("!!null", "null"), nil
	case bool:
		return scalar("!!bool", strconv.FormatBool(t)), nil
	case json.Number:
		tag := "!!int"
		if bytes.ContainsAny([]byte(t), ".eE") {
			tag = "!!float"
		}
		return scalar(tag, t.String()), nil
	case string:
		n := &yaml.Node{}
		n.SetString(t)
		return n, nil
	}
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	if t == json.Delim('[') {
		n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
	}
	for d.More() {
		child, err := yamlOf(d) // in an object, a name or its value
		if err != nil {
			return nil, err
		}
		n.Content = append(n.Content, child)
	}
	_, err = d.Token() // the end of it
	return n, err
}
