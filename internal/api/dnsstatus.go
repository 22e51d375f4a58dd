package api

// SignedZone is a zone of the built-in DNS server that is signed (DNSSEC).
type SignedZone struct {
	Zone string `json:"zone"`
	// DS are the records that the parent zone must hold, one for each key.
	DS []string `json:"ds"`
	// Signatures counts those that were made since the keys are in use.
	Signatures uint64 `json:"signatures"`
}

// SecondaryStatus is a server that is told of a zone's changes.
type SecondaryStatus struct {
	Zone    string `json:"zone"`
	Address string `json:"address"`
	// Serial is the last one that it was told of. Answered says whether it has heard,
	// Fault why not; while it is being told neither is set.
	Serial   uint32 `json:"serial"`
	Answered bool   `json:"answered"`
	Fault    string `json:"fault,omitempty"`
}
