//go:build race

package simulation

// usualDays are played where nothing else is said.
const usualDays = 12
