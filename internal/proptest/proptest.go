// Package proptest has property tests draw the same values each time, so that what
// passed once passes again.
package proptest

import "flag"

// Fix has the tests of rapid begin with one seed. It is called in TestMain, before
// the flags are parsed: -rapid.seed=N chooses another seed.
func Fix() {
	if err := flag.Set("rapid.seed", "1"); err != nil {
		panic(err) // the test does not use rapid
	}
}
