// Package config reads dnsteer's configuration: YAML in, resolved and checked
// values for the other packages out. It is the only importer of the YAML
// library and also decodes other YAML files of the project ([Decode]).
//
// Every key is described once, on the struct field that it is decoded into:
// name, meaning, default, permitted values, rule. The decoder, the JSON Schema
// ([Schema]) and docs/configuration.md ([Reference]) all read that description.
//
// A configuration is taken wholly or not at all. What is wrong is reported
// with file, line, column, the path of the key, what was found and what was
// expected, many faults together ([FaultsError]). A key or a value that this
// version does not carry out is refused by name; nothing is accepted without
// effect.
package config
