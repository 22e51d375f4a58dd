package config_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dnsteer/dnsteer/dnsserver"
	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/sites"
)

func load(t *testing.T, path string) *config.Config {
	t.Helper()
	cfg, err := config.LoadWith(path, full())
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// full are fixed options with what testdata/good/full.yaml takes from the
// environment.
func full() config.Options {
	opts := fixed()
	inner := opts.LookupEnv
	opts.LookupEnv = func(name string) (string, bool) {
		if name == "FINGERPRINT" {
			return strings.Repeat("cd:", 30) + "ef", true
		}
		return inner(name)
	}
	return opts
}

var compare = cmp.Options{
	cmp.Comparer(func(a, b netip.Addr) bool { return a == b }),
	cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }),
	cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b }),
}

func addrs(list ...string) []netip.Addr {
	var out []netip.Addr
	for _, s := range list {
		out = append(out, netip.MustParseAddr(s))
	}
	return out
}

// If this fails, a correct configuration of a rehearsal or of a user is
// refused.
func TestGood(t *testing.T) {
	for _, name := range cases(t, "testdata/good") {
		t.Run(name, func(t *testing.T) { load(t, "testdata/good/"+name) })
	}
}

// If this fails, a node is judged or answered by other settings than those
// that stand on it, on its site or in the defaults.
func TestSites(t *testing.T) {
	cfg := load(t, "testdata/good/full.yaml")
	berlin := cfg.Sites.Sites[0]
	for i := range berlin.Windows {
		w := &berlin.Windows[i]
		w.Schedule = nil // see TestWindow
	}
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	common := []sites.Probe{
		{Name: "icmp", Key: "icmp packets=3", Steer: true},
		{Name: "icmp-2", Key: "icmp packets=5", Steer: true},
		{Name: "web", Key: "tcp port=443", Steer: true},
	}
	quarantine := sites.Quarantine{Outages: 3, Within: 24 * time.Hour, Hold: 6 * time.Hour}
	want := sites.Site{
		Name: "berlin", Local: true, EmergencySite: "hamburg", FailoverAfter: 10 * time.Minute,
		WitnessAll: true, WitnessNodes: true,
		Threshold: 15 * time.Second, Interval: time.Second, Timeout: 500 * time.Millisecond,
		TTL: 20 * time.Second, TTLUnsettled: 2 * time.Second,
		Nodes: []sites.Node{
			{
				Name: "a", Addresses: addrs("10.1.0.11", "fd00:1::11"),
				Threshold: 10 * time.Second, Grace: 2 * time.Minute, Rise: 3, Require: 1,
				Interval: time.Second, Timeout: 500 * time.Millisecond,
				Failover: true, Failback: sites.FailbackAuto, Probes: common, Weight: 3,
			},
			{
				Name: "b", Addresses: addrs("10.1.0.12"),
				Threshold: 24 * time.Hour, Grace: 0, Rise: 1, Require: 2,
				Interval: 2 * time.Second, Timeout: time.Second,
				Failover: true, Failback: sites.FailbackManual, Weight: 0,
				Quarantine: sites.Quarantine{Outages: 5, Within: 12 * time.Hour, Hold: 24 * time.Hour},
				Probes: []sites.Probe{
					{Name: "http", Key: berlin.Nodes[1].Probes[0].Key, Steer: true},
					{Name: "http-2", Key: berlin.Nodes[1].Probes[1].Key, Steer: true},
					{Name: "tcp", Key: "tcp port=22"},
					{Name: "tls", Key: berlin.Nodes[1].Probes[3].Key},
					{Name: "tls-2", Key: berlin.Nodes[1].Probes[4].Key, Steer: true},
					{Name: "dns", Key: berlin.Nodes[1].Probes[5].Key, Steer: true},
					{Name: "refused", Key: berlin.Nodes[1].Probes[6].Key, Steer: true},
					{Name: "text", Key: berlin.Nodes[1].Probes[7].Key},
					{Name: "unnamed", Key: berlin.Nodes[1].Probes[8].Key},
					{Name: "exec", Key: berlin.Nodes[1].Probes[9].Key, Steer: true},
				},
			},
			{
				Name: "pair", Addresses: addrs("10.1.0.20"), Secondary: addrs("10.1.0.21"),
				Threshold: 10 * time.Second, Grace: 2 * time.Minute, Rise: 3, Require: 1,
				Interval: time.Second, Timeout: 500 * time.Millisecond,
				Failback: sites.FailbackManual, Probes: common, Weight: 1, Quarantine: quarantine,
			},
		},
		Pools: []sites.Pool{
			{Name: "default", Mode: sites.ActiveActive, Nodes: []int{0, 1, 2}, Policy: sites.PolicyIPHash, OnEmpty: sites.OnEmptyRemove, MinHold: time.Minute},
			{Name: "streaming", Mode: sites.ActivePassive, Nodes: []int{1, 0}, MinHold: 5 * time.Second},
			{Name: "shared", Mode: sites.ActiveActive, Nodes: []int{0, 1}, Policy: sites.PolicyWeighted, OnEmpty: sites.OnEmptyAnswer, Sorry: addrs("10.9.0.1", "fd00:9::1"), MinHold: time.Minute},
		},
		Witnesses: []sites.Witness{
			{Name: "resolver 10.1.0.1", Addr: netip.MustParseAddr("10.1.0.1")},
			{Name: "resolver fd00:1::1", Addr: netip.MustParseAddr("fd00:1::1")},
			{Name: "resolver [fd00:1::2]:5353", Addr: netip.MustParseAddr("fd00:1::2")},
			{Name: "icmp 10.1.0.254", Addr: netip.MustParseAddr("10.1.0.254")},
			{Name: "tcp [fd00:1::254]:22", Addr: netip.MustParseAddr("fd00:1::254")},
			{Name: "dns 10.1.0.2:5353 example.lan SOA", Addr: netip.MustParseAddr("10.1.0.2")},
			{Name: "exec 10.1.0.3 check", Addr: netip.MustParseAddr("10.1.0.3")},
			{Name: "exec 10.1.0.3 check-2", Addr: netip.MustParseAddr("10.1.0.3")},
		},
		Windows: []sites.Window{
			{Nodes: []int{1}, Text: "0 3 * * SUN", Duration: 2 * time.Hour, Location: zone},
			{Text: "30 2 1 * *", Duration: 15 * time.Minute, Location: time.UTC},
		},
	}
	if diff := cmp.Diff(want, berlin, compare, cmp.Comparer(func(a, b *time.Location) bool { return a.String() == b.String() })); diff != "" {
		t.Errorf("berlin (-want +got):\n%s", diff)
	}
	if hamburg := cfg.Sites.Sites[1]; !hamburg.NoWitness || hamburg.Pools[0].Mode != sites.ActivePassive || hamburg.Interval != 5*time.Second || hamburg.FailoverAfter != 0 {
		t.Errorf("hamburg: %+v", hamburg)
	}
	if want := (sites.Brake{Percent: 40, Within: 2 * time.Minute}); cfg.Sites.Brake != want {
		t.Errorf("brake %+v, want %+v", cfg.Sites.Brake, want)
	}
	if cfg.Instance != "berlin-controller" || cfg.StatePath != "testdata/good/state" {
		t.Errorf("instance %q, state %q", cfg.Instance, cfg.StatePath)
	}
}

