package app

import (
	"context"
	"fmt"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// certificateEvery is how often the listener's own certificate is looked at, a
// reload aside.
const certificateEvery = time.Minute

// certificates tells that the certificate of the HTTP listener ends: 21, 7 and 1
// days before, and when it has.
func (a *App) certificates(ctx context.Context) {
	tick := time.NewTicker(certificateEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			a.loop.post(a.judgeCertificate)
		case <-ctx.Done():
			return
		}
	}
}

// judgeCertificate looks at the certificate now, in the loop's goroutine. What was
// said in the same words is not said again, also across a restart (P5).
func (a *App) judgeCertificate() {
	now, open := a.instant(), a.keeper.expiring
	if now.Suspect {
		return
	}
	var ends time.Time
	if h := a.cfg.Load().HTTP; h != nil {
		ends = h.Expires
	}
	text := expiryText(ends, now.Wall)
	switch {
	case text == open.Text:
	case text != "":
		a.loop.happened(sites.Event{Kind: sites.CertificateExpiring, Resolves: open.ID, Text: text})
	case ends.IsZero():
		a.loop.happened(sites.Event{Kind: sites.CertificateRenewed, Resolves: open.ID, Text: "The HTTP listener has no certificate any more."})
	default:
		a.loop.happened(sites.Event{Kind: sites.CertificateRenewed, Resolves: open.ID, Text: fmt.Sprintf(
			"The HTTP listener has a certificate that lasts until %s.", ends.UTC().Format(certificateTime))})
	}
}

const certificateTime = "2006-01-02 15:04:05 UTC"

// expiryText says that a certificate ends, in the same words until there is
// something new to say; "" while that is long hence.
func expiryText(ends, now time.Time) string {
	const day = 24 * time.Hour
	left := ends.Sub(now)
	when := ""
	switch {
	case ends.IsZero() || left > 21*day:
		return ""
	case left <= 0:
		return fmt.Sprintf("The certificate of the HTTP listener has ended at %s: browsers and programs refuse it. Put another one in place (http.tls).", ends.UTC().Format(certificateTime))
	case left <= day:
		when = "a day"
	case left <= 7*day:
		when = "7 days"
	default:
		when = "21 days"
	}
	return fmt.Sprintf("The certificate of the HTTP listener ends at %s, in less than %s. Put another one in place (http.tls); it is taken without a restart.", ends.UTC().Format(certificateTime), when)
}
