package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Whoever passes the program on would break the terms of a module that is not
// compatible with Apache-2.0, and could not know it.
func TestEveryLinkedModuleIsCompatible(t *testing.T) {
	t.Chdir("../..")
	var table strings.Builder
	err := run(t.Context(), &table, []string{"./..."})
	if err != nil {
		t.Errorf("%v\n%s", err, table.String())
	}
	if !strings.Contains(table.String(), "github.com/miekg/dns ") || !strings.Contains(table.String(), "std ") {
		t.Errorf("the table lacks what is surely linked:\n%s", table.String())
	}
}

// Our own licence must stay the text that lawyers know.
func TestOurLicenceIsApache(t *testing.T) {
	text, err := os.ReadFile("../../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]kind{"Apache-2.0"}, kindsOf(string(text))); d != "" {
		t.Errorf("LICENSE (-want +got):\n%s", d)
	}
}

// A licence that is taken for another lets the wrong module in.
func TestKindsOf(t *testing.T) {
	const (
		mit  = "Permission is hereby granted, free of charge, to any person obtaining a copy\nof this software and associated documentation files (the \"Software\"), to deal"
		bsd2 = "Redistribution and use in source and binary forms, with or without\nmodification, are permitted"
		isc  = "Permission to use, copy, modify, and distribute this software for any\npurpose with or without fee is hereby granted, provided that the above"
	)
	tests := []struct {
		name, in   string
		want       []kind
		compatible bool
	}{
		{"nothing", "", nil, false},
		{"all rights reserved", "Copyright. All rights reserved.", nil, false},
		{"MIT", mit, []kind{"MIT"}, true},
		{"Apache by its header", "Licensed under the Apache License, Version 2.0 (the \"License\");", []kind{"Apache-2.0"}, true},
		{"BSD of two clauses", bsd2, []kind{"BSD-2-Clause"}, true},
		{"BSD of three clauses", bsd2 + ": * Neither the name of X nor the names of its\ncontributors may be used to endorse", []kind{"BSD-3-Clause"}, true},
		{"BSD in comments", "// Redistribution and use in source and binary\n// forms, with or without", []kind{"BSD-2-Clause"}, true},
		{"ISC", isc, []kind{"ISC"}, true},
		{"MPL, which names the GPL", "Mozilla Public License Version 2.0 … means either the GNU General Public License, Version 2.0, the GNU Lesser", []kind{"MPL-2.0"}, true},
		{"two at once", mit + "\nApache License\nVersion 2.0, January 2004", []kind{"Apache-2.0", "MIT"}, true},
		{"GPL", "GNU GENERAL PUBLIC LICENSE\n  Version 3, 29 June 2007", []kind{"GPL"}, false},
		{"AGPL", "GNU AFFERO GENERAL PUBLIC LICENSE\n  Version 3, 19 November 2007", []kind{"AGPL"}, false},
		{"LGPL", "GNU LESSER GENERAL PUBLIC LICENSE\n  Version 2.1, February 1999", []kind{"LGPL"}, false},
		{"Apache with a clause against selling", "\"Commons Clause\" License Condition\nApache License Version 2.0", []kind{"Apache-2.0", "Commons-Clause"}, false},
		{"BUSL", "Business Source License 1.1", []kind{"BUSL"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := kindsOf(tt.in)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("kinds (-want +got):\n%s", d)
			}
			if err := compatible(got); (err == nil) != tt.compatible {
				t.Errorf("compatible: %v, want %v", err, tt.compatible)
			}
		})
	}
}

// A second licence file that nobody has read can forbid what the first allows.
func TestAnUnknownFileBesideAKnownOne(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"LICENSE":           "Apache License Version 2.0",
		"LICENSE.extra.txt": "You may not.",
		"license.go":        "package x",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, err := module{Path: "example.com/x", Dir: dir}.licences()
	if err == nil || err.Error() != "LICENSE.extra.txt is of no kind that is known" {
		t.Errorf("error: %v", err)
	}
}
