package realnet

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// Watch asks the controller one question again and again, as a client of a site, and
// keeps each answer that differs from the one before.
type Watch struct {
	w        *World
	question string
	stop     chan struct{}
	stopped  sync.WaitGroup

	mu         sync.Mutex
	answers    []Answer
	asked      int
	unanswered []Span // from the question until it was given up
}

// Span is a time from one moment to another.
type Span struct{ From, To time.Time }

// meets says whether two times have a moment in common.
func (a Span) meets(b Span) bool { return !a.To.Before(b.From) && !b.To.Before(a.From) }

// Answer is what clients got from a moment on.
type Answer struct {
	Time      time.Time
	Addresses string // sorted, with a blank between them; "" for none
	TTL       int
	Rcode     string
}

func (a *Answer) String() string {
	return fmt.Sprintf("%s %s [%s] ttl %d", a.Time.UTC().Format(clock), a.Rcode, a.Addresses, a.TTL)
}

// Watch begins to ask for a host's addresses as a client of the site, every pace.
// The client is on the controller's machine, and sees answers whatever becomes of the
// lines. It ends with the test.
func (s *Site) Watch(host string, typ uint16, pace time.Duration) *Watch {
	t := s.w.t
	t.Helper()
	x := &Watch{w: s.w, question: s.Name + " " + host + " " + dns.TypeToString[typ], stop: make(chan struct{})}
	var conn net.Conn
	s.w.here.Do(t, func() (err error) {
		d := net.Dialer{LocalAddr: &net.UDPAddr{IP: net.ParseIP(s.client())}}
		conn, err = d.DialContext(t.Context(), "udp", DNSListen)
		return err
	})
	x.stopped.Go(func() { x.run(conn, new(dns.Msg).SetQuestion(dns.Fqdn(host), typ), pace) })
	t.Cleanup(func() {
		x.Stop()
		if t.Failed() {
			t.Logf("%s was answered (%d questions, %d without an answer):\n%s", x.question, x.asked, len(x.unanswered), strings.Join(x.lines(0), "\n"))
		}
	})
	return x
}

// Stop ends the asking.
func (x *Watch) Stop() {
	select {
	case <-x.stop:
	default:
		close(x.stop)
	}
	x.stopped.Wait()
}

func (x *Watch) run(conn net.Conn, q *dns.Msg, pace time.Duration) {
	defer conn.Close()
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for {
		select {
		case <-x.stop:
			return
		case <-tick.C:
		}
		q.Id = dns.Id()
		// An answer that is late is no answer: the next has another ID.
		from := time.Now()
		_ = conn.SetDeadline(from.Add(time.Second)) // a socket that is open
		co := &dns.Conn{Conn: conn}
		reply, err := exchange(co, q)
		x.keep(from, reply, err)
	}
}

func exchange(co *dns.Conn, q *dns.Msg) (*dns.Msg, error) {
	if err := co.WriteMsg(q); err != nil {
		return nil, err
	}
	for {
		if reply, err := co.ReadMsg(); err != nil || reply.Id == q.Id {
			return reply, err
		}
	}
}

func (x *Watch) keep(from time.Time, reply *dns.Msg, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asked++
	if err != nil {
		x.unanswered = append(x.unanswered, Span{from, time.Now()})
		return
	}
	a := Answer{Time: time.Now(), Rcode: dns.RcodeToString[reply.Rcode]}
	var list []string
	for _, rr := range reply.Answer {
		a.TTL = int(rr.Header().Ttl)
		switch rr := rr.(type) {
		case *dns.A:
			list = append(list, rr.A.String())
		case *dns.AAAA:
			list = append(list, rr.AAAA.String())
		default:
		}
	}
	slices.Sort(list)
	a.Addresses = strings.Join(list, " ")
	if n := len(x.answers); n == 0 || x.answers[n-1].Addresses != a.Addresses || x.answers[n-1].TTL != a.TTL || x.answers[n-1].Rcode != a.Rcode {
		x.answers = append(x.answers, a)
	}
}

// Mark is where the answers stand now: those that come later, and the one that
// clients get at the moment, are after it.
func (x *Watch) Mark() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return max(0, len(x.answers)-1)
}

// After gives the answers after a mark, each different from the one before.
func (x *Watch) After(mark int) []Answer {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Clone(x.answers[min(mark, len(x.answers)):])
}

// Sets gives the sets of addresses after a mark, each different from the one before.
func (x *Watch) Sets(mark int) (sets []string) {
	for _, a := range x.After(mark) {
		sets = append(sets, a.Addresses)
	}
	return slices.Compact(sets)
}

// Await waits until clients get these addresses.
func (x *Watch) Await(addresses ...string) {
	x.w.t.Helper()
	slices.Sort(addresses)
	want := strings.Join(addresses, " ")
	Until(x.w.t, x.question+" is answered ["+want+"]", func() string {
		sets := x.Sets(0)
		if len(sets) > 0 && sets[len(sets)-1] == want {
			return ""
		}
		return fmt.Sprintf("it was answered %q", sets)
	})
}

// Answered waits until the first answer is there.
func (x *Watch) Answered() {
	x.w.t.Helper()
	Until(x.w.t, x.question+" is answered", func() string {
		if len(x.After(0)) == 0 {
			return "nothing came"
		}
		return ""
	})
}

// AwaitAfter waits until clients get a set of addresses, as [Answer] writes it, or
// have got it since a mark. It gives the mark of the answer, and how many other sets
// came before it, that of the mark not counted.
func (x *Watch) AwaitAfter(mark int, want string) (at, others int) {
	x.w.t.Helper()
	Until(x.w.t, x.question+" is answered ["+want+"]", func() string {
		answers := x.After(mark)
		at, others = mark, 0
		for i, a := range answers {
			if a.Addresses == want {
				at = mark + i
				return ""
			}
			if i > 0 && a.Addresses != answers[i-1].Addresses {
				others++
			}
		}
		return fmt.Sprintf("since then it was answered %q", x.Sets(mark))
	})
	return at, others
}

// Counts gives how often was asked, and how often nothing came.
func (x *Watch) Counts() (asked, unanswered int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.asked, len(x.unanswered)
}

// Unanswered gives the questions to which nothing came.
func (x *Watch) Unanswered() []Span {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Clone(x.unanswered)
}

func (x *Watch) lines(mark int) (lines []string) {
	for _, a := range x.After(mark) {
		lines = append(lines, a.String())
	}
	return lines
}
