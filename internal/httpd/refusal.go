package httpd

import (
	"bytes"
	"html/template"
	"net/http"
	"strings"

	"github.com/dnsteer/dnsteer/internal/api"
)

// refusal is what a person reads whom the guard keeps out. It brings nothing along:
// what it would have to be fetched from does not answer here either.
var refusal = template.Must(template.New("refusal").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{{.Title}} – dnsteer</title>
</head>
<body><main><h1>{{.Title}}</h1><p>{{.Text}}</p></main></body>
</html>
`))

// refuse says why a request is kept out: on a page to who opens one with a browser, to
// all others as a problem.
func refuse(w http.ResponseWriter, r *http.Request, status int, text string) {
	program := strings.Contains(r.URL.Path, "/api/") || strings.Contains(r.URL.Path, "/-/") || r.URL.Path == "/metrics"
	if program || !strings.Contains(r.Header.Get("Accept"), "text/html") {
		api.Fail(w, status, "%s", text)
		return
	}
	var out bytes.Buffer
	if err := refusal.Execute(&out, struct{ Title, Text string }{http.StatusText(status), strings.ToUpper(text[:1]) + text[1:] + "."}); err != nil {
		api.Fail(w, status, "%s", text)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = out.WriteTo(w) // whoever has gone need not be told
}
