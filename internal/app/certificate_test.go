package app

import (
	"strings"
	"testing"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/sites"
)

// If this fails, the certificate of the dashboard ends without a word, or is spoken
// of again and again.
func TestExpiryText(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	const day = 24 * time.Hour
	last := ""
	for _, c := range []struct {
		left time.Duration
		want string
		news bool
	}{
		{22 * day, "", false},
		{21 * day, "in less than 21 days", true},
		{8 * day, "in less than 21 days", false},
		{7 * day, "in less than 7 days", true},
		{25 * time.Hour, "in less than 7 days", false},
		{time.Hour, "in less than a day", true},
		{0, "has ended at", true},
		{-9 * day, "has ended at", false},
	} {
		ends := now.Add(30 * day)
		got := expiryText(ends, ends.Add(-c.left))
		if !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s before: %q", c.left, got)
		}
		if news := got != last; news != c.news {
			t.Errorf("%s before: it is news: %v", c.left, news)
		}
		last = got
	}
	if got := expiryText(time.Time{}, now); got != "" {
		t.Errorf("without a certificate: %q", got)
	}
}

// If this fails, nobody is told that the listener's own certificate ends soon, or
// they are told again at each start, or not that another one is in place.
func TestOwnCertificateEnds(t *testing.T) {
	w := newWorld(t, "berlin")
	w.pairUntil(1, time.Now().Add(6*24*time.Hour), true, true)
	w.write(w.config() + "http:\n  listen: ['127.0.0.1:0']\n  without_login: viewer\n  tls: {cert_file: tls.crt, key_file: tls.key}\n")
	r := w.start()
	r.await("certificate_expiring")
	r.settled()
	_ = r.stopped()
	r = w.start()
	r.settled()
	list, err := r.Events(t.Context(), api.EventQuery{Kinds: []sites.Kind{sites.CertificateExpiring}, Limit: 10})
	if err != nil || len(list) != 1 || !strings.Contains(list[0].Text, "7 days") || list[0].Site != "" {
		t.Fatalf("%+v %v", list, err)
	}
	w.pair(2, true, true)
	r.await("certificate_renewed")
	ended, err := r.Events(t.Context(), api.EventQuery{Kinds: []sites.Kind{sites.CertificateRenewed}, Limit: 10})
	if err != nil || len(ended) != 1 || ended[0].Resolves != list[0].ID {
		t.Errorf("%+v %v", ended, err)
	}
}

// If this fails, the page says that a resolver gives what it does not, or never asks.
func TestWhatAResolverGives(t *testing.T) {
	w := newWorld(t, "berlin")
	w.write(w.config())
	r := w.start()
	r.settled()
	r.until("the resolver was asked, and gives nothing", func() bool {
		st, err := r.Status(t.Context())
		return err == nil && len(st.Resolved) == 1 && st.Resolved[0].Site == "berlin" && st.Resolved[0].Name == "app.example.lan" &&
			!st.Resolved[0].Asked.IsZero() && st.Resolved[0].Verified.IsZero()
	})
}
