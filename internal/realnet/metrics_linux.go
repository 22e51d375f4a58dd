package realnet

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
)

// Metrics are the values of /metrics by their names with labels, as they stand there.
type Metrics map[string]float64

// Metrics reads what the controller says of itself.
func (c *Controller) Metrics() Metrics {
	t := c.w.t
	t.Helper()
	// The connection is made in the controller's namespace.
	dial := func(ctx context.Context, network, addr string) (conn net.Conn, err error) {
		var d net.Dialer
		err = c.w.here.Enter(func() (err error) {
			conn, err = d.DialContext(ctx, network, addr)
			return err
		})
		return conn, err
	}
	client := &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}, Timeout: patience}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:8053/metrics", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	return parse(resp.Body)
}

func parse(r io.Reader) Metrics {
	m := Metrics{}
	for lines := bufio.NewScanner(r); lines.Scan(); {
		name, value, ok := strings.Cut(lines.Text(), " ")
		if at := strings.LastIndexByte(lines.Text(), ' '); at > 0 {
			name, value = lines.Text()[:at], lines.Text()[at+1:]
		}
		if x, err := strconv.ParseFloat(value, 64); ok && err == nil && !strings.HasPrefix(name, "#") {
			m[name] = x
		}
	}
	return m
}

// failures counts the failed probes of a subject: a node's name or a witness's.
func (m Metrics) failures(site, subject string) (n float64) {
	for name, x := range m {
		if strings.HasPrefix(name, "dnsteer_probe_failures_total{") &&
			strings.Contains(name, `site="`+site+`"`) && strings.Contains(name, `subject="`+subject+`"`) {
			n += x
		}
	}
	return n
}

// Failures waits until so many more probes of a subject, a node or a witness, have
// failed: for what must not happen, and would happen within them.
func (c *Controller) Failures(site, subject string, more int) {
	c.w.t.Helper()
	want := c.Metrics().failures(site, subject) + float64(more)
	Until(c.w.t, fmt.Sprintf("%d probes of %s %s fail", more, site, subject), func() string {
		if n := c.Metrics().failures(site, subject); n < want {
			return fmt.Sprintf("%.0f of %.0f have failed", n, want)
		}
		return ""
	})
}
