//go:build !race

package simulation

// usualDays are played, and usualReplays played twice, where nothing else is said.
const (
	usualDays    = 60
	usualReplays = 3
)
