package routersim

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
)

// Whatever is proved against the simulator would prove nothing for a router: each
// line is one way in which RouterOS behaves.
func TestBehavesAsRouterOS(t *testing.T) {
	rows := []struct {
		n    int
		what string
		run  func(*testing.T)
	}{
		{1, "the five forms of a length, control bytes, limits before the login", lengths},
		{2, "words and sentences across segments, torn replies", segments},
		{3, "tags, and replies that mix", tags},
		{4, "the three ways of login", logins},
		{5, "commands before the login", early},
		{6, "a trap is followed by done", traps},
		{7, "empty prints", empty},
		{8, "quit, the end of a service, an address list", ends},
		{9, "IDs, lists of them, unknown ones", ids},
		{10, "versions", versions},
		{11, "unknown arguments and menus", unknown},
		{12, "uniqueness", unique},
		{13, "normalising", normalising},
		{14, "absent fields", absent},
		{15, "dynamic rows", dynamic},
		{16, "proplist and queries", queries},
		{17, "comments are octets", comments},
		{18, "a user who may only read", readOnly},
		{19, "pace, slow flash, hanging, half-open", pace},
		{20, "sessions are limited", sessions},
		{21, "Safe Mode and restored configurations", safeMode},
		{22, "humans", humans},
		{23, "a change whose reply is lost", lost},
		{24, "DNS", answers},
		{25, "api-ssl", secure},
		{26, "the log", logged},
	}
	for i, row := range rows {
		if row.n != i+1 {
			t.Fatalf("row %d is missing", i+1)
		}
		t.Run(strings.ReplaceAll(row.what, " ", "_"), row.run)
	}
}

func lengths(t *testing.T) {
	r := start(t, Options{})
	c := login(t, r)
	for _, n := range []int{1, 0x7f, 0x80, 0x3fff, 0x4000, 0xffff} {
		id := strings.TrimPrefix(c.say("/ip/dns/static/add", "=name=a.lan", "=address=192.0.2.1", "=comment="+strings.Repeat("x", n)), "!done =ret=")
		if got := r.Records()[0].Fields["comment"]; len(got) != n {
			t.Errorf("%d octets arrive as %d", n, len(got))
		}
		c.want("!done", "/ip/dns/static/remove", "=.id="+id)
	}
	for n, b := range map[uint32]string{0x7f: "\x7f", 0x80: "\x80\x80", 0x4000: "\xc0\x40\x00", 0x200000: "\xe0\x20\x00\x00", 0x10000000: "\xf0\x10\x00\x00\x00"} {
		if got, err := readLength(strings.NewReader(b)); got != n || err != nil {
			t.Errorf("%x is read as %x, %v", b, got, err)
		}
	}
	if _, err := c.conn.Write([]byte("\x05/quit\xf8")); err != nil || !c.closed() {
		t.Error("a control byte does not end the connection")
	}
	c = connect(t, r)
	c.send("/login", "=name="+strings.Repeat("x", maxEarlyWord))
	if !c.closed() {
		t.Error("a long word before the login is taken")
	}
	c = connect(t, r)
	for range maxEarlyNumber {
		c.want("!trap =message=invalid user name or password (6) | !done", "/login", "=name=x", "=password=y")
	}
	c.want("!fatal too many commands before login", "/login", "=name=x", "=password=y")
}

func segments(t *testing.T) {
	r := start(t, Options{})
	r.SetFaults(Faults{Torn: true})
	c := connect(t, r)
	both := appendSentence(appendSentence(nil, "/login", "=name=dnsteer", "=password=secret"), "/system/identity/print")
	for _, b := range both {
		c.conn.Write([]byte{b})
	}
	if got := c.read() + c.read(); got != "!done!re =name=router | !done" {
		t.Error(got)
	}
	c.send("/system/identity/print")
	c.conn.Write(slices.Concat(appendSentence(nil, "/system/identity/print"), []byte{0}, appendSentence(nil, "/system/identity/print")))
	if got := c.read() + c.read() + c.read(); got != strings.Repeat("!re =name=router | !done", 3) {
		t.Error(got)
	}
}

