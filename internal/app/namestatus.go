package app

import (
	"fmt"
	"time"

	"github.com/dnsteer/dnsteer/dnsserver"
	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/keyfile"
	"github.com/dnsteer/dnsteer/internal/plural"
)

// namesStatus tells of zones that are signed and of secondaries.
func namesStatus(st *api.DNSStatus, stats *dnsserver.Stats) {
	for _, z := range stats.Signed {
		v := api.SignedZone{Zone: z.Zone, Signatures: z.Signatures}
		for _, k := range z.Keys {
			v.DS = append(v.DS, keyfile.DSText(k.DS()))
		}
		st.Signed = append(st.Signed, v)
	}
	for _, s := range stats.Secondaries {
		st.Secondaries = append(st.Secondaries, api.SecondaryStatus{
			Zone: s.Zone, Address: s.Addr.String(), Serial: s.Serial, Answered: s.Answered, Fault: s.Fault,
		})
	}
	st.ClockBehind = stats.ClockBehind
	st.Panics, st.PanicAt = stats.UDP.Panics+stats.TCP.Panics, stats.PanicAt
}

// absent tells of addresses that nobody can ask at.
func (n *names) absent() (list []string) {
	if s := n.get(); s != nil {
		for _, a := range s.Absent() {
			list = append(list, fmt.Sprintf("No interface of this host has %s, which dns.listen names: it is served from the moment that one gets it.", a))
		}
	}
	return list
}

// namesProblems lists what is wrong with the names beside their answers.
func namesProblems(st *api.DNSStatus) (list []string) {
	if st == nil {
		return nil
	}
	if st.ClockBehind {
		list = append(list, "The clock is wrong: it says less than what has passed for sure. Signed answers are made as of then, and validators may refuse them until it is set.")
	}
	if st.Panics > 0 {
		list = append(list, fmt.Sprintf("For a fault of dnsteer itself %s got SERVFAIL since the start, the last at %s; all others are answered. The log says where the fault is.",
			plural.Of(st.Panics, "DNS question"), st.PanicAt.UTC().Format(time.DateTime+" UTC")))
	}
	for _, s := range st.Secondaries {
		if s.Fault != "" {
			list = append(list, fmt.Sprintf("The secondary %s has not heard of the last change of %s: %s.", s.Address, s.Zone, s.Fault))
		}
	}
	return list
}
