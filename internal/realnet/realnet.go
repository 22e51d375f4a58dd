// Package realnet plays faults to the program as it is built, with packets: the
// controller, sites with HAProxy as nodes and Unbound or a simulated RouterOS as
// resolver, a router before each site, and a receiver of alerts, each on a machine of
// its own, which is a network namespace. Nothing in it is in virtual time. So a test
// waits for what must come to be for as long as a busy machine may need, holds what
// must never be against the whole of the journal and of the answers that clients got,
// and takes no time for a measure but those that the controller has written down.
//
// It is there for tests, of Linux, and takes root.
package realnet
