//go:build race

package simulation

// usualDays are played, and usualReplays played twice, where nothing else is said: a
// day costs four seconds of a core with the race detector.
const (
	usualDays    = 4
	usualReplays = 1
)
