package api

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"github.com/dnsteer/dnsteer/internal/support"
)

// Supporter knows what is needed to look into a fault.
type Supporter interface {
	// Support gives the parts of a support bundle. None of them shows a secret.
	Support(ctx context.Context) []support.Part
}

// supportTime is how long a support bundle may take: each of its parts is waited for.
const supportTime = time.Minute

func (h *Handler) support(w http.ResponseWriter, r *http.Request) error {
	if err := Unhurried(w); err != nil {
		return err
	}
	var data bytes.Buffer
	now := time.Now()
	if err := support.Write(r.Context(), &data, now, h.Supporter.Support(r.Context())); err != nil {
		return err
	}
	w.Header().Set("Content-Type", support.Media)
	w.Header().Set("Content-Disposition", `attachment; filename="`+support.Name(now)+`.tar.gz"`)
	_, _ = w.Write(data.Bytes()) // a reader that has gone
	return nil
}

// Support gives a support bundle, as [support.Write] writes it.
func (c *Client) Support(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, supportTime)
	defer cancel()
	res, err := c.send(ctx, http.MethodGet, "/api/v1/support", nil, nil)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	var data bytes.Buffer
	if _, err := data.ReadFrom(res.Body); err != nil {
		return nil, c.unreachable(err)
	}
	return data.Bytes(), nil
}
