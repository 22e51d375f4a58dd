// Package benchproc starts the programs that the benches measure, and reads what the
// kernel says of their processor time and their memory. It needs Linux.
package benchproc
