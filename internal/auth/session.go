package auth

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

// How long a session lasts: without a sign of its user, and in any case.
const (
	IdleTime    = 30 * time.Minute
	SessionTime = 12 * time.Hour
	// touchEvery is how often the last use of a session is stored at most.
	touchEvery = time.Minute
	// maxSessions bounds the sessions of one user; the oldest ends.
	maxSessions = 16
)

// Session is what is kept of a login. Its secret is not.
type Session struct {
	User string `json:"user"`
	// Proof is of the password hash that it was made with: another ends it.
	Proof   string    `json:"proof"`
	Begun   time.Time `json:"begun"`
	Used    time.Time `json:"used"`
	stored  time.Time
	hashKey string
}

// ended says whether it is too old.
func (s *Session) ended(now time.Time) bool {
	return now.Sub(s.Used) > IdleTime || now.Sub(s.Begun) > SessionTime || now.Before(s.Begun.Add(-IdleTime))
}

// sessions are those that there are, by the hash of their secret in hexadecimal.
type sessions struct {
	mu    sync.Mutex
	byKey map[string]*Session
	keep  func(map[string][]byte)
}

// proof says which password hash a session was made with.
func proof(h *PasswordHash) string {
	sum := HashSecret(h.text)
	return hex.EncodeToString(sum[:8])
}

func keyOf(secret string) string {
	sum := HashSecret(secret)
	return hex.EncodeToString(sum[:])
}

// restore takes what was stored. Records that cannot be read, and sessions that
// have ended, are removed.
func (s *sessions) restore(values map[string][]byte, now time.Time) {
	gone := make(map[string][]byte)
	for key, data := range values {
		var one Session
		if err := json.Unmarshal(data, &one); err != nil || one.ended(now) {
			gone[key] = nil
			continue
		}
		one.hashKey, one.stored = key, one.Used
		s.byKey[key] = &one
	}
	s.store(gone)
}

func (s *sessions) store(values map[string][]byte) {
	if len(values) > 0 && s.keep != nil {
		s.keep(values)
	}
}

// begin makes a session and gives its secret.
func (s *sessions) begin(u *User, now time.Time) string {
	secret := random()
	one := &Session{User: u.Name, Proof: proof(&u.Password), Begun: now, Used: now, stored: now, hashKey: keyOf(secret)}
	s.mu.Lock()
	defer s.mu.Unlock()
	values := map[string][]byte{one.hashKey: encode(one)}
	s.byKey[one.hashKey] = one
	var oldest *Session
	count := 0
	for key, o := range s.byKey {
		if o.ended(now) {
			delete(s.byKey, key)
			values[key] = nil
			continue
		}
		if o.User != u.Name {
			continue
		}
		count++
		if o != one && (oldest == nil || o.Used.Before(oldest.Used)) {
			oldest = o
		}
	}
	if count > maxSessions {
		delete(s.byKey, oldest.hashKey)
		values[oldest.hashKey] = nil
	}
	s.store(values)
	return secret
}

func encode(s *Session) []byte {
	data, err := json.Marshal(s)
	if err != nil { // strings and times
		panic(fmt.Sprintf("auth: a session cannot be encoded: %v", err))
	}
	return data
}

// find gives the session of a key, nil for none. A use is noted if it is one.
func (s *sessions) find(key string, now time.Time, use bool) *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.byKey[key]
	if one == nil {
		return nil
	}
	if one.ended(now) {
		delete(s.byKey, key)
		s.store(map[string][]byte{key: nil})
		return nil
	}
	if use {
		one.Used = now
		if now.Sub(one.stored) >= touchEvery {
			one.stored = now
			s.store(map[string][]byte{key: encode(one)})
		}
	}
	out := *one
	return &out
}

// end removes the sessions that a test chooses.
func (s *sessions) end(chosen func(*Session) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	gone := make(map[string][]byte)
	for key, one := range s.byKey {
		if chosen(one) {
			delete(s.byKey, key)
			gone[key] = nil
		}
	}
	s.store(gone)
}