// If this fails, clients get the answers of another site or none, or the zone
// lacks a record.
func TestDNS(t *testing.T) {
	cfg := load(t, "testdata/good/full.yaml")
	got := *cfg.DNS
	var records []string
	for _, rr := range got.Zones[0].Records {
		records = append(records, strings.Join(strings.Fields(rr.String()), " "))
	}
	transfer, notify := got.Zones[0].Transfer, got.Zones[0].Notify
	got.Zones = nil
	prefix := netip.MustParsePrefix
	second := time.Second
	want := dnsserver.Config{
		Listen:      []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:8443"), netip.MustParseAddrPort("[::1]:5353")},
		DefaultSite: "hamburg",
		AllowQuery:  []netip.Prefix{prefix("10.0.0.0/8"), prefix("fd00::/8"), prefix("192.0.2.7/32")},
		Views: []dnsserver.View{
			{Site: "berlin", Clients: []netip.Prefix{prefix("10.1.0.0/16"), prefix("fd00:1::/48"), prefix("192.0.2.7/32")}, Resolvers: addrs("10.1.0.1", "fd00:1::1", "fd00:1::2")},
			{Site: "hamburg"},
		},
		Services: []dnsserver.Service{
			{Hosts: []string{"app.example.lan", "*.apps.example.lan"}, Pool: "default", Sites: []dnsserver.ServiceSite{
				{Site: "berlin", TTL: 15 * second, TTLUnsettled: 2 * second}, {Site: "hamburg", TTL: 15 * second, TTLUnsettled: 2 * second},
			}},
			{Hosts: []string{"tv.example.lan"}, Pool: "streaming", Sites: []dnsserver.ServiceSite{{Site: "berlin", TTL: 20 * second, TTLUnsettled: 2 * second}}},
		},
		Keys: []dnsserver.Key{
			{Name: "xfr.example.lan", Algorithm: dnsserver.HMACSHA256, Secret: dnsserver.Secret("0123456789abcdef0123456789abcdef")},
			{Name: "told.example.lan", Algorithm: dnsserver.HMACSHA512, Secret: dnsserver.Secret("0123456789abcdef0123456789abcdef")},
		},
		QueryLog:  dnsserver.QueryLog{Every: 1000, Clients: true},
		RateLimit: dnsserver.RateLimit{PerSecond: 100, Slip: 3, DryRun: true},
		ServerID:  "dns-a", Version: "none",
	}
	if diff := cmp.Diff(want, got, compare); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	wantTransfer := &dnsserver.Transfer{Allow: []netip.Prefix{prefix("10.1.0.54/32"), prefix("fd00:1::54/128")}, Keys: []string{"xfr.example.lan"}, Site: "berlin"}
	if diff := cmp.Diff(wantTransfer, transfer, compare); diff != "" {
		t.Errorf("transfer (-want +got):\n%s", diff)
	}
	wantNotify := []dnsserver.Secondary{
		{Addr: netip.MustParseAddrPort("10.1.0.54:53"), Key: "xfr.example.lan"},
		{Addr: netip.MustParseAddrPort("[fd00:1::54]:5353"), Key: "told.example.lan"},
	}
	if diff := cmp.Diff(wantNotify, notify, compare); diff != "" {
		t.Errorf("notify (-want +got):\n%s", diff)
	}
	wantRecords := []string{
		"ns1.example.lan. 300 IN A 10.0.0.53",
		`example.lan. 3600 IN TXT "costs" "$5"`,
		"example.lan. 3600 IN NS ns1.example.lan.",
		"example.lan. 3600 IN NS ns.example.net.",
		`example.lan. 3600 IN SOA ns1.example.lan. dns\.admin.example.lan. 1 3600 600 1209600 60`,
	}
	if diff := cmp.Diff(wantRecords, records); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

// If this fails, a configuration in a folder loses files, or a zone file the
// records that it includes.
func TestFolder(t *testing.T) {
	cfg := load(t, "testdata/good/folder-split")
	var records []string
	for _, rr := range cfg.DNS.Zones[0].Records {
		records = append(records, strings.Join(strings.Fields(rr.String()), " "))
	}
	want := []string{
		"example.lan. 3600 IN SOA ns1.example.lan. admin.example.lan. 2026030101 3600 600 86400 60",
		"example.lan. 3600 IN NS ns1.example.lan.",
		"ns1.example.lan. 3600 IN A 10.0.0.53",
		"mail.example.lan. 3600 IN A 10.0.0.25",
		"example.lan. 3600 IN MX 10 mail.example.lan.",
		`last.example.lan. 3600 IN TXT "after the include"`,
		"www.example.lan. 300 IN CNAME mail.example.lan.",
	}
	if diff := cmp.Diff(want, records); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if got := cfg.Sites.Services[0]; got.Hosts[0] != "app.example.lan" || len(got.Sites) != 2 {
		t.Errorf("service: %+v", got)
	}
	if cfg.DNS.AllowQuery != nil || cfg.DNS.Zones[0].Name != "example.lan" || cfg.StatePath != "testdata/good/state" {
		t.Errorf("allow %v, zone %q, state %q", cfg.DNS.AllowQuery, cfg.DNS.Zones[0].Name, cfg.StatePath)
	}
	wantFiles := []string{
		"testdata/good/folder-split/10-common.yaml", "testdata/good/folder-split/20-berlin.yaml", "testdata/good/folder-split/30-hamburg.yaml",
		"testdata/good/folder-split/zones/example.lan.zone", "testdata/good/folder-split/zones/sub/mail.zone",
	}
	if diff := cmp.Diff(wantFiles, cfg.Files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// If this fails, a maintenance window begins at another time than the one that
// stands in the configuration.
func TestWindow(t *testing.T) {
	w := load(t, "testdata/good/full.yaml").Sites.Sites[0].Windows[0]
	at := time.Date(2026, 3, 25, 12, 0, 0, 0, time.UTC)
	if got, want := w.Schedule.Next(at), time.Date(2026, 3, 29, 3, 0, 0, 0, time.UTC); !got.Equal(want) {
		t.Errorf("next window %s, want %s", got, want)
	}
}

// If this fails, a client of a site may not ask unless it is named in
// allow_query.
func TestAllowQueryByDefault(t *testing.T) {
	cfg, err := config.Parse("x.yaml", []byte(`
dns: {listen: ["127.0.0.1:0", "192.0.2.53:0"], zones: [{name: example.lan, ns: [ns.example.net], hostmaster: a@example.lan}]}
sites: [{name: a, resolver: 198.51.100.1, clients: [203.0.113.0/24], nodes: [{name: n, addresses: [10.0.0.1]}]}]
`), fixed())
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"127.0.0.1", "10.9.9.9", "172.31.0.1", "192.168.1.1", "169.254.1.1", "::1", "fd12::1", "fe80::1", "198.51.100.1", "203.0.113.9", "192.0.2.53"} {
		if !covered(cfg.DNS.AllowQuery, text) {
			t.Errorf("%s may not ask", text)
		}
	}
	for _, text := range []string{"198.51.100.2", "192.0.2.54", "8.8.8.8", "2001:db8::1", "172.32.0.1"} {
		if covered(cfg.DNS.AllowQuery, text) {
			t.Errorf("%s may ask", text)
		}
	}
}

func covered(list []netip.Prefix, addr string) bool {
	for _, p := range list {
		if p.Contains(netip.MustParseAddr(addr)) {
			return true
		}
	}
	return false
}
