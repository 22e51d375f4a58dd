package routeros

import (
	"crypto/tls"
	"crypto/x509"
	"strings"
	"testing"

	"github.com/dnsteer/dnsteer/providers"
)

// Where a certificate has run out, or the clock is wrong as it is on a small board that
// starts, people would be told to vouch for it otherwise, and the router would be left
// alone for five minutes though the clock is set in one.
func TestACertificateThatIsNotValidAtThisTime(t *testing.T) {
	err := handshakeError(&tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Reason: x509.Expired, Detail: "current time is before"}})
	if class, _ := providers.ClassOf(err); class != providers.Transient || !strings.Contains(err.Error(), "clock") || strings.Contains(err.Error(), "vouches") {
		t.Errorf("class %d: %v", class, err)
	}
}
