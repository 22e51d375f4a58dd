package store

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/dnsteer/dnsteer/sites"
)

// DefaultLimit is how many events a query without a limit gives.
const DefaultLimit = 1000

// Query chooses events. The zero Query gives the newest ones, newest first.
type Query struct {
	// After and Before bound the IDs, both without the ID itself; 0 is no bound.
	After, Before uint64
	// Since and Until bound the times: from Since on and before Until; zero is
	// no bound.
	Since, Until time.Time
	// Kinds, Site and Node choose; empty means all.
	Kinds      []sites.Kind
	Site, Node string
	// Ascending gives the oldest first.
	Ascending bool
	// Limit is the most that is given; 0 means DefaultLimit.
	Limit int
}

func (q *Query) matches(e *sites.Event) bool {
	return (len(q.Kinds) == 0 || slices.Contains(q.Kinds, e.Kind)) &&
		(q.Site == "" || e.Site == q.Site) &&
		(q.Node == "" || e.Node == q.Node) &&
		!e.Time.Before(q.Since) &&
		(q.Until.IsZero() || e.Time.Before(q.Until))
}

// Events gives the stored events that a query chooses. Events that cannot be
// read are left out and named by an [*UnreadableError], beside which the others are
// all that there are. Beside another error there may be more.
// The times of events are not looked for in order: the wall clock may jump.
func (s *Store) Events(q Query) ([]sites.Event, error) {
	limit := q.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	var found []sites.Event
	var faults []error
	err := s.view(func(tx *bolt.Tx) error {
		c := tx.Bucket([]byte(eventsBucket)).Cursor()
		for key, record := q.first(c); key != nil && len(found) < limit; key, record = q.next(c) {
			e, err := decodeEvent(key, record)
			if err != nil {
				faults = append(faults, err)
			} else if q.matches(&e) {
				found = append(found, e)
			}
		}
		return nil
	})
	if err == nil && faults != nil {
		err = &UnreadableError{errors.Join(faults...)}
	}
	if err != nil {
		return found, fmt.Errorf("read events: %w", err)
	}
	return found, nil
}

// first puts the cursor on the first event within the bounds of the IDs.
func (q *Query) first(c *bolt.Cursor) (key, record []byte) {
	switch {
	case q.Ascending && q.After == ^uint64(0):
		return nil, nil
	case q.Ascending:
		key, record = c.Seek(eventKey(q.After + 1))
	case q.Before == 0:
		key, record = c.Last()
	default:
		if key, _ = c.Seek(eventKey(q.Before)); key == nil {
			key, record = c.Last()
		} else {
			key, record = c.Prev()
		}
	}
	return q.within(key, record)
}

func (q *Query) next(c *bolt.Cursor) (key, record []byte) {
	if q.Ascending {
		return q.within(c.Next())
	}
	return q.within(c.Prev())
}

// within ends the walk at the bounds of the IDs.
func (q *Query) within(key, record []byte) ([]byte, []byte) {
	if len(key) != 8 {
		return nil, nil
	}
	id := binary.BigEndian.Uint64(key)
	if id <= q.After || (q.Before != 0 && id >= q.Before) {
		return nil, nil
	}
	return key, record
}

func decodeEvent(key, record []byte) (sites.Event, error) {
	var e sites.Event
	payload, err := unseal(eventsBucket, key, record)
	if err != nil {
		return e, err
	}
	if err := json.Unmarshal(payload, &e); err != nil {
		return e, fmt.Errorf("%w %x in %s: %w", errUnreadable, key, eventsBucket, err)
	}
	return e, nil
}

// addEvents stores events and removes some of those beyond the number kept.
func (s *Store) addEvents(tx *bolt.Tx, events []sites.Event) error {
	if len(events) == 0 {
		return nil
	}
	for i := range events {
		text, err := json.Marshal(&events[i])
		if err != nil {
			return fmt.Errorf("encode event %d: %w", events[i].ID, err)
		}
		if err := put(tx, eventsBucket, eventKey(events[i].ID), text); err != nil {
			return fmt.Errorf("event %d: %w", events[i].ID, err)
		}
	}
	last, err := lastEvent(tx)
	if err != nil || last <= uint64(s.opts.MaxEvents) {
		return err
	}
	oldest := last - uint64(s.opts.MaxEvents) // IDs count up by one
	_, err = dropEvents(tx, len(events)+pruneStep, func(key, _ []byte) bool {
		return len(key) == 8 && binary.BigEndian.Uint64(key) <= oldest
	})
	return err
}

func lastEvent(tx *bolt.Tx) (uint64, error) {
	key, _ := tx.Bucket([]byte(eventsBucket)).Cursor().Last()
	if key == nil {
		return 0, nil
	}
	if len(key) != 8 {
		return 0, fmt.Errorf("%w: event %x", errUnreadable, key)
	}
	return binary.BigEndian.Uint64(key), nil
}

// dropEvents removes the oldest events for as long as old says so, at most a
// given number of them, and says how many went.
func dropEvents(tx *bolt.Tx, atMost int, old func(key, record []byte) bool) (int, error) {
	bucket := tx.Bucket([]byte(eventsBucket))
	var keys [][]byte // a cursor loses its place when its bucket changes
	c := bucket.Cursor()
	for key, record := c.First(); key != nil && len(keys) < atMost && old(key, record); key, record = c.Next() {
		keys = append(keys, slices.Clone(key))
	}
	for _, key := range keys {
		if err := bucket.Delete(key); err != nil {
			return 0, fmt.Errorf("remove event %x: %w", key, err)
		}
	}
	return len(keys), nil
}

// Prune removes events older than [Options.MaxAge], the oldest first, up to the
// first that is younger, in pieces that other commits pass between. It is the
// owner's to call, about once an hour and only while the wall clock is believed:
// a clock that stands in the year 2100 would empty the history. Errors are those
// of [Store.Commit] and that of ctx.
func (s *Store) Prune(ctx context.Context, now time.Time) error {
	limit := now.Add(-s.opts.MaxAge)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		removed := 0
		err := s.write(func(tx *bolt.Tx) (err error) {
			removed, err = dropEvents(tx, pruneStep, func(key, record []byte) bool {
				e, err := decodeEvent(key, record)
				return err != nil || e.Time.Before(limit)
			})
			return err
		})
		if err != nil || removed < pruneStep {
			return err
		}
	}
}
