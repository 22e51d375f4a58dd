package realnet

import (
	"encoding/binary"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"
)

// A flood has so many senders, and sends no more than so many questions, for no
// longer than that.
const (
	floodSenders = 3
	floodMost    = 20_000_000
	floodTime    = time.Minute
)

// Flood has clients of the site on the controller's machine ask for names of a zone
// that are not there, as fast as they can, and read no answer, until the end is
// called. The end gives how many questions were sent.
func (s *Site) Flood(zone string) (end func() int64) {
	t := s.w.t
	t.Helper()
	var sent atomic.Int64
	var senders sync.WaitGroup
	stop := make(chan struct{})
	until := time.Now().Add(floodTime)
	for n := range floodSenders {
		var conn net.Conn
		s.w.here.Do(t, func() (err error) {
			d := net.Dialer{LocalAddr: &net.UDPAddr{IP: net.ParseIP(s.client())}}
			conn, err = d.DialContext(t.Context(), "udp", DNSListen)
			return err
		})
		packet, err := new(dns.Msg).SetQuestion("made-up-"+strconv.Itoa(n)+"-xxxxxxxx."+dns.Fqdn(zone), dns.TypeA).Pack()
		if err != nil {
			t.Fatal(err)
		}
		senders.Go(func() {
			defer conn.Close()
			const label = 12 + 1 + len("made-up-0-") // the header and a length before it
			for i := uint64(0); ; i++ {
				if i%1000 == 0 {
					select {
					case <-stop:
						return
					default:
					}
					if time.Now().After(until) {
						return
					}
				}
				if sent.Add(1) > floodMost {
					return
				}
				binary.BigEndian.PutUint16(packet, uint16(i))
				copy(packet[label:label+8], strconv.FormatUint(i+1e7, 36)+"xxxx")
				_, _ = conn.Write(packet) // what is not taken is lost, as in any flood
			}
		})
	}
	over := s.w.fault(func() {
		close(stop)
		senders.Wait()
	}, "%s: a flood of names that are not there", s.Name)
	return func() int64 {
		over()
		return sent.Load()
	}
}
