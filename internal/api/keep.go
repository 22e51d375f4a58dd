package api

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// storedReply is a reply as it outlives the process.
type storedReply struct {
	At time.Time `json:"at"`
	// Command is a hash of it: whether another one has the same key.
	Command string      `json:"command"`
	Reply   sites.Reply `json:"reply"`
}

// scoped gives the key under which a caller's Idempotency-Key is kept: nobody
// gets another's reply.
func scoped(c *Caller, key string) string {
	if key == "" {
		return ""
	}
	who := "socket"
	if !c.Local {
		who = "name " + c.Name
	}
	sum := sha256.Sum256([]byte(who + "\x00" + key))
	return hex.EncodeToString(sum[:])
}

// digest tells commands apart.
func digest(c *sites.Command) string {
	text, err := json.Marshal(request(c))
	if err != nil {
		panic("api: a command cannot be encoded: " + err.Error())
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// restore takes the replies of the last run.
func (r *replies) restore(values map[string][]byte, now time.Time) {
	gone := make(map[string][]byte)
	for key, data := range values {
		var s storedReply
		if err := json.Unmarshal(data, &s); err != nil || now.Sub(s.At) >= replyTime || s.At.After(now.Add(replyTime)) {
			gone[key] = nil
			continue
		}
		k := &kept{key: key, at: s.At, command: s.Command, done: make(chan struct{}), reply: s.Reply}
		close(k.done)
		r.insert(k)
	}
	r.store(gone)
}

// store has values kept; nil removes one.
func (r *replies) store(values map[string][]byte) {
	if r.keep != nil && len(values) > 0 {
		r.keep(values)
	}
}

// storeReply keeps the reply of a command that was carried out.
func (r *replies) storeReply(k *kept) {
	data, err := json.Marshal(storedReply{k.at, k.command, k.reply})
	if err != nil {
		panic("api: a reply cannot be encoded: " + err.Error())
	}
	r.store(map[string][]byte{k.key: data})
}