func tags(t *testing.T) {
	r := start(t, Options{})
	c := login(t, r)
	c.want("!re =name=router .tag=7 | !done .tag=7", "/system/identity/print", ".tag=7")
	c.want("!trap =category=0 =message=no such command or directory (x) .tag=8 | !done .tag=8", "/x", ".tag=8")
	r.SetFaults(Faults{Interleave: true})
	c.conn.Write(slices.Concat(appendSentence(nil, "/system/identity/print", ".tag=a"), appendSentence(nil, "/system/identity/print", ".tag=b")))
	got := []string{}
	for range 4 {
		s := c.sentence()
		got = append(got, s[0]+s[len(s)-1])
	}
	slices.Sort(got)
	if d := cmp.Diff([]string{"!done.tag=a", "!done.tag=b", "!re.tag=a", "!re.tag=b"}, got); d != "" {
		t.Error(d)
	}
}

func logins(t *testing.T) {
	for _, tt := range []struct {
		version, plain, challenge string
	}{
		{"7.20", "!done", "!trap =message=invalid user name or password (6) | !done"},
		{"6.47", "!done", "!trap =message=invalid user name or password (6) | !done"},
		{"6.44", "!done", "!done"},
		{"6.42", "", "!done"},
	} {
		t.Run(tt.version, func(t *testing.T) {
			r := start(t, Options{Version: tt.version, Username: "u", Password: "secret"})
			c := connect(t, r)
			got := c.say("/login", "=name=u", "=password=secret")
			if tt.plain != "" && got != tt.plain || tt.plain == "" && !strings.HasPrefix(got, "!done =ret=") {
				t.Errorf("plain: %s", got)
			}
			c = connect(t, r)
			challenge := strings.TrimPrefix(c.say("/login"), "!done =ret=")
			c.want(tt.challenge, "/login", "=name=u", "=response="+response("secret", challenge))
			c = connect(t, r)
			if got := c.say("/login", "=name=u", "=password=no"); tt.plain != "" && got != "!trap =message=invalid user name or password (6) | !done" {
				t.Errorf("wrong password: %s", got)
			}
			c.say("/login", "=name=u", "=password=secret")
			if challenge, ok := strings.CutPrefix(c.say("/login"), "!done =ret="); ok { // the connection stays open
				c.say("/login", "=name=u", "=response="+response("no", challenge))
			}
		})
	}
	if got := response("secret", "00112233445566778899aabbccddeeff"); got != "00c17511d224a5e93170632807d36388aa" {
		t.Error(got)
	}
}

func early(t *testing.T) {
	c := connect(t, start(t, Options{}))
	c.want("!fatal not logged in", "/ip/dns/static/print")
	if !c.closed() {
		t.Error("it stays open")
	}
}

func traps(t *testing.T) {
	c := login(t, start(t, Options{}))
	c.want("!trap =message=no such item | !done", "/ip/dns/static/set", "=.id=*FF", "=ttl=1m")
	c.want("!re =name=router | !done", "/system/identity/print")
}

func empty(t *testing.T) {
	for version, want := range map[string]string{"7.24": "!empty | !done", "7.18": "!empty | !done", "7.17": "!done", "6.48": "!done", "6.44": "!done"} {
		login(t, start(t, Options{Version: version})).want(want, "/ip/dns/static/print")
	}
}

func ends(t *testing.T) {
	r := start(t, Options{})
	c := login(t, r)
	c.want("!fatal session terminated on request", "/quit")
	if !c.closed() {
		t.Error("it stays open after /quit")
	}
	c = login(t, r)
	r.StopService()
	if !c.closed() {
		t.Error("it stays open after the service ended")
	}
	if err := r.StartService(t.Context()); err != nil {
		t.Fatal(err)
	}
	login(t, r)
	r.SetFaults(Faults{Deny: true})
	if !connect(t, r).closed() {
		t.Error("who is not in the list is let in")
	}
}

