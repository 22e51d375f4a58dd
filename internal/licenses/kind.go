package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// kind is a licence by its SPDX identifier.
type kind string

// known are the licences that are told apart, by words that stand in no other.
var known = []struct {
	kind       kind
	compatible bool // may be linked into a program under Apache-2.0
	words      *regexp.Regexp
}{
	{"Apache-2.0", true, regexp.MustCompile(`apache license,? version 2\.0`)},
	{"MIT", true, regexp.MustCompile(`permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files`)},
	{"BSD-3-Clause", true, regexp.MustCompile(`redistribution and use in source and binary forms.* neither the names? of .*(may|to) be used to endorse|redistribution and use in source and binary forms.* the names? of .* may not be used to endorse`)},
	{"BSD-2-Clause", true, regexp.MustCompile(`redistribution and use in source and binary forms`)},
	{"ISC", true, regexp.MustCompile(`permission to use, copy, modify, and(/or)? distribute this software for any purpose with or without fee is hereby granted, provided that`)},
	{"0BSD", true, regexp.MustCompile(`permission to use, copy, modify, and(/or)? distribute this software for any purpose with or without fee is hereby granted\. the software`)},
	{"MPL-2.0", true, regexp.MustCompile(`mozilla public license,? version 2\.0`)},
	{"Unlicense", true, regexp.MustCompile(`this is free and unencumbered software released into the public domain`)},
	{"CC0-1.0", true, regexp.MustCompile(`creative commons .*cc0 1\.0 universal|^cc0 1\.0 universal`)},
	{"Zlib", true, regexp.MustCompile(`altered source versions must be plainly marked as such`)},
	{"AGPL", false, regexp.MustCompile(`gnu affero general public license version 3, [a-z\d]`)},
	{"LGPL", false, regexp.MustCompile(`gnu (lesser|library) general public license version [23](\.\d)?, [a-z\d]`)},
	{"GPL", false, regexp.MustCompile(`gnu general public license version [123], [a-z\d]`)},
	{"SSPL", false, regexp.MustCompile(`server side public license`)},
	{"BUSL", false, regexp.MustCompile(`business source license`)},
	{"Commons-Clause", false, regexp.MustCompile(`commons clause`)},
	{"Elastic", false, regexp.MustCompile(`elastic license`)},
	{"EPL", false, regexp.MustCompile(`eclipse public license`)},
	{"CDDL", false, regexp.MustCompile(`common development and distribution license`)},
	{"CC-BY-NC", false, regexp.MustCompile(`creative commons attribution-noncommercial`)},
}

// commentMarks and what else a licence may be set with.
var commentMarks = regexp.MustCompile(`(?m)^[ \t]*(//|\*|#)+|[“”"']`)

// kindsOf gives the licences whose words stand in a text, none when it is of no
// kind that is known.
func kindsOf(text string) (kinds []kind) {
	text = commentMarks.ReplaceAllString(strings.ToLower(text), " ")
	text = strings.Join(strings.Fields(text), " ")
	for _, k := range known {
		if !k.words.MatchString(text) {
			continue
		}
		if k.kind == "BSD-2-Clause" && slices.Contains(kinds, "BSD-3-Clause") { // the larger holds the smaller
			continue
		}
		kinds = append(kinds, k.kind)
	}
	return kinds
}

// compatible gives an error for a licence that a program under Apache-2.0 must
// not link, and for none at all.
func compatible(kinds []kind) error {
	if len(kinds) == 0 {
		return errors.New("no licence that is known; read it, and if it is compatible add its words to the table")
	}
	for _, k := range known {
		if !k.compatible && slices.Contains(kinds, k.kind) {
			return fmt.Errorf("%s is not compatible with Apache-2.0", k.kind)
		}
	}
	return nil
}

func join(kinds []kind) string {
	if len(kinds) == 0 {
		return "unknown"
	}
	words := make([]string, len(kinds))
	for i, k := range kinds {
		words[i] = string(k)
	}
	return strings.Join(words, " and ")
}
