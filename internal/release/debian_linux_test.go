package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// packages are what the test's releases consist of.
type packages struct{ older, newer, rpm, archive string }

// here is this machine.
var here = system{runtime.GOOS, runtime.GOARCH}

// build makes two releases for this machine, and the first of them twice, in
// different folders.
func build(t *testing.T) packages {
	t.Helper()
	if !slices.Contains(systems, here) {
		notTested(t, "there are no packages for %s", here)
	}
	one := release{root: copyOfSources(t), out: t.TempDir(), tools: filepath.Join(top, ".tools"), version: "1.0.0", date: sourcesDate}
	two := one
	two.root, two.out = copyOfSources(t), t.TempDir()
	var p packages
	for _, r := range []release{one, two} {
		if err := r.files(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.older = link(t, r, here, "deb")
		p.rpm = link(t, r, here, "rpm")
	}
	name, err := one.archive(here, filepath.Join(one.root, "bin", "release", here.name(), here.program()), "dnsteer_1.0.0_"+here.name())
	if err != nil {
		t.Fatal(err)
	}
	p.archive = filepath.Join(one.out, name)
	for _, name := range []string{p.older, p.rpm} {
		name = filepath.Base(name)
		if a, b := read(t, filepath.Join(one.out, name)), read(t, filepath.Join(two.out, name)); !bytes.Equal(a, b) {
			t.Errorf("two builds of %s differ: people cannot verify what they install", name)
		}
	}
	path := filepath.Join(two.root, "deploy", "package", "dnsteer.yaml")
	writeFile(t, path, string(read(t, path))+"\n# New in 1.1.0.\n")
	two.version = "1.1.0"
	p.newer = link(t, two, here, "deb")
	return p
}

// link makes the binary and a package of it.
func link(t *testing.T, r release, s system, kind string) string {
	t.Helper()
	binary := filepath.Join(r.root, "bin", "release", s.name(), s.program())
	if err := r.binary(t.Context(), s, binary); err != nil {
		t.Fatal(err)
	}
	name, err := r.pack(t.Context(), s, binary, kind)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(r.out, name)
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// edited is a configuration as an operator writes it: port 53, and a node that
// is asked for an echo.
const edited = `# Edited.
dns:
  listen: ["127.0.0.1:53"]
  zones:
    - {name: example.lan, ns: [ns1.example.lan], hostmaster: admin@example.lan, records: ["ns1 300 IN A 127.0.0.1"]}
sites:
  - name: berlin
    local: true
    resolver: {address: "127.0.0.1:53", ask: ns1.example.lan, expect: [127.0.0.1]}
    clients: [127.0.0.0/8]
    nodes:
      - {name: a, addresses: [127.0.1.11], probes: [{type: icmp}]}
      - {name: b, addresses: [127.0.1.12], probes: [{type: icmp}]}
services:
  - {hosts: [app.example.lan]}
`

// dropIn has the service's log where the test reads it when something fails,
// and gives a machine that has much else to do the time that it needs.
const dropIn = "[Service]\nStandardOutput=append:/run/dnsteer.log\nStandardError=append:/run/dnsteer.log\n" +
	"TimeoutStartSec=300\nTimeoutStopSec=300\nWatchdogSec=300\n"

// If this fails, what people install is not what these sources make, or does not
// behave on their machines as they expect of a package.
func TestPackages(t *testing.T) {
	p := build(t)
	t.Run("Debian", func(t *testing.T) { debian(t, p) })
	t.Run("Debian without systemd", func(t *testing.T) { withoutSystemd(t, p) })
	t.Run("rpm", func(t *testing.T) { rpm(t, p) })
	t.Run("archive", func(t *testing.T) { fromArchive(t, p) })
}

// The life of the package on a machine: if this fails, an upgrade takes DNS away,
// or an operator's settings, or removal leaves a service behind. The unit runs
// under a real systemd, so a hardening that stops the program is found as well.
func debian(t *testing.T, p packages) {
	m := startMachine(t, "systemd")
	m.dropIn(t)
	dig := []string{"dig", "+short", "+tries=5", "+time=10", "@127.0.0.1", "app.example.lan"}

	t.Log("the first installation starts it, with a configuration that watches nothing")
	m.run(t, "dpkg", "-i", m.share(t, p.older))
	m.says(t, "active", "systemctl", "is-active", "dnsteer.service")
	m.says(t, "enabled", "systemctl", "is-enabled", "dnsteer.service")
	m.says(t, "127.0.0.1", "dig", "+short", "+tries=5", "+time=10", "-p", "5300", "@127.0.0.1", "ns1.example.lan")
	m.until(t, "healthy", "dnsteer", "healthcheck")
	m.says(t, "750 root:dnsteer\n640 root:dnsteer\n750 dnsteer:dnsteer", "stat", "-c", "%a %U:%G", "/etc/dnsteer", "/etc/dnsteer/dnsteer.yaml", "/var/lib/dnsteer")
	status := m.run(t, "sh", "-c", "cat /proc/$(systemctl show -P MainPID dnsteer.service)/status")
	for _, want := range []string{"CapEff:\t0000000000002400", "CapBnd:\t0000000000002400", "NoNewPrivs:\t1", "Seccomp:\t2"} {
		if !strings.Contains(status, want) {
			t.Errorf("the process has not %q", want)
		}
	}
	m.run(t, "test", "-x", "/run/changes/usr/bin/dnsteer") // or the search after the purge would see nothing
	if strings.Contains(status, "Uid:\t0") {
		t.Error("it runs as root")
	}

	t.Log("an operator edits the configuration and gives an order")
	m.write(t, "/etc/dnsteer/dnsteer.yaml", edited)
	m.run(t, "systemctl", "reload", "dnsteer.service")
	m.until(t, "echo after", "dnsteer", "probe", "berlin/a")
	m.until(t, "127.0.1.11\n127.0.1.12", append([]string{"sh", "-c", `"$@" | sort`, "sh"}, dig...)...)
	m.run(t, "dnsteer", "maintenance", "berlin/a", "--reason", "a new disk")
	m.until(t, "127.0.1.12", dig...)

	t.Log("a faulty configuration is refused, and nothing stops")
	m.write(t, "/etc/dnsteer/dnsteer.yaml", "nonsense: true\n")
	if out, err := m.try(t, "systemctl", "reload", "dnsteer.service"); err == nil {
		t.Errorf("reload takes nonsense: %s", out)
	}
	m.says(t, "active", "systemctl", "is-active", "dnsteer.service")
	m.says(t, "127.0.1.12", dig...)
	m.write(t, "/etc/dnsteer/dnsteer.yaml", edited)
	m.run(t, "systemctl", "reload", "dnsteer.service")

	t.Log("an upgrade restarts it and keeps what was edited and ordered")
	m.run(t, "dpkg", "--force-confold", "-i", m.share(t, p.newer))
	m.says(t, "active", "systemctl", "is-active", "dnsteer.service")
	if out := m.run(t, "dnsteer", "version"); !strings.Contains(out, "1.1.0") {
		t.Errorf("the version is %s", out)
	}
	m.until(t, "a new disk", "dnsteer", "status")
	m.until(t, "127.0.1.12", dig...)
	m.says(t, strings.TrimSpace(edited), "cat", "/etc/dnsteer/dnsteer.yaml")
	m.says(t, "640 root:dnsteer", "stat", "-c", "%a %U:%G", "/etc/dnsteer/dnsteer.yaml")
	m.run(t, "grep", "-q", "New in 1.1.0", "/etc/dnsteer/dnsteer.yaml.dpkg-dist")

	t.Log("removal stops it and keeps settings and state, also for a later installation")
	m.run(t, "dpkg", "-r", "dnsteer")
	m.run(t, "test", "-f", "/etc/dnsteer/dnsteer.yaml", "-a", "-f", "/var/lib/dnsteer/dnsteer.db")
	m.run(t, "sh", "-c", "! pgrep -x dnsteer && ! test -e /usr/lib/systemd/system/dnsteer.service")
	m.run(t, "sh", "-c", `printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d; chmod 755 /usr/sbin/policy-rc.d`)
	m.run(t, "dpkg", "-i", "/mnt/"+filepath.Base(p.newer))
	m.says(t, "inactive", "systemctl", "is-active", "dnsteer.service") // policy-rc.d forbids starts
	m.run(t, "rm", "/usr/sbin/policy-rc.d")
	m.run(t, "systemctl", "start", "dnsteer.service")
	m.until(t, "a new disk", "dnsteer", "status")

	t.Log("purge leaves nothing that is the package's")
	m.run(t, "dpkg", "-P", "dnsteer")
	m.run(t, "sh", "-c", "! pgrep -x dnsteer")
	m.says(t, "", "find", "/run/changes", "/etc/systemd/system", "/usr/lib/systemd/system", "-name", "*dnsteer*", "!", "-type", "c") // "c": that it is gone
}

// A machine without systemd, such as a container that is being built: if this
// fails, the package cannot be installed there.
func withoutSystemd(t *testing.T, p packages) {
	m := startMachine(t, "none")
	m.run(t, "dpkg", "-i", m.share(t, p.older))
	m.run(t, "sh", "-c", "! pgrep -x dnsteer")
	m.says(t, "750 root:dnsteer\n640 root:dnsteer\n750 dnsteer:dnsteer", "stat", "-c", "%a %U:%G", "/etc/dnsteer", "/etc/dnsteer/dnsteer.yaml", "/var/lib/dnsteer")
	m.run(t, "setpriv", "--reuid", "dnsteer", "--regid", "dnsteer", "--init-groups", "dnsteer", "check")
	m.run(t, "dpkg", "-P", "dnsteer")
	m.run(t, "sh", "-c", "! test -e /var/lib/dnsteer && ! test -e /etc/dnsteer")
}

// If this fails, the rpm lacks a file, or a script of it does not run.
func rpm(t *testing.T, p packages) {
	if _, err := exec.LookPath("rpm"); err != nil {
		notTested(t, "rpm is missing here (Debian: rpm)")
	}
	m := startMachine(t, "systemd")
	m.dropIn(t)
	path := m.share(t, p.rpm)
	// The database is empty, so what systemd brings is not known in it.
	m.run(t, "rpm", "--install", "--nodeps", path)
	m.says(t, "1.0.0-1 Apache-2.0", "rpm", "-q", "--queryformat", "%{VERSION}-%{RELEASE} %{LICENSE}", "dnsteer")
	m.says(t, "/etc/dnsteer/dnsteer.yaml", "rpm", "-q", "--configfiles", "dnsteer")
	m.says(t, "750 root:dnsteer\n640 root:dnsteer", "stat", "-c", "%a %U:%G", "/etc/dnsteer", "/etc/dnsteer/dnsteer.yaml")
	m.run(t, "systemctl", "start", "dnsteer.service")
	m.until(t, "healthy", "dnsteer", "healthcheck")
	// A configuration that nobody has changed is laid down anew.
	m.run(t, "rpm", "--upgrade", "--force", "--nodeps", path)
	m.says(t, "750 root:dnsteer\n640 root:dnsteer", "stat", "-c", "%a %U:%G", "/etc/dnsteer", "/etc/dnsteer/dnsteer.yaml")
	m.run(t, "rpm", "--erase", "dnsteer")
	m.run(t, "sh", "-c", "! pgrep -x dnsteer && ! test -e /usr/bin/dnsteer")
}

// copyOfSources copies what a release is made of into another folder, so that
// what depends on the folder shows.
func copyOfSources(t *testing.T) string {
	t.Helper()
	to := t.TempDir()
	for _, name := range []string{
		"go.mod", "go.sum", "LICENSE", "README.md", "CHANGELOG.md", "config.example.yaml",
		"cmd", "deploy", "dnsserver", "internal", "probes", "providers", "sites", "tools",
	} {
		err := copyTree(filepath.Join(top, name), filepath.Join(to, name))
		if err != nil {
			t.Fatal(err)
		}
	}
	return to
}

func copyTree(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.CopyFS(to, os.DirFS(from))
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}
