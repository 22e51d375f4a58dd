// Package dnsserver is the authoritative DNS server: it gives each site's
// clients that site's answers, and serves the rest of its zones beside them.
//
// A [Server] answers from one immutable snapshot of the zones' structure behind
// one atomic pointer, which [Server.Reload] replaces as a whole. What moves, the
// addresses of a pool, lies behind an atomic pointer of its own inside it, so
// [Server.SetAnswer] touches one pool however many names use it, and the next
// query sees it.
//
// Queries of the usual form are read and answered on octets, without an
// allocation or a lock; everything else is answered on the types of the DNS
// library. Both ways give the same answers. [Server.Query] is the whole server
// without sockets.
//
// Every goroutine belongs to [Server.Serve] and has ended when it returns.
package dnsserver
