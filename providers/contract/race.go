//go:build race

package contract

// Raced says whether the suite runs with the race detector, which makes all of it
// many times slower: benches then take fewer profiles, and say so.
const Raced = true
