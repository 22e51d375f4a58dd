package config

import (
	"bytes"
	"encoding/json"
	"fmt"

	"gopkg.in/yaml.v3"
)

// Encode writes a value as YAML, with the names and the order that its JSON
// has.
func Encode(v any) ([]byte, error) {
	var asJSON bytes.Buffer
	e := json.NewEncoder(&asJSON)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("write YAML: %w", err)
	}
	// JSON is YAML in another style.
	var doc yaml.Node
	if err := yaml.Unmarshal(asJSON.Bytes(), &doc); err != nil {
		return nil, fmt.Errorf("write YAML: %w", err)
	}
	blockStyle(&doc)
	var out bytes.Buffer
	y := yaml.NewEncoder(&out)
	y.SetIndent(2)
	if err := y.Encode(&doc); err != nil {
		return nil, fmt.Errorf("write YAML: %w", err)
	}
	return out.Bytes(), nil
}

func blockStyle(n *yaml.Node) {
	n.Style = 0
	for _, child := range n.Content {
		blockStyle(child)
	}
}
