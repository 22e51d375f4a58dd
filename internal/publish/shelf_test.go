package publish

import (
	"context"
	"maps"
	"sync"
)

// shelf is a store in memory.
type shelf struct {
	mu           sync.Mutex
	soon, stored map[string][]byte
	fail         error
	stalls       bool   // nothing ever lasts
	meanwhile    func() // happens while something is to last
	flushed      int
	last         uint64 // event
}

func newShelf() *shelf { return &shelf{soon: map[string][]byte{}, stored: map[string][]byte{}} }

func (s *shelf) Get() map[string][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.stored)
}

func (s *shelf) Set(key string, value []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.soon[key] = value
	if s.fail == nil {
		s.stored[key] = value
	}
}

func (s *shelf) Flush(ctx context.Context) error {
	s.mu.Lock()
	stalls, meanwhile := s.stalls, s.meanwhile
	s.meanwhile = nil
	s.mu.Unlock()
	if meanwhile != nil {
		meanwhile()
	}
	if stalls {
		<-ctx.Done()
		return ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flushed++
	return s.fail
}
