package adguardsim

import (
	"fmt"
	"strings"
)

// script is what both are asked, one after the other.
func script() (steps []string) {
	names := []string{}
	ask := func() {
		for _, n := range names {
			for _, of := range []string{"A", "AAAA", "TXT", "HTTPS"} {
				steps = append(steps, "? "+n+". "+of)
			}
		}
	}
	do := func(list ...string) { steps = append(steps, list...) }
	add := func(domain, answer string) {
		do(fmt.Sprintf(`POST /control/rewrite/add json {"domain":%q,"answer":%q}`, domain, answer), "GET /control/rewrite/list")
	}
	// Who is let in.
	do("forget", "GET /control/status", "GET /control/nope", "GET /nope", "POST /control/rewrite/add json {}", "GET /control/rewrite/add",
		"stale", "GET /control/status", "basic dnsteer:pass GET /control/rewrite/list", "forget",
		"basic dnsteer:pass GET /control/rewrite/list", "basic dnsteer:bad GET /control/rewrite/list", "basic dnsteer:pass GET /control/rewrite/list",
		"GET /control/login", "POST /control/login json {", "POST /control/login none {}", `POST /control/login json {"name":"dnsteer","password":"bad"}`, "login")
	// What is wrong with a request.
	do("GET /control/nope", "GET /control/rewrite/add", "PUT /control/rewrite/add json {}", "POST /control/rewrite/list json {}", "POST /control/rewrite/list", "HEAD /control/rewrite/list",
		"POST /control/rewrite/add charset {}", "POST /control/rewrite/add text/plain {}", "POST /control/rewrite/add none {}", "POST /control/rewrite/add json", "POST /control/rewrite/add",
		"POST /control/rewrite/add json {", "POST /control/rewrite/add json []", "POST /control/rewrite/add json big", "POST /control/rewrite/add json {\"domain\":5}",
		`POST /control/rewrite/add json {"domain":"e.lan","answer":"192.0.2.1","enabled":"yes"}`, `POST /control/rewrite/add json {"domain":"e.lan","answer":"192.0.2.1","enabled":false}`, `POST /control/rewrite/add json {"domain":"e.lan","answer":"192.0.2.2","comment":"x"}`,
		"POST /control/rewrite/update json {}", "PUT /control/rewrite/update json {", "GET /control/rewrite/list", "GET /control/filtering/status", "GET /control/dns_info")
	// What is kept.
	add("app.lan", "192.0.2.10")
	add("app.lan", "192.0.2.11")
	add("app.lan", "192.0.2.11")
	add("UPPER.Lan", "2001:DB8:0:0::1")
	add("upper.lan", "2001:db8::1")
	add("dot.lan.", "192.0.2.1")
	add("", "192.0.2.1")
	for _, a := range []string{"192.0.2.999", "192.0.2.1:80", "tgt.lan.", "bad_name.lan", "::ffff:192.0.2.7"} {
		add("map.lan", a)
	}
	names = []string{"app.lan", "APP.lan", "upper.lan", "dot.lan", "map.lan", "sub.app.lan", "nothing.lan"}
	ask()
	pair := func(d, a string) string { return fmt.Sprintf(`{"domain":%q,"answer":%q}`, d, a) }
	update := func(d, a, e, b, on string) {
		do(fmt.Sprintf(`PUT /control/rewrite/update json {"target":%s,"update":%s%s}`, pair(d, a), strings.TrimSuffix(pair(e, b), "}"), on), "GET /control/rewrite/list")
	}
	remove := func(d, a string) { do("POST /control/rewrite/delete json "+pair(d, a), "GET /control/rewrite/list") }
	remove("APP.lan", "192.0.2.11")
	remove("nope.lan", "192.0.2.11")
	update("app.lan", "192.0.2.10", "App.lan", "192.0.2.11", "}")
	update("app.lan", "192.0.2.10", "app.lan", "192.0.2.11", "}")
	update("app.lan", "192.0.2.11", "app.lan", "192.0.2.12", `,"enabled":false}`)
	update("app.lan", "192.0.2.12", "app.lan", "192.0.2.13", "}")
	update("app.lan", "192.0.2.13", "app.lan", "192.0.2.999", "}")
	ask()
	update("app.lan", "192.0.2.13", "app.lan", "192.0.2.11", `,"enabled":true}`)
	remove("app.lan", "192.0.2.11")
	ask()
	// What is answered.
	for _, r := range [][2]string{
		{"*.wc.lan", "192.0.2.50"},
		{"*.wc.lan", "2001:db8::50"},
		{"app.wc.lan", "192.0.2.51"},
		{"*.deep.wc.lan", "192.0.2.60"},
		{"*.wc.lan", "192.0.2.52"},
		{"only.wc.lan", "A"},
		{"pass.wc.lan", "pass.wc.lan"},
		{"exc.lan", "192.0.2.70"},
		{"exc.lan", "AAAA"},
		{"alias.lan", "exc2.lan"},
		{"exc2.lan", "192.0.2.80"},
		{"alias.lan", "192.0.2.81"},
		{"*.cn.lan", "exc2.lan"},
		{"a.cn.lan", "192.0.2.82"},
		{"x.exact.lan", "exc2.lan"},
		{"*.exact.lan", "192.0.2.83"},
		{"loop1.lan", "loop2.lan"},
		{"loop2.lan", "loop1.lan"},
		{"chain.lan", "alias.lan"},
		{"*.self.lan", "*.self.lan"},
		{"*.ea.lan", "A"},
		{"*.ea.lan", "192.0.2.84"},
		{"b.ea.lan", "192.0.2.85"},
		{"*.", "192.0.2.86"},
		{"*lan2", "192.0.2.87"},
	} {
		add(r[0], r[1])
	}
	names = []string{"x.wc.lan", "wc.lan", "a.b.wc.lan", "app.wc.lan", "x.deep.wc.lan", "deep.wc.lan", "only.wc.lan", "pass.wc.lan", "exc.lan", "alias.lan", "ALIAS.lan", "a.cn.lan", "b.cn.lan", "x.exact.lan", "y.exact.lan", "loop1.lan", "chain.lan", "q.self.lan", "b.ea.lan", "c.ea.lan", "x.lan2", "lan2", "xlan2"}
	ask()
	do(`POST /control/rewrite/add json {"domain":"exc.lan","answer":"A"}`)
	ask()
	// The switches and the TTL.
	names = []string{"x.wc.lan", "alias.lan"}
	for _, s := range []string{
		`POST /control/dns_config json {"blocked_response_ttl":3}`, `POST /control/dns_config json {"blocked_response_ttl":0}`, `POST /control/dns_config json {"blocked_response_ttl":-1}`, `POST /control/dns_config json {}`,
		`POST /control/protection json {"enabled":false,"duration":0}`, `POST /control/filtering/config json {"enabled":false,"interval":24}`, `POST /control/filtering/config json {"enabled":true,"interval":24}`,
		`PUT /control/rewrite/settings/update json {"enabled":false}`, `PUT /control/rewrite/settings/update json {"enabled":true}`, `PUT /control/rewrite/settings/update json {}`, `PUT /control/rewrite/settings/update json {`,
	} {
		do(s, "GET /control/dns_info", "GET /control/filtering/status", "GET /control/rewrite/settings")
		ask()
	}
	// The lock-out.
	for range 6 {
		do(`POST /control/login json {"name":"dnsteer","password":"bad"}`)
	}
	do("login", "GET /control/rewrite/list", "forget", "basic dnsteer:pass GET /control/rewrite/list")
	return steps
}
