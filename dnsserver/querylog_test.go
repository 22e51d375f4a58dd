package dnsserver

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
)

// journal keeps what is logged about queries, without the time.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, after, ok := strings.Cut(string(b), "msg=query "); ok {
		j.lines = append(j.lines, strings.TrimSpace(after))
	}
	return len(b), nil
}

// If this fails, the log of queries tells who asked without having been told to,
// tells of queries that were not asked, or holds up answers.
func TestQueryLog(t *testing.T) {
	tests := []struct {
		name string
		cfg  QueryLog
		want []string
	}{
		{"off", QueryLog{}, nil},
		{"each", QueryLog{Every: 1}, []string{
			"name=app.example.lan. type=A rcode=NOERROR octets=65 transport=udp",
			"name=nothing.example.lan. type=MX rcode=NXDOMAIN octets=83 transport=tcp",
			"name=mail.example.lan. type=A rcode=NOERROR octets=50 transport=udp",
		}},
		{"with clients", QueryLog{Every: 1, Clients: true}, []string{
			"name=app.example.lan. type=A rcode=NOERROR octets=65 transport=udp client=10.1.0.1",
			"name=nothing.example.lan. type=MX rcode=NXDOMAIN octets=83 transport=tcp client=10.1.0.1",
			"name=mail.example.lan. type=A rcode=NOERROR octets=50 transport=udp client=10.1.0.1",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := lanConfig(t)
				cfg.QueryLog = tt.cfg
				j := &journal{}
				s, err := New(cfg, Options{Log: slog.New(slog.NewTextHandler(j, nil))})
				if err != nil {
					t.Fatal(err)
				}
				s.SetAnswer("berlin", "default", answer("10.1.0.11", "10.1.0.12"))
				ctx, stop := context.WithCancel(t.Context())
				done := make(chan struct{})
				go func() { s.logQueries(ctx); close(done) }()
				exchange(t, s, "10.1.0.1", ask("app.example.lan.", dns.TypeA), false)
				exchange(t, s, "10.1.0.1", ask("nothing.example.lan.", dns.TypeMX), true)
				exchange(t, s, "10.1.0.1", ask("MAIL.example.lan.", dns.TypeA), false)
				synctest.Wait()
				stop()
				<-done
				if diff := cmp.Diff(tt.want, j.lines); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

// If this fails, a log that stands still stops the answers, or its gaps are not
// counted, or more is logged than was asked for.
func TestQueryLogIsNotWaitedFor(t *testing.T) {
	cfg := lanConfig(t)
	cfg.QueryLog.Every = 10
	s := lanServerOf(t, cfg)
	w := &worker{server: s, count: s.udpCounts[0]}
	dst, msg := make([]byte, maxUDP), ask("mail.example.lan.", dns.TypeA)
	const count = 10 * (queryLogQueue + 5)
	for range count {
		if w.respond(dst, msg, addrs("10.1.0.1")[0], false) == 0 {
			t.Fatal("no answer")
		}
	}
	if n := len(s.queries); n != queryLogQueue || s.Stats().UDP.Unlogged != 5 {
		t.Errorf("%d wait, %d were left out", n, s.Stats().UDP.Unlogged)
	}
}
