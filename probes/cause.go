package probes

import (
	"fmt"

	"github.com/dnsteer/dnsteer/sites"
)

// Cause says in one word why a probe did not succeed. The set is closed, so
// that causes can be counted; each constant below is one of it.
type Cause string

// Causes of [sites.Down]: the other side, or something on the way, is at fault.
const (
	// CauseTimeout: nothing, or not enough, came within the probe's timeout.
	CauseTimeout Cause = "timeout"
	// CauseRefused: the address is alive and nothing listens on the port.
	CauseRefused Cause = "refused"
	// CauseReset: the other side, or a firewall, broke the connection off.
	CauseReset Cause = "reset"
	// CauseEOF: the other side closed the connection without an answer.
	CauseEOF Cause = "eof"
	// CauseUnreachableHost: a router, or the own link's address resolution,
	// says that the host is not there.
	CauseUnreachableHost Cause = "unreachable_host"
	// CauseUnreachableNet: a router on the way has no route.
	CauseUnreachableNet Cause = "unreachable_net"
	// CauseProhibited: a firewall on the way says that it does not let us pass.
	CauseProhibited Cause = "prohibited"
	// CauseTLSExpired: the certificate's time is over, by our clock (O6).
	CauseTLSExpired Cause = sites.CauseTLSExpired
	// CauseTLSNotYet: the certificate's time has not begun, by our clock (O6).
	CauseTLSNotYet Cause = sites.CauseTLSNotYet
	// CauseTLSExpiring: the certificate's time is over sooner than the probe
	// asks for, by our clock (O6).
	CauseTLSExpiring Cause = sites.CauseTLSExpiring
	// CauseTLSName: the certificate is for other names.
	CauseTLSName Cause = "tls_name"
	// CauseTLSUntrusted: the certificate comes from nobody whom we trust.
	CauseTLSUntrusted Cause = "tls_untrusted"
	// CauseTLSFingerprint: the certificate is not the pinned one.
	CauseTLSFingerprint Cause = "tls_fingerprint"
	// CauseTLS: the TLS handshake failed in another way.
	CauseTLS Cause = "tls_handshake"
	// CauseStatus: the HTTP status is not one of those that are expected.
	CauseStatus Cause = sites.CauseStatus
	// CauseBody: the HTTP body does not contain what is expected.
	CauseBody Cause = sites.CauseBody
	// CauseRedirect: too many redirects, or one to another host.
	CauseRedirect Cause = "redirect"
	// CauseProtocol: what came is not of the protocol that was expected.
	CauseProtocol Cause = sites.CauseProtocol
	// CauseDNSAnswer: the resolver answers otherwise than expected (O3).
	CauseDNSAnswer Cause = sites.CauseDNSAnswer
	// CauseDNSRcode: the resolver answers with an error where addresses are
	// expected (O3).
	CauseDNSRcode Cause = sites.CauseDNSRcode
	// CauseExit: the command ended with another status than 0.
	CauseExit Cause = "exit"
	// CauseStale: the node has not reported for too long.
	CauseStale Cause = "stale"
	// CauseUnhealthy: the node reports that it is not well.
	CauseUnhealthy Cause = "unhealthy"
	// CauseBackends: no backend of a proxy is up.
	CauseBackends Cause = "backends_down"
	// CauseFailed: the probe failed in a way that has no word of its own.
	CauseFailed Cause = "failed"
)

// Causes of [sites.Unknown]: the controller could not find out (O1).
const (
	// CauseLocalRoute: this machine has no route to the address.
	CauseLocalRoute Cause = sites.CauseLocalRoute
	// CauseLocalDescriptors: no file descriptor is left.
	CauseLocalDescriptors Cause = "local_descriptors"
	// CauseLocalMemory: the kernel has no buffer or memory left.
	CauseLocalMemory Cause = "local_memory"
	// CauseLocalPorts: no local port or address is left.
	CauseLocalPorts Cause = "local_ports"
	// CauseLocalPermission: this process may not send such a probe.
	CauseLocalPermission Cause = sites.CauseLocalPermission
	// CauseLocalBusy: more probes are under way than the bound allows.
	CauseLocalBusy Cause = "local_busy"
	// CauseLocalLate: the result came so late that this machine must have been
	// asleep or starved.
	CauseLocalLate Cause = "local_late"
	// CauseLocalConfig: the probe is configured so that it cannot be run.
	CauseLocalConfig Cause = "local_config"
	// CauseLocalCommand: the command cannot be started: it is not there, or may
	// not be run.
	CauseLocalCommand Cause = "local_command"
	// CauseAwaited: the node has not reported since the controller listens.
	CauseAwaited Cause = sites.CauseAwaited
	// CauseCancelled: the controller gave the probe up.
	CauseCancelled Cause = "cancelled"
	// CausePanic: the probe's own code failed.
	CausePanic Cause = "panic"
)

// up, down and unknown make a check without its duration, which only the
// caller that holds the watch knows. Texts are parts of a sentence, without a
// capital or a full stop.
func up(text string) sites.Check { return sites.Check{Outcome: sites.Up, Text: text} }

func down(c Cause, format string, args ...any) sites.Check {
	return sites.Check{Outcome: sites.Down, Cause: string(c), Text: fmt.Sprintf(format, args...)}
}

func unknown(c Cause, format string, args ...any) sites.Check {
	return sites.Check{Outcome: sites.Unknown, Cause: string(c), Text: fmt.Sprintf(format, args...)}
}
