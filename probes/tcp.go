package probes

// TCP asks whether a connection to a port is accepted. Nothing is sent on it;
// it is closed by a reset, so that thousands of probes leave no port waiting.
type TCP struct {
	Port int // 1 to 65535
}
