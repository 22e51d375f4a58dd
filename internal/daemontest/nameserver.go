package daemontest

import (
	"fmt"
	"net/netip"
)

// NSD gives a configuration of NSD at an address, with its files in a folder, and what
// stands behind: keys and zones.
func NSD(dir string, addr netip.AddrPort, more string) string {
	return fmt.Sprintf(`server:
  ip-address: %[2]s@%[3]d
  port: %[3]d
  username: ""
  chroot: ""
  zonesdir: %[1]q
  xfrdir: %[1]q
  xfrdfile: "%[1]s/xfrd.state"
  zonelistfile: "%[1]s/zone.list"
  pidfile: "%[1]s/nsd.pid"
  database: ""
  xfrd-reload-timeout: 0
remote-control:
  control-enable: no
%[4]s`, dir, addr.Addr(), addr.Port(), more)
}

// Knot does that for Knot.
func Knot(dir string, addr netip.AddrPort, more string) string {
	return fmt.Sprintf(`server:
  rundir: %[1]q
  listen: %[2]s@%[3]d
  tcp-idle-timeout: 600
  tcp-io-timeout: 60000
database:
  storage: %[1]q
template:
  - id: default
    storage: %[1]q
log:
  - target: stderr
    any: info
%[4]s`, dir, addr.Addr(), addr.Port(), more)
}
