package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/internal/alert"
)

// Sign gives the value of the signature's header for a body that is sent at a
// time.
func Sign(at time.Time, body []byte, secrets ...alert.Secret) string {
	stamp := strconv.FormatInt(at.Unix(), 10)
	parts := []string{"t=" + stamp}
	for _, s := range secrets {
		mac := hmac.New(sha256.New, []byte(s.Reveal()))
		_, _ = mac.Write([]byte(stamp + "."))
		_, _ = mac.Write(body)
		parts = append(parts, "v1="+hex.EncodeToString(mac.Sum(nil)))
	}
	return strings.Join(parts, ",")
}
