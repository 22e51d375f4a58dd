package app

import (
	"context"
	"time"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/connect"
)

// pinWithin bounds how long a server may take to show its certificate.
const pinWithin = 10 * time.Second

// Certificates has a target's servers show theirs ([api.Publisher]).
func (a *App) Certificates(ctx context.Context, target string) (list api.CertificateList, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(a.life, cancel)()
	cfg := a.cfg.Load()
	for i := range cfg.Targets {
		if cfg.Targets[i].Name != target {
			continue
		}
		servers, err := connect.Certified(&cfg.Targets[i])
		if err != nil {
			return api.CertificateList{Error: err.Error()}, nil
		}
		for _, s := range servers {
			list.Certificates = append(list.Certificates, shown(ctx, s))
		}
		return list, nil
	}
	return list, &api.NotFoundError{Text: "There is no target " + target + "."}
}

// shown is what one server shows.
func shown(ctx context.Context, server string) api.TargetCertificate {
	ctx, cancel := context.WithTimeout(ctx, pinWithin)
	defer cancel()
	c, err := connect.Ask(ctx, server)
	if err != nil {
		return api.TargetCertificate{Server: server, Error: err.Error()}
	}
	return api.TargetCertificate{
		Server: server, Fingerprint: c.Fingerprint, Subject: c.Subject, Issuer: c.Issuer, Names: c.Names,
		NotBefore: c.NotBefore, NotAfter: c.NotAfter, Verified: c.Verified, Reason: c.Reason,
	}
}
