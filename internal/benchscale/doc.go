// Command benchscale measures the whole controller at growing sizes: the program as
// it is released, with nodes, resolvers and files of its own on loopback. It prints
// what each size costs, so that a cost that grows faster than the size shows.
//
// It needs Linux, where all of 127.0.0.0/8 is loopback.
package main
