package providers

import "fmt"

// Secret is a password or a key. It prints as <secret>, whatever the verb and
// the encoding.
type Secret string

const hidden = "<secret>"

// String is "<secret>".
func (Secret) String() string { return hidden }

// Format writes "<secret>" for every verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(hidden)) } // the state keeps its error

// MarshalText gives "<secret>", for JSON and logs.
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// Reveal gives the secret itself, for the one place that sends it.
func (s Secret) Reveal() string { return string(s) }
