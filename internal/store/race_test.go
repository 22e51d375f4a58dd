//go:build race

package store

// flipEvery: under the race detector, which slows the walk tenfold and finds
// nothing in it, every eleventh octet is flipped.
const flipEvery = 11
