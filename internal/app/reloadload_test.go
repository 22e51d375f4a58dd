package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// reloadLoad are clients that ask while the configuration changes.
type reloadLoad struct {
	t       *testing.T
	to      string
	clients int
	rate    int // questions a second of all together; 0 for as many as are answered
	// right are the answers that a configuration gives: whole, with their TTL.
	right map[string][]string
	stop  atomic.Bool
	asked atomic.Int64
	worst atomic.Int64 // nanoseconds
}

// knob is a number from the environment, else the usual one.
func knob(t *testing.T, name string, usual int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(name, err)
	}
	return n
}

// If this fails, a question is lost while the configuration changes, or answered with
// a mixture of two, or a zone's serial falls and secondaries miss what follows.
// DNSTEER_RELOADS says how many changes there are, DNSTEER_RATE how many questions a
// second are asked meanwhile, DNSTEER_CLIENTS by how many, each of which waits for its
// answer.
func TestReloadsUnderLoad(t *testing.T) {
	reloads := knob(t, "DNSTEER_RELOADS", 20)
	w := newWorld(t, "berlin")
	// No node moves by itself, and no TTL, however busy the machine is.
	still := []string{
		"  threshold: 300ms", "  threshold: 1h\n  ttl_unsettled: 1m",
		`records: ["ns1`, `records: ["two 30 IN A 10.0.0.1", "two 30 IN A 10.0.0.2", "ns1`,
	}
	one := w.config(still...)
	other := strings.NewReplacer("hosts: [app.example.lan], ttl: 10s", "hosts: [app.example.lan], ttl: 20s, pool: turned",
		"two 30 IN A 10.0.0.1", "two 40 IN A 10.0.0.3", "two 30 IN A 10.0.0.2", "two 40 IN A 10.0.0.4").Replace(one)
	if !strings.Contains(other, "ttl: 20s, pool: turned") || !strings.Contains(other, "two 40 IN A 10.0.0.4") || !strings.Contains(one, "ttl_unsettled: 1m") {
		t.Fatalf("the configurations are not those that were meant:\n%s\n%s", one, other)
	}
	w.write(one)
	r := w.start()
	r.settled()
	berlin := w.sites[0]
	l := &reloadLoad{t: t, to: r.at.String(), clients: knob(t, "DNSTEER_CLIENTS", 8), rate: knob(t, "DNSTEER_RATE", 0), right: map[string][]string{
		"app.example.lan.": {"10 " + berlin.all(11, 12), "20 " + berlin.all(12)},
		"two.example.lan.": {"30 10.0.0.1 10.0.0.2", "40 10.0.0.3 10.0.0.4"},
	}}
	before := r.names.serials()["example.lan"]
	began := time.Now()
	var clients sync.WaitGroup
	for i := range l.clients {
		clients.Go(func() { l.run(i, berlin, began) })
	}
	for i := range reloads {
		text := other
		if i%2 == 1 {
			text = one
		}
		w.write(text)
		if _, err := r.Reload(t.Context()); err != nil || t.Failed() {
			t.Errorf("reload %d: %v", i, err)
			break
		}
	}
	l.stop.Store(true)
	clients.Wait()
	took := time.Since(began)
	if grown := r.names.serials()["example.lan"] - before; grown < uint32(reloads) || grown > 1<<20 {
		t.Errorf("the serial grew by %d in %d changes", grown, reloads)
	}
	t.Logf("%d reloads in %s, %d questions (%.0f a second), none lost, none mixed; the slowest took %s",
		reloads, took.Round(time.Millisecond), l.asked.Load(), float64(l.asked.Load())/took.Seconds(), time.Duration(l.worst.Load()).Round(time.Microsecond))
}

// run is one client, which waits for each answer.
func (l *reloadLoad) run(number int, p *place, began time.Time) {
	d := net.Dialer{LocalAddr: &net.UDPAddr{IP: p.host(byte(100 + number)).AsSlice()}}
	conn, err := d.DialContext(context.Background(), "udp", l.to)
	if err != nil {
		l.t.Error(err)
		return
	}
	defer conn.Close()
	names := []string{"app.example.lan.", "two.example.lan.", "example.lan."}
	buf, serial := make([]byte, 1500), uint32(0)
	for n := 0; !l.stop.Load(); n++ {
		if l.rate > 0 { // each at its time, late or not
			time.Sleep(time.Until(began.Add(time.Duration(n*l.clients+number) * time.Second / time.Duration(l.rate))))
		}
		q := new(dns.Msg).SetQuestion(names[n%len(names)], dns.TypeA)
		if n%len(names) == 2 {
			q.Question[0].Qtype = dns.TypeSOA
		}
		start := time.Now()
		m, err := exchanged(conn, q, buf)
		if err == nil {
			err = l.judge(m, &serial)
		}
		if err != nil {
			l.t.Errorf("client %d, question %d: %v", number, n, err)
			return
		}
		l.asked.Add(1)
		for took := int64(time.Since(start)); ; {
			if worst := l.worst.Load(); took <= worst || l.worst.CompareAndSwap(worst, took) {
				break
			}
		}
	}
}

// exchanged asks and waits for the answer: a client that has one question under way
// fills no buffer, so what does not come was lost by the server.
func exchanged(conn net.Conn, q *dns.Msg, buf []byte) (*dns.Msg, error) {
	wire, err := q.Pack()
	if err != nil {
		return nil, err
	}
	if _, err := conn.Write(wire); err != nil {
		return nil, err
	}
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	n, err := conn.Read(buf)
	if err != nil {
		return nil, fmt.Errorf("lost: %w", err)
	}
	m := new(dns.Msg)
	if err := m.Unpack(buf[:n]); err != nil {
		return nil, err
	}
	if m.Id != q.Id {
		return nil, errors.New("the answer to another question")
	}
	return m, nil
}

// judge holds that an answer is one of a whole configuration, and that no serial is
// less than that of an earlier answer (RFC 1982).
func (l *reloadLoad) judge(m *dns.Msg, serial *uint32) error {
	var list []string
	ttl := uint32(0)
	for _, rr := range m.Answer {
		switch rr := rr.(type) {
		case *dns.SOA:
			if *serial != 0 && int32(rr.Serial-*serial) < 0 {
				return fmt.Errorf("the serial fell from %d to %d", *serial, rr.Serial)
			}
			*serial = rr.Serial
			return nil
		case *dns.A:
			if len(list) > 0 && rr.Hdr.Ttl != ttl {
				return fmt.Errorf("two TTLs in one set: %v", m.Answer)
			}
			list, ttl = append(list, rr.A.String()), rr.Hdr.Ttl
		}
	}
	slices.Sort(list)
	if got := strings.TrimSpace(fmt.Sprint(ttl, " ", strings.Join(list, " "))); !slices.Contains(l.right[m.Question[0].Name], got) {
		return fmt.Errorf("%s gives %q, which is of no configuration", m.Question[0].Name, got)
	}
	return nil
}
