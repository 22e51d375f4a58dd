package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// Problem is the body of every answer that is not a success (RFC 9457). Its
// type is about:blank, so Title is the status in words.
type Problem struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	// Detail says what is wrong, and what can be done about it.
	Detail string `json:"detail,omitempty"`
	// Missing names what is not ready yet.
	Missing []string `json:"missing,omitempty"`
	// Forceable: the same command would be carried out with "force".
	Forceable bool `json:"forceable,omitempty"`
}

func (p *Problem) Error() string {
	if p.Detail == "" {
		return p.Title
	}
	return p.Detail
}

// problem makes one, as an error that handlers return.
func problem(status int, format string, args ...any) *Problem {
	return &Problem{Title: http.StatusText(status), Status: status, Detail: fmt.Sprintf(format, args...)}
}

// ProblemOf says how an error of the controller is answered.
func ProblemOf(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	if _, ok := errors.AsType[*NotFoundError](err); ok {
		return problem(http.StatusNotFound, "%v", err)
	}
	if e, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return problem(http.StatusRequestEntityTooLarge, "the body is larger than %d bytes", e.Limit)
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return problem(http.StatusServiceUnavailable, "the controller did not answer in time; ask again")
	}
	return problem(http.StatusInternalServerError, "%v", err)
}

func writeProblem(w http.ResponseWriter, p *Problem) {
	switch p.Status {
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	case http.StatusUnauthorized:
		challenge(w)
	}
	write(w, "application/problem+json", p.Status, p)
}

// Fail answers with a problem, as every handler of this listener does.
func Fail(w http.ResponseWriter, status int, format string, args ...any) {
	writeProblem(w, problem(status, format, args...))
}

func writeJSON(w http.ResponseWriter, v any) { write(w, "application/json", http.StatusOK, v) }

// write sends a value. What cannot be sent any more has nobody to be told to.
func write(w http.ResponseWriter, kind string, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil { // a type of ours that JSON cannot hold
		panic(fmt.Sprintf("api: write %T: %v", v, err))
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}
