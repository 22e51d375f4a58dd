package api

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// Replies to commands with a key are kept this long, and this many.
const (
	replyTime  = 24 * time.Hour
	maxReplies = 4000
	maxKey     = 255
)

// replies remembers what was replied to commands that came with an
// Idempotency-Key, so that one that is sent twice is carried out once. What
// ended in an error is forgotten: it may be tried again.
type replies struct {
	mu    sync.Mutex
	byKey map[string]*kept
	order []*kept // oldest first
	keep  func(map[string][]byte)
}

// kept is one command, and its reply once done is closed.
type kept struct {
	key     string
	at      time.Time
	command string // digest
	done    chan struct{}
	reply   sites.Reply
	err     error
}

func newReplies(keep func(map[string][]byte)) *replies {
	return &replies{byKey: make(map[string]*kept), keep: keep}
}

// once carries out a command, or gives the reply that the same one with the
// same key had. An empty key is none.
func (r *replies) once(ctx context.Context, key string, c sites.Command, do func() (sites.Reply, error)) (sites.Reply, error) {
	if key == "" {
		return do()
	}
	k, first := r.take(key, digest(&c))
	if first {
		r.run(k, do)
		return k.reply, k.err
	}
	if k.command != digest(&c) {
		return sites.Reply{}, problem(http.StatusUnprocessableEntity, "Idempotency-Key: another command had this key; take a new one for each")
	}
	select {
	case <-k.done:
		return k.reply, k.err
	case <-ctx.Done():
		return sites.Reply{}, ctx.Err()
	}
}

// run carries out a command and tells those who wait for it, also when it
// panics.
func (r *replies) run(k *kept, do func() (sites.Reply, error)) {
	k.err = problem(http.StatusInternalServerError, "an internal error; the controller's log says more")
	defer func() {
		if k.err != nil {
			r.forget(k)
		} else {
			r.storeReply(k)
		}
		close(k.done)
	}()
	k.reply, k.err = do()
}

// take gives what is kept for a key, or makes room for it.
func (r *replies) take(key, command string) (k *kept, first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	for len(r.order) > 0 && (len(r.order) >= maxReplies || now.Sub(r.order[0].at) >= replyTime) {
		if old := r.order[0]; r.byKey[old.key] == old {
			delete(r.byKey, old.key)
			r.store(map[string][]byte{old.key: nil})
		}
		r.order[0] = nil
		r.order = r.order[1:]
	}
	if k := r.byKey[key]; k != nil {
		return k, false
	}
	k = &kept{key: key, at: now, command: command, done: make(chan struct{})}
	r.byKey[key] = k
	r.order = append(r.order, k)
	return k, true
}

// insert puts a reply of an earlier run in its place.
func (r *replies) insert(k *kept) {
	r.byKey[k.key] = k
	i, _ := slices.BinarySearchFunc(r.order, k.at, func(o *kept, at time.Time) int { return o.at.Compare(at) })
	r.order = slices.Insert(r.order, i, k)
}

func (r *replies) forget(k *kept) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byKey[k.key] == k {
		delete(r.byKey, k.key)
	}
}
