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
// into out, which must know each of its keys. One that stands twice is refused: which of
// them was meant nobody can say (RFC 8259, section 4). The error is a [*Problem].
func decode(body []byte, what string, out any) error {
	if key := repeated(body); key != "" {
		return problem(http.StatusBadRequest, "%s: it stands twice", key)
	}
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

// repeated gives a key of an object that stands twice in it, in whatever case: the decoder
// takes each for the other. It is "" for none, and for what is no object.
func repeated(body []byte) string {
	d := json.NewDecoder(bytes.NewReader(body))
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return ""
	}
	seen := make(map[string]bool)
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return ""
		}
		name, _ := key.(string)
		folded := strings.ToLower(strings.ToUpper(name)) // a long s is one too
		if seen[folded] {
			return name
		}
		seen[folded] = true
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return ""
		}
	}
	return ""
}

// jsonFault says what is wrong with a body in the words of those who send it.
func jsonFault(err error, what string) string {
	e, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if ok && e.Field == "" {
		return fmt.Sprintf("the %s cannot be read: it is %s, expected an object", what, one(e.Value))
	}
	if ok {
		return fmt.Sprintf("%s: %s stands there, expected %s", e.Field, one(e.Value), one(e.Type.Kind().String()))
	}
	if errors.Is(err, io.EOF) {
		return fmt.Sprintf("the body is empty, expected a %s as JSON", what)
	}
	return fmt.Sprintf("the %s cannot be read: %s", what, strings.TrimPrefix(err.Error(), "json: "))
}

// one puts the article before what JSON or Go calls a kind of value.
func one(kind string) string {
	if strings.ContainsRune("aeiou", rune(kind[0])) {
		return "an " + kind
	}
	return "a " + kind
}
