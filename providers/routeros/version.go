package routeros

import (
	"strconv"
	"strings"
)

// version of a router. The zero value is one that does not say, which is taken
// for a new one.
type version struct {
	number int    // 7.20.1 is 720
	text   string // "7.20.1 (stable)"
}

func parseVersion(text string) version {
	v := version{text: text}
	number, _, _ := strings.Cut(text, " ")
	parts := strings.SplitN(number, ".", 3)
	if len(parts) < 2 {
		return v
	}
	major, err := strconv.Atoi(parts[0])
	if err != nil {
		return v
	}
	// A version to come may be called 7.30beta2.
	digits := strings.IndexFunc(parts[1], func(r rune) bool { return r < '0' || r > '9' })
	if digits >= 0 {
		parts[1] = parts[1][:digits]
	}
	minor, err := strconv.Atoi(parts[1])
	if err != nil || major < 0 || minor > 99 {
		return v
	}
	v.number = major*100 + minor
	return v
}

// since says whether it is at least another.
func (v version) since(number int) bool { return v.number == 0 || v.number >= number }

// types says whether records have a type.
func (v version) types() bool { return v.since(647) }

// subdomains says whether a row can stand for all that is below its name.
func (v version) subdomains() bool { return v.since(705) }