func ids(t *testing.T) {
	r := start(t, Options{})
	c := login(t, r)
	for i, want := range []string{"*1", "*2", "*3", "*4", "*5", "*6", "*7", "*8", "*9", "*A", "*B"} {
		name := "=name=" + string(rune('a'+i)) + ".lan"
		c.want("!done =ret="+want, "/ip/dns/static/add", name, "=address=192.0.2.1")
	}
	c.want("!done", "/ip/dns/static/remove", "=.id=*B")
	c.want("!done =ret=*C", "/ip/dns/static/add", "=name=z.lan", "=address=192.0.2.1")
	c.want("!done", "/ip/dns/static/set", "=numbers=*1,*2", "=ttl=5m")
	c.want("!trap =message=no such item | !done", "/ip/dns/static/set", "=.id=*3,*B,*4", "=ttl=7m")
	c.want("!re =.id=*1 | !re =.id=*2 | !done", "/ip/dns/static/print", "?ttl=5m", "=.proplist=.id")
	c.want("!re =.id=*3 | !done", "/ip/dns/static/print", "?ttl=7m", "=.proplist=.id")
	c.want("!trap =message=no such item | !done", "/ip/dns/static/remove", "=.id=*1,*FF,*2")
	if n := len(r.Records()); n != 10 {
		t.Errorf("%d rows", n)
	}
}

