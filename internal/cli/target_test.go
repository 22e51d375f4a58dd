package cli

import (
	"context"
	"encoding/hex"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/routersim"
)

// router starts a router and a node until the script ends: $ROUTER, $PIN,
// $RESOLVER and $NODE say where they are.
func router(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: router")
	}
	r, err := routersim.New(routersim.Options{})
	ts.Check(err)
	ts.Check(r.Start(context.Background()))
	ts.Defer(func() { ts.Check(r.Close()) })
	_, err = r.Do("/ip/dns/static/add", "name=app.example.lan", "address=10.9.9.9")
	ts.Check(err)
	web := httptest.NewServer(http.NotFoundHandler())
	ts.Defer(web.Close)
	_, port, err := net.SplitHostPort(web.Listener.Addr().String())
	ts.Check(err)
	pin := r.Fingerprint()
	for name, value := range map[string]string{
		"ROUTER": r.TLSAddr(), "PIN": "sha256:" + hex.EncodeToString(pin[:]), "RESOLVER": r.DNSAddr().String(), "NODE": port,
	} {
		ts.Setenv(name, value)
	}
}

// An answer that is no clear yes would have somebody's records taken over, or
// removed.
func TestConfirm(t *testing.T) {
	for _, in := range []string{"", "\n", "n\n", "yeah\n", "y\n"} {
		var messages strings.Builder
		c := &commands{Env: Env{In: strings.NewReader(in), Err: &messages}}
		err := c.confirm(&api.TargetReply{Text: "1 record would go.", Changes: []api.TargetChange{{Verb: "remove", Name: "app.lan", Type: "A", From: "10.1.0.11"}}})
		if err == nil || !strings.Contains(messages.String(), "remove  app.lan  A  10.1.0.11") {
			t.Errorf("%q, which nobody typed, counts: %v\n%s", in, err, messages.String())
		}
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	c := &commands{Env: Env{In: null, Err: &strings.Builder{}}}
	if err := c.confirm(&api.TargetReply{}); err == nil || !strings.Contains(err.Error(), "--yes") {
		t.Errorf("nothing to ask at: %v", err)
	}
}
