// Package netnstest gives tests network namespaces: machines with links, addresses,
// routes and rules of their own, on which programs run and sockets are made. All of
// it goes with the test; what a run that was killed has left behind goes with the
// next run. It is of Linux, and takes root.
package netnstest