func versions(t *testing.T) {
	for _, tt := range []struct{ version, a, aaaa, sub string }{
		{"6.42", "=name=a.lan =address=192.0.2.1 =ttl=1d =disabled=false =dynamic=false", "unknown parameter type", "unknown parameter match-subdomain"},
		{"6.48", "=name=a.lan =address=192.0.2.1 =ttl=1d =disabled=false =dynamic=false", "", "unknown parameter match-subdomain"},
		{"7.12", "=name=a.lan =address=192.0.2.1 =ttl=1d =disabled=false =dynamic=false", "", ""},
		{"7.17", "=name=a.lan =type=A =address=192.0.2.1 =ttl=1d =disabled=false =dynamic=false", "", ""},
		{"7.24", "=name=a.lan =type=A =address=192.0.2.1 =ttl=1d =disabled=false =dynamic=false", "", ""},
	} {
		t.Run(tt.version, func(t *testing.T) {
			r := start(t, Options{Version: tt.version})
			do(t, r, "/ip/dns/static/add", "name=a.lan", "address=192.0.2.1")
			got := r.run([]string{"/ip/dns/static/print"}, caller{})[0]
			if d := cmp.Diff("!re =.id=*1 "+tt.a, strings.Join(got, " ")); d != "" {
				t.Error(d)
			}
			for args, want := range map[string]string{"type=AAAA": tt.aaaa, "match-subdomain=yes": tt.sub} {
				if _, err := r.Do("/ip/dns/static/add", "name="+args[:2]+".lan", args, "address=2001:db8::1"); message(err) != want {
					t.Errorf("%s: %v, want %q", args, err, want)
				}
			}
		})
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func unknown(t *testing.T) {
	c := login(t, start(t, Options{}))
	c.want("!trap =message=unknown parameter colour | !done", "/ip/dns/static/add", "=name=a.lan", "=colour=red")
	c.want("!trap =category=0 =message=no such command or directory (nowhere) | !done", "/ip/nowhere")
	c.want("!trap =category=0 =message=no such command | !done", "/ip/dns/static/shake")
	c.want("!trap =message=unknown parameter place-before | !done", "/ip/dns/static/set", "=.id=*1", "=place-before=*2")
}

func dynamic(t *testing.T) {
	r := start(t, Options{})
	if err := r.AddDynamic(map[string]string{"name": "phone.lan", "address": "192.0.2.9"}); err != nil {
		t.Fatal(err)
	}
	c := login(t, r)
	c.want("!trap =message=failure: can not change dynamic entry | !done", "/ip/dns/static/set", "=.id=*1", "=ttl=1m")
	c.want("!trap =message=failure: can not change dynamic entry | !done", "/ip/dns/static/remove", "=.id=*1")
	c.want("!re =dynamic=true | !done", "/ip/dns/static/print", "=.proplist=dynamic")
	if got, _ := ask(t, r, "udp", "phone.lan", "A"); !slices.Equal(got, []string{"86400 A 192.0.2.9"}) {
		t.Error(got)
	}
}

func readOnly(t *testing.T) {
	r := start(t, Options{})
	do(t, r, "/ip/dns/static/add", "name=a.lan", "address=192.0.2.1")
	c := login(t, r)
	r.SetFaults(Faults{ReadOnly: true})
	for _, verb := range []string{"add", "set", "remove", "enable", "disable", "move"} {
		c.want("!trap =message=not enough permissions (9) | !done", "/ip/dns/static/"+verb, "=.id=*1")
	}
	c.want("!re =.id=*1 | !done", "/ip/dns/static/print", "=.proplist=.id")
}

func pace(t *testing.T) {
	r := start(t, Options{Pace: Pace{Burst: 2, Fast: time.Microsecond, Slow: 30 * time.Millisecond}})
	c := login(t, r)
	begin := time.Now()
	for range 4 {
		c.say("/system/identity/print")
	}
	if d := time.Since(begin); d < 60*time.Millisecond {
		t.Errorf("two requests beyond the burst take %v", d)
	}
	r.SetFaults(Faults{SlowWrites: 50 * time.Millisecond})
	begin = time.Now()
	c.want("!done =ret=*1", "/ip/dns/static/add", "=name=a.lan", "=address=192.0.2.1")
	if d := time.Since(begin); d < 50*time.Millisecond {
		t.Errorf("a slow flash takes %v", d)
	}
	for name, deaf := range map[string]func(){
		"half-open": r.HalfOpen,
		"hang":      func() { r.SetFaults(Faults{Hang: true}) },
		"now":       func() { r.SetFaults(Faults{Each: At(1, HangNow)}) },
		"after":     func() { r.SetFaults(Faults{Each: At(1, HangAfter)}) },
	} {
		r.SetFaults(Faults{})
		c = login(t, r)
		deaf()
		c.send("/ip/dns/static/set", "=.id=*1", "=comment="+name)
		c.conn.SetDeadline(time.Now().Add(50 * time.Millisecond))
		if _, err := c.conn.Read(make([]byte, 1)); err == nil || !strings.Contains(err.Error(), "timeout") {
			t.Errorf("%s: %v", name, err)
		}
		done := func() bool { return r.Records()[0].Fields["comment"] == name }
		for limit := time.Now().Add(soon); name == "after" && !done() && time.Now().Before(limit); {
			time.Sleep(time.Millisecond) // what is done is done when the machine gets to it
		}
		if done() != (name == "after") {
			t.Errorf("%s: done %v", name, done())
		}
	}
}

func sessions(t *testing.T) {
	r := start(t, Options{MaxSessions: 2})
	first := login(t, r)
	login(t, r)
	if !connect(t, r).closed() {
		t.Error("a third is let in")
	}
	first.say("/quit")
	for r.Counts().Open > 1 {
		time.Sleep(time.Millisecond)
	}
	login(t, r)
}

func secure(t *testing.T) {
	r := start(t, Options{})
	conn, err := tlsClient(r)
	if err != nil {
		t.Fatal(err)
	}
	over(t, conn).want("!done", "/login", "=name=dnsteer", "=password=secret")
	cert := conn.ConnectionState().PeerCertificates[0]
	if cert.DNSNames != nil || cert.IPAddresses != nil || cert.Subject.String() != cert.Issuer.String() {
		t.Error("the certificate is not like a router's own")
	}
	if _, err := tlsClient(start(t, Options{NoCertificate: true})); err == nil || !strings.Contains(err.Error(), "handshake failure") {
		t.Error(err)
	}
}

func logged(t *testing.T) {
	r := start(t, Options{})
	c := login(t, r)
	c.say("/ip/dns/static/add", "=name=a.lan", "=address=192.0.2.1")
	c.say("/ip/dns/static/set", "=.id=*1", "=ttl=1m")
	c.say("/ip/dns/static/remove", "=.id=*1")
	c.say("/quit")
	connect(t, r).say("/login", "=name=dnsteer", "=password=no")
	for r.Counts().Open > 1 {
		time.Sleep(time.Millisecond)
	}
	want := []string{
		"user dnsteer logged in via api", "static dns entry added by dnsteer", "static dns entry changed by dnsteer",
		"static dns entry removed by dnsteer", "user dnsteer logged out via api", "login failure for user dnsteer via api",
	}
	got := r.Log()
	slices.Sort(got) // who is out and who comes in meet
	slices.Sort(want)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if n := r.Counts(); n.Logins != 1 || n.Writes != 3 {
		t.Errorf("%+v", n)
	}
}

func upstream(answer string) Upstream {
	return func(q dns.Question) ([]dns.RR, int) {
		rr, err := dns.NewRR(answer)
		if err != nil {
			panic(err)
		}
		if rr.Header().Rrtype != q.Qtype || rr.Header().Name != q.Name {
			return nil, dns.RcodeNameError
		}
		return []dns.RR{rr}, dns.RcodeSuccess
	}
}
