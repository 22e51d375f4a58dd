package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// confined is how the image is run, as docs/installation.md says it, but for the
// published ports: the machine of the test has nobody who could ask from outside.
var confined = []string{
	"podman", "run", "--network=none", "--read-only", "--cap-drop=all", "--security-opt=no-new-privileges",
	"--sysctl", "net.ipv4.ip_unprivileged_port_start=53", "--sysctl", "net.ipv4.ping_group_range=0 2147483647",
}

// served is the rest of it.
var served = []string{"--detach", "--name", "dnsteer", "-v", "/etc/dnsteer:/etc/dnsteer:ro", "-v", "dnsteer:/var/lib/dnsteer", "dnsteer"}

// If this fails, the container's image is not built, runs as root, writes outside
// of its volume, or forgets its state.
func TestImage(t *testing.T) {
	if _, err := exec.LookPath("podman"); err != nil {
		notTested(t, "podman is missing here (Debian: podman)")
	}
	m := startMachine(t, "systemd")
	r := release{root: top, version: "1.0.0", date: sourcesDate}
	if err := r.image(t.Context(), "", filepath.Join(m.shared, "image")); err != nil {
		t.Fatal(err)
	}
	m.share(t, filepath.Join(top, "deploy", "Containerfile"))
	m.write(t, "/etc/containers/storage.conf", "[storage]\ndriver = \"vfs\"\nrunroot = \"/run/containers/storage\"\ngraphroot = \"/mnt/storage\"\n")
	m.write(t, "/etc/containers/containers.conf", "[containers]\ncgroups = \"disabled\"\n[engine]\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"none\"\n")
	// Of a folder, to see whether containers run here at all.
	if out, err := m.try(t, append(slices.Clone(confined), "--rm", "--rootfs", "/mnt/image", "/dnsteer", "version")...); err != nil {
		notTested(t, "containers cannot be run here: %v: %s", err, out)
	}

	t.Log("the image is built of nothing but the sources, twice with the same files")
	layers := func() string {
		m.run(t, "podman", "build", "--quiet", "--no-cache", "--layers=false", "--format", "docker",
			"--timestamp", fmt.Sprint(sourcesDate.Unix()), "-f", "/mnt/Containerfile", "-t", "dnsteer", "/mnt/image")
		return m.run(t, "podman", "image", "inspect", "-f", "{{.RootFS.Layers}}", "dnsteer")
	}
	if first, second := layers(), layers(); first != second {
		t.Errorf("two builds differ: %s, %s", first, second)
	}
	m.says(t, "65532:65532 SIGTERM [/usr/bin/dnsteer] [serve] map[/var/lib/dnsteer:{}]", "podman", "image", "inspect", "-f",
		"{{.Config.User}} {{.Config.StopSignal}} {{.Config.Entrypoint}} {{.Config.Cmd}} {{.Config.Volumes}}", "dnsteer")

	t.Log("it serves with a root that cannot be written, without a capability")
	m.write(t, "/etc/dnsteer/dnsteer.yaml", edited)
	m.run(t, append(slices.Clone(confined), served...)...)
	m.until(t, "healthy", "podman", "exec", "dnsteer", "dnsteer", "healthcheck")
	pid := m.run(t, "podman", "inspect", "-f", "{{.State.Pid}}", "dnsteer")
	status := m.run(t, "cat", "/proc/"+pid+"/status")
	for _, want := range []string{"Uid:\t65532\t65532", "Gid:\t65532\t65532", "CapPrm:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"} {
		if !strings.Contains(status, want) {
			t.Errorf("the process has not %q", want)
		}
	}
	mounts := m.run(t, "cat", "/proc/"+pid+"/mounts")
	for line := range strings.Lines(mounts) {
		if f := strings.Fields(line); f[1] == "/" && !strings.HasPrefix(f[3], "ro,") {
			t.Errorf("its root can be written: %s", line)
		}
	}
	dig := []string{"nsenter", "-n", "-t", pid, "dig", "+short", "+tries=5", "+time=10", "@127.0.0.1", "app.example.lan"}
	m.until(t, "echo after", "podman", "exec", "dnsteer", "dnsteer", "probe", "berlin/a")
	m.until(t, "127.0.1.11\n127.0.1.12", append([]string{"sh", "-c", `"$@" | sort`, "sh"}, dig...)...)
	m.until(t, "sound", "sh", "-c", "podman healthcheck run dnsteer && echo sound")
	m.run(t, "podman", "exec", "dnsteer", "dnsteer", "maintenance", "berlin/a", "--reason", "a new disk")
	m.until(t, "127.0.1.12", dig...)

	t.Log("it ends when it is told to, and another one goes on with what is in the volume")
	m.run(t, "podman", "stop", "--time", "180", "dnsteer")
	m.says(t, "0", "podman", "inspect", "-f", "{{.State.ExitCode}}", "dnsteer")
	m.run(t, "podman", "rm", "dnsteer")
	m.run(t, append(slices.Clone(confined), served...)...)
	m.until(t, "a new disk", "podman", "exec", "dnsteer", "dnsteer", "status")
	m.run(t, "podman", "rm", "--force", "dnsteer")
}
