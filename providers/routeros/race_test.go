//go:build race

package routeros

const raced = true
