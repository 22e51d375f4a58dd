package probes

// ICMP asks for an echo. Its packets are spread over the probe's timeout; the
// first answer ends it, and only when all are lost is the node down, so that a
// lossy line is not taken for an outage.
type ICMP struct {
	Packets int // 0 means 3
}
