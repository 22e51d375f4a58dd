package dnsserver

import (
	"context"
	"log/slog"
	"net/netip"

	"github.com/miekg/dns"
)

// QueryLog says which queries are logged.
type QueryLog struct {
	// Every is how many queries there are to one that is logged; 0 logs none.
	Every int
	// Clients: the address of who asks is logged too.
	Clients bool
}

// queryLogQueue is how many queries wait to be logged. When there are more, the
// log is too slow: they are left out, and answers do not wait.
const queryLogQueue = 256

// loggedQuery is a query on its way to the log.
type loggedQuery struct {
	name   string // as it was asked, in lower case; "" where none could be read
	qtype  uint16
	rcode  string
	octets int // of the answer
	tcp    bool
	client netip.Addr // not valid where it is not to be logged
}

// logQuery takes a query that has been answered into the log.
func (w *worker) logQuery(answer []byte, tcp bool) {
	if len(answer) < headerLen {
		return // a zone that is sent is logged by itself
	}
	q := loggedQuery{rcode: dns.RcodeToString[int(answer[3]&0xf)], octets: len(answer), tcp: tcp}
	if w.q.end > 0 {
		q.name, q.qtype = textName(string(w.q.name())), w.q.qtype
	}
	if w.snap.queryLog.Clients {
		q.client = w.from
	}
	select {
	case w.server.queries <- q:
	default:
		w.count.unlogged.Add(1)
	}
}

// logQueries writes the log until ctx ends.
func (s *Server) logQueries(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case q := <-s.queries:
			q.log(ctx, s.log)
		}
	}
}

func (q *loggedQuery) log(ctx context.Context, log *slog.Logger) {
	transport := "udp"
	if q.tcp {
		transport = "tcp"
	}
	attrs := []slog.Attr{
		slog.String("name", q.name), slog.String("type", typeName(q.qtype)), slog.String("rcode", q.rcode),
		slog.Int("octets", q.octets), slog.String("transport", transport),
	}
	if q.client.IsValid() {
		attrs = append(attrs, slog.String("client", q.client.String()))
	}
	log.LogAttrs(ctx, slog.LevelInfo, "query", attrs...)
}
