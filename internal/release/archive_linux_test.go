package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// If this fails, who follows the page with an archive of a system without packages
// does not get a service that runs.
func fromArchive(t *testing.T, p packages) {
	m := startMachine(t, "systemd")
	m.dropIn(t)
	archive := m.share(t, p.archive)
	m.run(t, "sh", "-c", "cd /root && sha256sum "+archive+" | sed s,/mnt/,, >SHA256SUMS && cp "+archive+" .")
	m.write(t, "/root/"+strings.TrimSuffix(filepath.Base(archive), ".tar.gz")+"/dnsteer.yaml", edited)

	_, section, _ := strings.Cut(source(t, "docs", "installation.md"), "## An archive\n")
	section, _, _ = strings.Cut(section, "\n## ")
	folder, commands := "/root", 0
	for _, c := range regexp.MustCompile(`(?m)^\$ (?:sudo )?(.*)$`).FindAllStringSubmatch(section, -1) {
		command := strings.ReplaceAll(c[1], "amd64", here.arch)
		if to, ok := strings.CutPrefix(command, "cd "); ok {
			folder += "/" + to
			continue
		}
		m.run(t, "sh", "-c", "cd "+folder+" && "+command)
		commands++
	}
	if commands < 9 {
		t.Errorf("the page has %d commands only", commands)
	}
	m.says(t, "active", "systemctl", "is-active", "dnsteer.service")
	m.until(t, "healthy", "dnsteer", "healthcheck")
	m.until(t, "echo after", "dnsteer", "probe", "berlin/a")
}
