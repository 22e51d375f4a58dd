// Command benchdns measures DNS servers beside each other on loopback: this
// project's, and those that are installed (in PATH or where Debian has them). All serve the same zone and
// get the same questions, in rounds that alternate between them, since the
// machine's own speed changes from minute to minute: only the ratio of two
// figures of the same round says anything. A round is short; all servers run
// meanwhile, but only one of them has something to do.
//
// It starts the servers itself, as children with files in a folder of its own, on
// free ports, and ends them. It needs Linux.
package main
