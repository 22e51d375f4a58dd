// Package plural counts things in sentences.
package plural

import "strconv"

// Of writes a number with what is counted: "1 record", "2 records". One is the
// singular of a word whose plural ends in s.
func Of[N ~int | ~int64 | ~uint64](n N, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.FormatInt(int64(n), 10) + " " + one + "s"
}

// Are is the verb for so many: "is" or "are".
func Are[N ~int | ~int64 | ~uint64](n N) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
