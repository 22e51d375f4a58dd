//go:build !race

package routeros

const raced = false
