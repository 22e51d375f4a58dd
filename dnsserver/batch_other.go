//go:build !linux

package dnsserver

// serve answers packets until stop, and closes the socket.
func (p *packetSocket) serve(w *worker, done <-chan struct{}) { p.servePlain(w, done) }
