package api

import (
	"errors"
	"net/http"
	"time"
)

// Unhurried lifts the server's limits on the time that a request may take, for
// what takes as long as the probes of a node do.
func Unhurried(w http.ResponseWriter) error {
	c := http.NewResponseController(w)
	for _, lift := range []func(time.Time) error{c.SetReadDeadline, c.SetWriteDeadline} {
		if err := lift(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return err
		}
	}
	return nil
}

// refusal takes what the mux says to a request that it knows nothing for.
type refusal struct {
	header http.Header
	status int
}

func (r *refusal) Header() http.Header         { return r.header }
func (r *refusal) Write(b []byte) (int, error) { return len(b), nil }
func (r *refusal) WriteHeader(status int)      { r.status = status }

// response remembers what was answered.
type response struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (r *response) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *response) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(b)
	r.bytes += int64(n)
	return n, err
}

// Unwrap gives [http.ResponseController] the connection.
func (r *response) Unwrap() http.ResponseWriter { return r.ResponseWriter }
