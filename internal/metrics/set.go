package metrics

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/common/expfmt"

	"github.com/dnsteer/dnsteer/dnsserver"
	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/sites"
)

// Source is what is read when the metrics are asked for.
type Source interface {
	// Status gives everything that is known now.
	Status(ctx context.Context) (api.Status, error)
	// DNS gives the counts of the DNS server; ok is false if there is none.
	DNS() (stats dnsserver.Stats, ok bool)
}

// Set is the controller's metrics on a registry of its own.
type Set struct {
	registry *prometheus.Registry
	source   Source
	log      *slog.Logger
	descs    map[metric]*prometheus.Desc
	delay    prometheus.Histogram

	mu        sync.Mutex
	failures  map[failure]float64
	events    map[sites.Kind]float64
	failovers map[moved]float64
}

type failure struct{ site, subject, reason string }

type moved struct{ site, cause string }

// Limits of one reading.
const (
	readTime  = 5 * time.Second
	inFlight  = 4
	readWhole = 10 * time.Second
)

// New makes the metrics.
func New(source Source, log *slog.Logger) (*Set, error) {
	s := &Set{
		registry: prometheus.NewRegistry(), source: source, log: log, descs: make(map[metric]*prometheus.Desc),
		failures: make(map[failure]float64), events: make(map[sites.Kind]float64), failovers: make(map[moved]float64),
		delay: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: decisionName, Help: decisionHelp, Buckets: []float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5},
		}),
	}
	for m, d := range table() {
		s.descs[m] = prometheus.NewDesc(d.Name, d.Help, d.Labels, nil)
	}
	for _, c := range []prometheus.Collector{
		s, s.delay, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	} {
		if err := s.Register(c); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Register adds metrics of another part, such as the targets and the alerts.
func (s *Set) Register(c prometheus.Collector) error { return s.registry.Register(c) }

// Handler answers with the metrics.
func (s *Set) Handler() http.Handler {
	return promhttp.HandlerFor(s.registry, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelWarn), ErrorHandling: promhttp.ContinueOnError,
		MaxRequestsInFlight: inFlight, Timeout: readWhole,
	})
}

// Text writes the metrics as Prometheus reads them.
func (s *Set) Text(w io.Writer) error {
	families, err := s.registry.Gather()
	for _, f := range families {
		if _, fault := expfmt.MetricFamilyToText(w, f); fault != nil {
			return fault
		}
	}
	return err
}

// Gatherer gives them to tests.
func (s *Set) Gatherer() prometheus.Gatherer { return s.registry }

// Probed counts the failures of a result. It waits for nobody but another
// reading of a map.
func (s *Set) Probed(r *sites.Result) {
	for i := range r.Checks {
		c := &r.Checks[i]
		if c.Cause == "" {
			continue
		}
		subject := r.Subject.Node
		if subject == "" {
			subject = r.Subject.Witness
		}
		s.mu.Lock()
		s.failures[failure{r.Subject.Site, subject, c.Cause}]++
		s.mu.Unlock()
	}
}

// causes are the words for moves of answers.
func causes() map[sites.Kind]string {
	return map[sites.Kind]string{
		sites.FailoverOutage: "outage", sites.FailoverSwitch: "switch",
		sites.FailoverFailback: "failback", sites.FailoverMaintenance: "maintenance",
	}
}

// Happened counts events.
func (s *Set) Happened(list []sites.Event) {
	words := causes()
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range list {
		s.events[list[i].Kind]++
		if cause := words[list[i].Kind]; cause != "" {
			s.failovers[moved{list[i].Site, cause}]++
		}
	}
}

// Decided takes how long a change of answers took.
func (s *Set) Decided(d time.Duration) { s.delay.Observe(d.Seconds()) }

// Describe sends the descriptions.
func (s *Set) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range s.descs {
		ch <- d
	}
}

// Collect reads everything.
func (s *Set) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), readTime)
	defer cancel()
	st, err := s.source.Status(ctx)
	if err != nil {
		s.log.Warn("read the metrics", "error", err)
		ch <- prometheus.NewInvalidMetric(s.descs[problems], err)
		return
	}
	r := reading{set: s, ch: ch}
	r.controller(&st)
	for i := range st.Sites {
		r.site(&st.Sites[i])
	}
	r.counts(&st)
	if stats, ok := s.source.DNS(); ok {
		r.dns(&stats, st.DNS)
	}
}
