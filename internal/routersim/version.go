package routersim

import (
	"strconv"
	"strings"
)

// Versions are those in which what concerns static DNS differs; any other
// behaves as the newest of these that is not newer.
var Versions = []string{"6.42", "6.48", "7.12", "7.17", "7.20", "7.24"}

// profile is how one version of RouterOS behaves.
type profile struct {
	number int // 7.20.1 is 720

	plainLogin  bool // takes name and password (6.43)
	challenge   bool // takes the answer to a challenge (until 6.45)
	types       bool // records have a type (6.47)
	showTypeA   bool // and it is given for A too (7.16)
	matchSub    bool // match-subdomain and address-list (7.5)
	sayEmpty    bool // !empty for a print that finds nothing (7.18)
	oldMessages bool // "cannot log in", "already have such entry"
}

// profileOf gives the behaviour of a version such as "7.20.1"; what cannot be
// read is the newest.
func profileOf(version string) profile {
	parts := strings.SplitN(version, ".", 3)
	number := 0
	for i := range 2 {
		n := 0
		if i < len(parts) {
			n, _ = strconv.Atoi(parts[i])
		}
		number = number*100 + n
	}
	return profile{
		number:      number,
		plainLogin:  number >= 643,
		challenge:   number < 645,
		types:       number >= 647,
		showTypeA:   number >= 716,
		matchSub:    number >= 705,
		sayEmpty:    number >= 718,
		oldMessages: number < 643,
	}
}
