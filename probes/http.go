package probes

import "crypto/x509"

// HTTP asks for a page over http or https. The connection always goes to the
// probed address, whatever host the URL names; no proxy of the environment is
// used, no cookie is kept, and every probe is a connection of its own.
type HTTP struct {
	// URL; "{address}" in it becomes the probed address, in brackets where it
	// is IPv6.
	URL string
	// Method; "" means GET.
	Method string
	// Headers are sent as they are.
	Headers map[string]string
	// Host is the virtual host: the Host header, and the name that TLS asks for
	// and verifies. "" means that of the URL.
	Host string
	// Status lists what counts as success; nil means 200 to 399.
	Status []StatusRange
	// Body must occur in the first 64 KiB of the (decompressed) body; "" reads
	// none of it.
	Body string
	// Redirects is how many are followed, to the same host only. 0 follows
	// none: the redirect's own status is judged.
	Redirects int
	// Verify says how the certificate is judged; "" means VerifyOff where the
	// URL has "{address}" and there is no Host, VerifyName otherwise. Whatever
	// it is, a certificate's expiry is reported in the check's text.
	Verify Verify
	// Fingerprint is the SHA-256 of the certificate in hexadecimal, with or
	// without "sha256:" and colons, for VerifyFingerprint.
	Fingerprint string
	// Roots are the authorities that are trusted; nil means the system's.
	Roots *x509.CertPool
}

// StatusRange is a range of HTTP status codes, both ends included.
type StatusRange struct{ Low, High int }

// Verify says how an [HTTP] probe judges a certificate.
type Verify string

// The ways of judging a certificate.
const (
	VerifyDefault     Verify = ""
	VerifyName        Verify = "name"        // chain, time and name
	VerifyFingerprint Verify = "fingerprint" // this very certificate
	VerifyOff         Verify = "off"         // any
)
