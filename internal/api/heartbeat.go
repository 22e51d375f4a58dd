package api

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/dnsteer/dnsteer/probes"
)

// Heartbeats takes what nodes report of themselves. Its errors are
// [probes.ErrNoHeartbeat] and [probes.ErrToken].
type Heartbeats interface {
	Report(site, node string, token probes.Token, r probes.Report) error
}

// HeartbeatPath begins the paths that nodes report to, with a token of their own.
const HeartbeatPath = "/api/v1/heartbeat/"

// maxReport of a heartbeat's body.
const maxReport = 4 << 10

// heartbeat takes a report. Its login is the node's own token, not a user's. It
// answers 204; 401 without the node's token; 404 where no node of the name
// reports; 429 in place of both to those who were wrong too often: who has the
// right token is never held back, so nobody can silence a node by being wrong
// in its name, and a token is too long to be guessed.
func (h *Handler) heartbeat(w http.ResponseWriter, r *http.Request) error {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return h.unknownSender(w, r, probes.ErrToken)
	}
	report, err := readReport(http.MaxBytesReader(w, r.Body, maxReport))
	if err != nil {
		return err
	}
	if h.Heartbeats == nil {
		return problem(http.StatusNotFound, "%v", probes.ErrNoHeartbeat)
	}
	if err := h.Heartbeats.Report(r.PathValue("site"), r.PathValue("node"), probes.Token(token), report); err != nil {
		return h.unknownSender(w, r, err)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// unknownSender answers one that is not whom it says.
func (h *Handler) unknownSender(w http.ResponseWriter, r *http.Request, err error) error {
	if !h.wrong.allow(senderOf(r.RemoteAddr), time.Now()) {
		w.Header().Set("Retry-After", strconv.Itoa(int(wrongWithin/time.Second)))
		return problem(http.StatusTooManyRequests, "too many reports with a wrong token or name; a right one is taken at any time")
	}
	switch {
	case errors.Is(err, probes.ErrNoHeartbeat):
		return problem(http.StatusNotFound, "%v", err)
	case errors.Is(err, probes.ErrToken):
		w.Header().Set("WWW-Authenticate", `Bearer realm="dnsteer heartbeat"`)
		return problem(http.StatusUnauthorized, "send the node's own token: \"Authorization: Bearer TOKEN\"")
	default:
		return err
	}
}

// readReport reads a body: nothing, or one object.
func readReport(body io.Reader) (r probes.Report, err error) {
	data, err := readBody(body)
	if err != nil {
		return r, err
	}
	return ParseReport(data)
}

// ParseReport reads the body of a heartbeat. The error is a [*Problem].
func ParseReport(data []byte) (r probes.Report, err error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return r, nil
	}
	if err := decode(data, "report", &r); err != nil {
		return probes.Report{}, err
	}
	if err := r.Validate(); err != nil {
		return probes.Report{}, problem(http.StatusBadRequest, "%v", err)
	}
	return r, nil
}

// How many wrong reports one sender may make within a time, and how many
// senders are remembered; beyond that they share one count.
const (
	wrongMost    = 20
	wrongWithin  = time.Minute
	wrongSenders = 1024
)

// failures counts what senders got wrong, bounded. Its zero value is ready.
type failures struct {
	mu    sync.Mutex
	since time.Time
	count map[netip.Prefix]int
}

// allow counts one more, and says whether it is within the limit.
func (f *failures) allow(sender netip.Prefix, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.count == nil || now.Sub(f.since) >= wrongWithin {
		f.since, f.count = now, make(map[netip.Prefix]int)
	}
	if _, known := f.count[sender]; !known && len(f.count) >= wrongSenders {
		sender = netip.Prefix{}
	}
	f.count[sender]++
	return f.count[sender] <= wrongMost
}

// senderOf gives the network of a sender: its address, or the /64 of IPv6; the
// zero prefix for one on the socket.
func senderOf(remote string) netip.Prefix {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		return netip.Prefix{}
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Prefix{}
	}
	addr = addr.Unmap().WithZone("")
	bits := 32
	if addr.Is6() {
		bits = 64
	}
	p, err := addr.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return p
}
