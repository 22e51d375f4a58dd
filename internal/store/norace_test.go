//go:build !race

package store

// flipEvery: every octet is flipped.
const flipEvery = 1
