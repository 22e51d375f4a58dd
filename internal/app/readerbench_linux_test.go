package app

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/auth"
)

// BenchmarkReader is what those who look cost a controller of 1,000 nodes that all
// fail: the status by the API and pages, in time of the processor (which includes what
// the controller does besides), and the turns of the decision loop without a reader
// and with one each second.
func BenchmarkReader(b *testing.B) {
	w := big(b, 10, 100)
	r := w.start()
	defer func() { _ = r.stopped() }()
	pages, err := r.pages()
	if err != nil {
		b.Fatal(err)
	}
	viewer := api.WithCaller(context.Background(), &api.Caller{Role: auth.Operator})
	for _, from := range []struct {
		name    string
		handler http.Handler
		path    string
	}{{"status", r.api, "/api/v1/status"}, {"overview", pages, "/"}, {"site", pages, "/sites/s0"}} {
		b.Run(from.name, func(b *testing.B) {
			size, used := 0, processorTime(b)
			for b.Loop() {
				w := httptest.NewRecorder()
				from.handler.ServeHTTP(w, httptest.NewRequestWithContext(viewer, http.MethodGet, from.path, nil))
				if w.Code != http.StatusOK {
					b.Fatal(w.Code, w.Body)
				}
				size = w.Body.Len()
			}
			b.ReportMetric(float64(processorTime(b)-used)/1e6/float64(b.N), "ms-cpu/op")
			b.ReportMetric(float64(size), "bytes")
		})
	}
	b.Run("held-by-a-status", func(b *testing.B) {
		for b.Loop() {
			if err := r.loop.do(context.Background(), (&view{app: r.App}).step); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, readers := range []bool{false, true} {
		b.Run(map[bool]string{false: "turn", true: "turn-with-a-reader"}[readers], func(b *testing.B) {
			ctx, end := context.WithCancel(context.Background())
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				for readers && ctx.Err() == nil {
					if _, err := r.Status(ctx); err != nil && ctx.Err() == nil {
						b.Error(err)
					}
					select {
					case <-time.After(time.Second):
					case <-ctx.Done():
					}
				}
			}()
			var took []time.Duration
			for b.Loop() {
				begun := time.Now()
				if err := r.loop.do(ctx, func() {}); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(begun))
			}
			end()
			<-ended
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2]), "ns-median")
			b.ReportMetric(float64(took[len(took)*999/1000]), "ns-p99.9")
			b.ReportMetric(float64(took[len(took)-1])/1e6, "ms-max")
		})
	}
}

// processorTime is what the process has used.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
