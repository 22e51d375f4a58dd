package main

import (
	"fmt"
	"strconv"
	"strings"
)

// place is where a server runs.
type place struct {
	dir     string // of its own
	port    uint16
	workers int
	probed  uint16 // TCP port that answers probes on 127.0.0.1
}

// server is one that is measured.
type server struct {
	name    string
	program string
	// files are its configuration, by path below its folder.
	files func(place) map[string]string
	args  func(place) []string
}

// servers lists all that are known: ours, as it is run in earnest, and others.
// The steered names are under failover for ours and gdnsd, and records of the
// zone for the others.
func servers(ours string) []server {
	return []server{
		{"dnsteer", ours, oursFiles, func(p place) []string { return []string{"serve", "--config", p.dir + "/dnsteer.yaml"} }},
		{"nsd", "nsd", nsdFiles, func(p place) []string { return []string{"-d", "-c", p.dir + "/nsd.conf"} }},
		{"knot", "knotd", knotFiles, func(p place) []string { return []string{"-c", p.dir + "/knot.conf"} }},
		{"gdnsd", "gdnsd", gdnsdFiles, func(p place) []string { return []string{"-c", p.dir, "start"} }},
		{"pdns", "pdns_server", pdnsFiles, func(p place) []string { return []string{"--config-dir=" + p.dir} }},
		{"bind", "named", bindFiles, func(p place) []string {
			return []string{"-f", "-n", strconv.Itoa(p.workers), "-c", p.dir + "/named.conf"}
		}},
		{"coredns", "coredns", corednsFiles, func(p place) []string { return []string{"-conf", p.dir + "/Corefile"} }},
	}
}

func oursFiles(p place) map[string]string {
	var hosts []string
	for i := range steered {
		hosts = append(hosts, fmt.Sprintf("f%d.%s", i, zoneName))
	}
	return map[string]string{
		"zone": zoneText(false),
		"dnsteer.yaml": fmt.Sprintf(`state: {path: state}
dns:
  listen: ["127.0.0.1:%d"]
  default_site: here
  zones: [{name: %s, file: zone}]
defaults: {probe_interval: 2s, probe_timeout: 1s}
sites:
  - name: here
    witnesses: none
    clients: [127.0.0.0/8]
    nodes:
      - {name: a, addresses: [127.0.0.1], probes: [{type: tcp, port: %d}]}
services:
  - {hosts: [%s], ttl: 30s}
`, p.port, zoneName, p.probed, strings.Join(hosts, ", ")),
	}
}

// signedFiles are ours with a zone that is signed.
func signedFiles(p place) map[string]string {
	out := oursFiles(p)
	out["dnsteer.yaml"] = strings.Replace(out["dnsteer.yaml"], "file: zone}", "file: zone, dnssec: on}", 1)
	return out
}

func nsdFiles(p place) map[string]string {
	return map[string]string{
		"zone": zoneText(true),
		"nsd.conf": fmt.Sprintf(`server:
  ip-address: 127.0.0.1@%[1]d
  server-count: %[2]d
  reuseport: yes
  username: ""
  zonesdir: "%[3]s"
  logfile: "%[3]s/log"
  pidfile: "%[3]s/pid"
  database: ""
  xfrdfile: "%[3]s/xfrd.state"
  zonelistfile: "%[3]s/zone.list"
  xfrdir: "%[3]s"
  minimal-responses: yes
  round-robin: yes
  rrl-ratelimit: 0
remote-control:
  control-enable: no
zone:
  name: %[4]s
  zonefile: zone
`, p.port, p.workers, p.dir, zoneName),
	}
}

func knotFiles(p place) map[string]string {
	return map[string]string{
		"zone":        zoneText(true),
		"run/.keep":   "",
		"store/.keep": "",
		"knot.conf": fmt.Sprintf(`server:
    listen: 127.0.0.1@%[1]d
    rundir: %[3]s/run
    udp-workers: %[2]d
    tcp-workers: 1
    background-workers: 1
    answer-rotation: on
log:
  - target: %[3]s/log
    any: warning
database:
    storage: %[3]s/store
zone:
  - domain: %[4]s
    storage: %[3]s
    file: zone
    journal-content: none
    zonefile-load: whole
    zonefile-sync: -1
`, p.port, p.workers, p.dir, zoneName),
	}
}

func gdnsdFiles(p place) map[string]string {
	var zone strings.Builder
	zone.WriteString(strings.ReplaceAll(strings.TrimPrefix(zoneText(false), "$ORIGIN "+zoneName+".\n"), " IN ", " "))
	for i := range steered {
		fmt.Fprintf(&zone, "f%d 30/30 DYNA multifo!nodes\n", i)
	}
	return map[string]string{
		"zones/" + zoneName: zone.String(),
		"run/.keep":         "",
		"state/.keep":       "",
		"config": fmt.Sprintf(`options => {
  listen => 127.0.0.1
  dns_port => %[1]d
  udp_threads => %[2]d
  tcp_threads => 1
  run_dir => %[3]s/run
  state_dir => %[3]s/state
}
service_types => {
  probe => { plugin => tcp_connect, port => %[4]d, interval => 2, timeout => 1 }
}
plugins => {
  multifo => {
    service_types => probe
    nodes => { addrs_v4 => [ 127.0.0.1 ] }
  }
}
`, p.port, p.workers, p.dir, p.probed),
	}
}

func pdnsFiles(p place) map[string]string {
	return map[string]string{
		"zone":      zoneText(true),
		"bind.conf": fmt.Sprintf("zone %q { type master; file %q; };\n", zoneName, p.dir+"/zone"),
		"pdns.conf": fmt.Sprintf(`launch=bind
bind-config=%[3]s/bind.conf
local-address=127.0.0.1
local-port=%[1]d
socket-dir=%[3]s
receiver-threads=%[2]d
distributor-threads=1
reuseport=yes
daemon=no
guardian=no
disable-syslog=yes
loglevel=3
webserver=no
setuid=0
setgid=0
`, p.port, p.workers, p.dir),
	}
}

func bindFiles(p place) map[string]string {
	return map[string]string{
		"zone": zoneText(true),
		"named.conf": fmt.Sprintf(`options {
  directory %[2]q; pid-file %[3]q; session-keyfile none;
  listen-on port %[1]d { 127.0.0.1; }; listen-on-v6 { none; };
  recursion no; minimal-responses yes; allow-transfer { none; };
  dnssec-validation no; querylog no; notify no; zone-statistics no;
};
controls { };
logging { category default { null; }; };
zone %[4]q { type primary; file "zone"; };
`, p.port, p.dir, p.dir+"/pid", zoneName),
	}
}

// corednsFiles leave the zone as it is while the server runs.
func corednsFiles(p place) map[string]string {
	return map[string]string{
		"zone": zoneText(true),
		"Corefile": fmt.Sprintf("%s:%d {\n  bind 127.0.0.1\n  file %s/zone %s {\n    reload 0\n  }\n}\n",
			zoneName, p.port, p.dir, zoneName),
	}
}
