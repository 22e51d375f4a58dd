package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
)

// jsonBody reads the body of a request, which must be JSON: a page of another
// site can send none by itself.
func jsonBody(r *http.Request) ([]byte, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, problem(http.StatusUnsupportedMediaType, "send the body as JSON, with Content-Type: application/json")
	}
	return readBody(r.Body)
}

// readBody reads a body of any kind. One that is too large is a
// [*http.MaxBytesError], another fault a [*Problem].
func readBody(r io.Reader) ([]byte, error) {
	body, err := io.ReadAll(r)
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return nil, err
		}
		return nil, problem(http.StatusBadRequest, "the body cannot be read: %v", err)
	}
	return body, nil
}

// decode reads the one JSON object that a body holds, a command or a report (what),
// into out, which must know each of its keys. The error is a [*Problem].
func decode(body []byte, what string, out any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(out); err != nil {
		return problem(http.StatusBadRequest, "%s", jsonFault(err, what))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return problem(http.StatusBadRequest, "the %s cannot be read: something follows it", what)
	}
	return nil
}

// jsonFault says what is wrong with a body in the words of those who send it.
func jsonFault(err error, what string) string {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && e.Field != "" {
		return fmt.Sprintf("%s: a %s stands there, expected a %s", e.Field, e.Value, e.Type.Kind())
	}
	if errors.Is(err, io.EOF) {
		return fmt.Sprintf("the body is empty, expected a %s as JSON", what)
	}
	return fmt.Sprintf("the %s cannot be read: %s", what, strings.TrimPrefix(err.Error(), "json: "))
}
