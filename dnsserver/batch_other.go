//go:build !linux

package dnsserver

// serving gives the loop that answers packets until stop, and closes the socket.
func (p *packetSocket) serving() func(w *worker, done <-chan struct{}) { return p.servePlain }
