package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	bolt "go.etcd.io/bbolt"
)

// State is what is stored, events and configuration aside.
type State struct {
	// Sites and Global are those of [Batch]; nil where nothing is stored.
	Sites  map[string][]byte
	Global []byte
	// Serials by zone.
	Serials map[string]uint32
	// LastEvent is the highest ID of an event; 0 if there is none.
	LastEvent uint64
	// Values are those of [Batch]; nil where nothing is stored.
	Values map[Kind]map[string][]byte
	// Wall is the last [Batch.Wall]; zero if there is none.
	Wall time.Time
}

// Load gives the stored state, all of one generation. Records that cannot be
// read are left out and named by the error, beside which the state can be used.
func (s *Store) Load() (State, error) {
	state := State{Sites: map[string][]byte{}, Serials: map[string]uint32{}}
	err := s.view(func(tx *bolt.Tx) error { return state.read(tx) })
	if err != nil {
		err = fmt.Errorf("load %s: %w", s.path(fileName), err)
	}
	s.writing.Lock()
	s.stateful = s.stateful || len(state.Sites) > 0 || state.Global != nil || len(state.Values) > 0
	s.writing.Unlock()
	return state, err
}

func (st *State) read(tx *bolt.Tx) error {
	var faults []error
	fault := func(err error) {
		if err != nil {
			faults = append(faults, err)
		}
	}
	each(tx, sitesBucket, fault, func(key, payload []byte) error {
		st.Sites[string(key)] = payload
		return nil
	})
	each(tx, serialsBucket, fault, func(key, payload []byte) error {
		n, err := strconv.ParseUint(string(payload), 10, 32)
		if err != nil {
			return fmt.Errorf("serial of zone %q: %w", key, err)
		}
		st.Serials[string(key)] = uint32(n)
		return nil
	})
	each(tx, valuesBucket, fault, func(at, payload []byte) error {
		kind, key := splitKey(at)
		if st.Values == nil {
			st.Values = make(map[Kind]map[string][]byte)
		}
		if st.Values[kind] == nil {
			st.Values[kind] = make(map[string][]byte)
		}
		st.Values[kind][key] = payload
		return nil
	})
	global, err := get(tx, metaBucket, globalKey)
	fault(err)
	st.Global = global
	fault(getJSON(tx, wallKey, &st.Wall))
	last, err := lastEvent(tx)
	fault(err)
	st.LastEvent = last
	return errors.Join(faults...)
}

// each gives every readable record of a bucket to fn. A file may not have it.
func each(tx *bolt.Tx, bucket string, fault func(error), fn func(key, payload []byte) error) {
	b := tx.Bucket([]byte(bucket))
	if b == nil {
		return
	}
	fault(b.ForEach(func(key, record []byte) error {
		payload, err := unseal(bucket, key, record)
		if err == nil {
			err = fn(slices.Clone(key), payload)
		}
		fault(err)
		return nil
	}))
}

// get gives a payload; nil where there is none.
func get(tx *bolt.Tx, bucket, key string) ([]byte, error) {
	record := tx.Bucket([]byte(bucket)).Get([]byte(key))
	if record == nil {
		return nil, nil
	}
	return unseal(bucket, []byte(key), record)
}

// getJSON reads a value of "meta"; it leaves value alone where there is none.
func getJSON(tx *bolt.Tx, key string, value any) error {
	payload, err := get(tx, metaBucket, key)
	if err != nil || payload == nil {
		return err
	}
	if err := json.Unmarshal(payload, value); err != nil {
		return fmt.Errorf("%w %q: %w", errUnreadable, key, err)
	}
	return nil
}

// ConfigFile is one file of a configuration.
type ConfigFile struct {
	Name string `json:"name"`
	Data []byte `json:"data"`
}

// Config is a configuration as its files were read.
type Config struct {
	// When it was taken into use.
	When  time.Time    `json:"when"`
	Files []ConfigFile `json:"files"`
}

// PutConfig stores the last good configuration. Errors are those of
// [Store.Commit].
func (s *Store) PutConfig(c Config) error {
	text, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("encode the configuration: %w", err)
	}
	return s.write(func(tx *bolt.Tx) error { return put(tx, configBucket, []byte(lastKey), text) })
}

// Config gives the last good configuration; false if there is none.
func (s *Store) Config() (c Config, ok bool, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		payload, err := get(tx, configBucket, lastKey)
		if err != nil || payload == nil {
			return err
		}
		ok = true
		return json.Unmarshal(payload, &c)
	})
	if err != nil {
		return Config{}, false, fmt.Errorf("read the last good configuration: %w", err)
	}
	return c, ok, nil
}
