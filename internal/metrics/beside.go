package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dnsteer/dnsteer/internal/alert"
	"github.com/dnsteer/dnsteer/internal/publish"
)

// Beside are the metrics of the targets and the alerts. They are registered
// beside the others ([Set.Register]), and take what the publisher tells
// ([publish.Meter]).
type Beside struct {
	views  func() []publish.View
	alerts func() *alert.Status

	synced        *prometheus.CounterVec
	took, visible *prometheus.HistogramVec
	pending       *prometheus.Desc
	drift         *prometheus.Desc
	sent          *prometheus.Desc
	queued        *prometheus.Desc

	mu   sync.Mutex
	told map[place]bool // the servers that have series
}

// place is a server of a target.
type place struct{ target, server string }

var _ publish.Meter = (*Beside)(nil)

// The metrics of targets and alerts, in the order of the documentation.
const (
	targetSync = iota
	targetTook
	targetVisible
	targetPending
	targetDrift
	alertsSent
	alertQueue
)

// besides describes them.
func besides() []Description {
	server := []string{"target", "server"}
	return []Description{
		targetSync:    {"dnsteer_target_sync_total", counter, "Comparisons and pushes since the start, by how they ended: ok, superseded by something newer, held because the site cannot be seen any more, denied or failed.", []string{"target", "server", "result"}},
		targetTook:    {"dnsteer_target_sync_duration_seconds", histogram, "How long a comparison with its push took.", server},
		targetVisible: {"dnsteer_target_visible_seconds", histogram, "How long it took from a push until the site's resolver gave the new answer.", server},
		targetPending: {"dnsteer_target_pending_changes", gauge, "RRsets that are other than they should be, as the target was last read.", server},
		targetDrift:   {"dnsteer_target_drift_total", counter, "RRsets that were put right after somebody had changed them.", server},
		alertsSent:    {"dnsteer_alerts_sent_total", counter, "Messages of alerts since the start, by what became of them: ok, failed (and tried again) or dropped.", []string{"channel", "result"}},
		alertQueue:    {"dnsteer_alert_queue_length", gauge, "Messages that wait for a channel.", []string{"channel"}},
	}
}

// NewBeside makes them; views and alerts are asked when they are read, and
// wait for nothing.
func NewBeside(views func() []publish.View, alerts func() *alert.Status) *Beside {
	d := besides()
	desc := func(i int) *prometheus.Desc { return prometheus.NewDesc(d[i].Name, d[i].Help, d[i].Labels, nil) }
	hist := func(i int, buckets []float64) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: d[i].Name, Help: d[i].Help, Buckets: buckets}, d[i].Labels)
	}
	return &Beside{
		views: views, alerts: alerts, told: map[place]bool{},
		synced:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: d[targetSync].Name, Help: d[targetSync].Help}, d[targetSync].Labels),
		took:    hist(targetTook, []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}),
		visible: hist(targetVisible, []float64{.1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}),
		pending: desc(targetPending), drift: desc(targetDrift), sent: desc(alertsSent), queued: desc(alertQueue),
	}
}

// note remembers that a server has series. The caller holds mu.
func (b *Beside) note(target, server string) { b.told[place{target, server}] = true }

// forget drops the series of servers that are configured no more: they would
// alarm for ever. The caller holds mu.
func (b *Beside) forget(views []publish.View) {
	stay := map[place]bool{}
	for i := range views {
		stay[place{views[i].Name, views[i].Server}] = true
	}
	for p := range b.told {
		if stay[p] {
			continue
		}
		labels := prometheus.Labels{"target": p.target, "server": p.server}
		b.synced.DeletePartialMatch(labels)
		b.took.DeletePartialMatch(labels)
		b.visible.DeletePartialMatch(labels)
		delete(b.told, p)
	}
}

// Synced counts a round.
func (b *Beside) Synced(target, server string, result publish.Result, took time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.note(target, server)
	b.synced.WithLabelValues(target, server, string(result)).Inc()
	b.took.WithLabelValues(target, server).Observe(took.Seconds())
}

// Visible takes how long a push took to be seen.
func (b *Beside) Visible(target, server string, took time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.note(target, server)
	b.visible.WithLabelValues(target, server).Observe(took.Seconds())
}

// Describe sends the descriptions.
func (b *Beside) Describe(ch chan<- *prometheus.Desc) {
	b.synced.Describe(ch)
	b.took.Describe(ch)
	b.visible.Describe(ch)
	for _, d := range []*prometheus.Desc{b.pending, b.drift, b.sent, b.queued} {
		ch <- d
	}
}

// Collect reads everything.
func (b *Beside) Collect(ch chan<- prometheus.Metric) {
	put := func(d *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
		one, err := prometheus.NewConstMetric(d, kind, value, labels...)
		if err != nil { // a name that is no UTF-8: the others are still told
			one = prometheus.NewInvalidMetric(d, err)
		}
		ch <- one
	}
	views := b.views()
	b.mu.Lock()
	b.forget(views)
	for _, v := range views {
		b.note(v.Name, v.Server)
		for _, r := range publish.Results() { // from the start, so that the first is seen to be one
			b.synced.WithLabelValues(v.Name, v.Server, string(r))
		}
		put(b.pending, gauge, float64(v.Pending), v.Name, v.Server)
		put(b.drift, counter, float64(v.Drifts), v.Name, v.Server)
	}
	b.synced.Collect(ch)
	b.took.Collect(ch)
	b.visible.Collect(ch)
	b.mu.Unlock()
	st := b.alerts()
	if st == nil {
		return
	}
	for i := range st.Channels {
		c := &st.Channels[i]
		put(b.queued, gauge, float64(c.Queued), c.Name)
		put(b.sent, counter, float64(c.Taken), c.Name, "ok")
		put(b.sent, counter, float64(c.Refused), c.Name, "failed")
		put(b.sent, counter, float64(c.Dropped), c.Name, "dropped")
	}
}
