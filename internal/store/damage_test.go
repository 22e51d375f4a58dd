package store

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"

	"github.com/dnsteer/dnsteer/sites"
)

// sample makes a small real file of several generations and gives its octets,
// with those of its generation before.
func sample(t testing.TB) (newest, before []byte) {
	t.Helper()
	dir := t.TempDir()
	s, _, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(4) {
		if before, err = os.ReadFile(s.path(fileName)); err != nil {
			t.Fatal(err)
		}
		err := s.Commit(Batch{
			Sites:   map[string]SiteState{"berlin": stored(fmt.Sprintf(`{"n":%d}`, i)), fmt.Sprint("site", i): stored("{}")},
			Global:  fmt.Appendf(nil, `{"n":%d}`, i),
			Serials: map[string]uint32{"example.lan": uint32(i)},
			Events:  []sites.Event{event(3*i+1, strings.Repeat("x", 300)), event(3*i+2, "y"), event(3*i+3, "z")},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if newest, err = os.ReadFile(s.path(fileName)); err != nil {
		t.Fatal(err)
	}
	return newest[:used(t, newest)], before[:used(t, before)]
}

// used is how much of a file is in use: it is made larger in steps.
func used(t testing.TB, data []byte) int {
	h, _, err := readHead(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return int(h.pages) * pageSize
}

// memory gives a folder that costs no disk accesses where the system has one.
func memory(t *testing.T) string {
	if dir, err := os.MkdirTemp("/dev/shm", "dnsteer-test-"); err == nil {
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		return dir
	}
	return t.TempDir()
}

// records gives what a file holds, or what is wrong with it.
func records(data []byte) (map[string]string, bool, error) {
	found := map[string]string{}
	var in inspection
	torn, err := walk(bytes.NewReader(data), int64(len(data)), func(path []string, key, value []byte) {
		in.visit(path, key, value)
		found[strings.Join(path, "/")+"/"+string(key)] = string(value)
	})
	if err == nil {
		err = in.judge()
	}
	return found, torn, err
}

// If this fails, an octet that a disk or a memory module flipped changes the
// stored state, and nobody notices.
func TestEveryFlippedOctetIsNoticed(t *testing.T) {
	newest, before := sample(t)
	want, _, err := records(newest)
	if err != nil {
		t.Fatal(err)
	}
	wantBefore, _, err := records(before)
	if err != nil {
		t.Fatal(err)
	}
	noticed := 0
	for i := range len(newest) / flipEvery {
		at := i * flipEvery
		flip := byte(1) << (at % 8)
		newest[at] ^= flip
		var got map[string]string
		torn, err := inspect(bytes.NewReader(newest), int64(len(newest)))
		if err == nil {
			got, _, _ = records(newest)
		}
		newest[at] ^= flip
		switch {
		case err != nil:
			noticed++
		case maps.Equal(got, want), torn && maps.Equal(got, wantBefore):
		default:
			t.Fatalf("octet %d ^ %#x changes the state unnoticed", at, flip)
		}
	}
	if noticed < 1000/flipEvery {
		t.Errorf("only %d of %d flips were noticed: the sample holds too little", noticed, len(newest))
	}
}

// If this fails, a file that was cut off anywhere is taken for a whole one that holds
// less.
func TestEveryCutIsNoticed(t *testing.T) {
	newest, before := sample(t)
	want, _, err := records(newest)
	if err != nil {
		t.Fatal(err)
	}
	wantBefore, _, err := records(before)
	if err != nil {
		t.Fatal(err)
	}
	for i := range len(newest) / flipEvery {
		n := i * flipEvery
		torn, err := inspect(bytes.NewReader(newest[:n]), int64(n))
		if err != nil {
			continue
		}
		if got, _, _ := records(newest[:n]); !maps.Equal(got, want) && !(torn && maps.Equal(got, wantBefore)) {
			t.Fatalf("%d of %d octets are taken for a whole file", n, len(newest))
		}
	}
}

// If this fails, a damaged file stops the start, or hangs it, or is taken for
// good by the database below. What inspection lets through must open.
func TestDamagedFilesOpen(t *testing.T) {
	newest, _ := sample(t)
	random := rand.New(rand.NewPCG(1, 2))
	tests := map[string][]byte{
		"zero length": {}, "one octet": newest[:1], "no bbolt file": []byte(strings.Repeat("not a database\n", 4000)),
		"zeros": make([]byte, len(newest)), "one page less": newest[:len(newest)-pageSize],
		"twice": append(bytes.Clone(newest), newest...),
	}
	for range 500 {
		n := random.IntN(len(newest))
		tests[fmt.Sprint("cut at ", n)] = newest[:n]
	}
	for at := 0; at < 2*pageSize; at += pageSize { // every octet of the heads that counts
		for i := range pageHeader + metaLength {
			tests[fmt.Sprint("octet ", at+i)] = flipped(newest, at+i, 0xFF)
		}
	}
	for range 2000 {
		at := random.IntN(len(newest))
		tests[fmt.Sprint("octet ", at)] = flipped(newest, at, byte(1)<<random.IntN(8))
	}
	dir := memory(t)
	for name, data := range tests {
		if err := os.WriteFile(filepath.Join(dir, fileName), data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, report, err := Open(dir, Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		state := load(t, s)
		if report.Damage == "" && len(state.Sites) < 4 {
			t.Errorf("%s: state is missing and no damage reported", name)
		}
		if report.Damage != "" && (report.SetAside == "" || !report.Empty || len(state.Sites) != 0) {
			t.Errorf("%s: report %+v", name, report)
		}
		commit(t, s, Batch{Sites: map[string]SiteState{"new": stored("{}")}})
		if err := s.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	aside, err := filepath.Glob(filepath.Join(dir, "*.damaged-*"))
	if err != nil || len(aside) != keptAside {
		t.Errorf("%d damaged files are kept, want %d", len(aside), keptAside)
	}
}

func flipped(data []byte, at int, with byte) []byte {
	data = bytes.Clone(data)
	data[at] ^= with
	return data
}

// If this fails, a damaged file costs the whole state though there is a good
// copy.
func TestCopyStandsIn(t *testing.T) {
	dir := t.TempDir()
	now := func() time.Time { return epoch }
	s, _ := open(t, dir, Options{Now: now})
	commit(t, s, Batch{Sites: map[string]SiteState{"berlin": stored("1")}, Events: []sites.Event{event(1, "")}})
	if err := s.Snapshot(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(s.path(prevName), epoch, epoch); err != nil {
		t.Fatal(err)
	}
	commit(t, s, Batch{Sites: map[string]SiteState{"berlin": stored("2")}})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(s.path(fileName), 3*pageSize); err != nil {
		t.Fatal(err)
	}
	s, report := open(t, dir, Options{Now: now})
	if diff := cmp.Diff("the stored state is damaged: the file is cut off: 3 pages of "+
		fmt.Sprint(pagesNamed(report.Damage))+" are there; it was set aside as "+s.path("dnsteer.db.damaged-20260501T120000.000Z")+
		"; the copy of 2026-05-01T12:00:00Z is used", report.String()); diff != "" || !report.Alarming() {
		t.Error(diff)
	}
	state := load(t, s)
	if string(state.Sites["berlin"]) != "1" || state.LastEvent != 1 {
		t.Errorf("state %+v is not that of the copy", state)
	}
	// The file is missing: a kill came between setting aside and replacing.
	if err := errors.Join(s.Close(), os.Remove(s.path(fileName))); err != nil {
		t.Fatal(err)
	}
	s, report = open(t, dir, Options{Now: now})
	if report.Restored.IsZero() || !report.Alarming() || string(load(t, s).Sites["berlin"]) != "1" {
		t.Errorf("a missing file: report %+v", report)
	}
	// Both are damaged.
	if err := errors.Join(s.Close(), os.Truncate(s.path(fileName), 5), os.Truncate(s.path(prevName), 5)); err != nil {
		t.Fatal(err)
	}
	s, report = open(t, dir, Options{Now: now})
	if !report.Empty || report.Damage != "the file is cut off after 5 bytes" || len(load(t, s).Sites) != 0 {
		t.Errorf("both damaged: report %+v", report)
	}
}

// pagesNamed reads the number of pages from a report: it depends on how the
// database lays them out.
func pagesNamed(damage string) (n int) {
	_, _ = fmt.Sscanf(damage, "the file is cut off: 3 pages of %d", &n)
	return n
}

// If this fails, a copy that a bad disk spoilt replaces the good one.
func TestSnapshotOfADamagedFileReplacesNothing(t *testing.T) {
	s, _ := open(t, t.TempDir(), Options{})
	commit(t, s, Batch{Sites: map[string]SiteState{"berlin": stored("a state that is long enough to be found")}})
	if err := s.Snapshot(); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(s.path(prevName))
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(s.path(fileName))
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.LastIndex(data, []byte("long enough"))
	f, err := os.OpenFile(s.path(fileName), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	for ; at >= 0; at = bytes.LastIndex(data[:at], []byte("long enough")) {
		if _, err := f.WriteAt([]byte("L"), int64(at)); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	err = s.Snapshot()
	if diff := cmp.Diff(`copy the stored state: unreadable record "berlin" in sites`, fmt.Sprint(err)); diff != "" {
		t.Error(diff)
	}
	if now, err := os.ReadFile(s.path(prevName)); err != nil || !bytes.Equal(now, good) {
		t.Errorf("the good copy was replaced (%v)", err)
	}
	if state, err := s.Load(); !errors.Is(err, errUnreadable) || state.Sites["berlin"] != nil {
		t.Errorf("a spoilt record was loaded: %v %q", err, state.Sites)
	}
}

// If this fails, going back to an older program destroys the newer one's state.
func TestNewerFormatIsRefused(t *testing.T) {
	for _, name := range []string{fileName, prevName} {
		t.Run(name, func(t *testing.T) {
			s, _ := open(t, t.TempDir(), Options{})
			err := s.write(func(tx *bolt.Tx) error {
				// What else a newer format may do must not hide its number.
				if _, err := tx.CreateBucket([]byte("sessions")); err != nil {
					return err
				}
				if err := tx.Bucket([]byte(sitesBucket)).Put([]byte("x"), []byte("another encoding")); err != nil {
					return err
				}
				return put(tx, metaBucket, []byte(formatKey), []byte("3"))
			})
			if err := errors.Join(err, s.Close(), os.Rename(s.path(fileName), s.path(name))); err != nil {
				t.Fatal(err)
			}
			before, err := os.ReadFile(s.path(name))
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = Open(s.dir, Options{})
			want := s.path(name) + " has format 3 and this program knows formats up to 2: run the newer program again, " +
				"or move the file away (and dnsteer.db.prev, if it is there) to start without stored state"
			if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
				t.Error(diff)
			}
			if after, err := os.ReadFile(s.path(name)); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the file was changed (%v)", err)
			}
		})
	}
}

// If this fails, an update of the program forgets the state of the version
// before. The file was written by format 1 and stays as it is; it holds the times
// of starts too, which are no longer read.
func TestFormat1IsRead(t *testing.T) {
	data, err := os.ReadFile("testdata/format1.db")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, fileName), data, 0o600); err != nil {
		t.Fatal(err)
	}
	s, report := open(t, dir, Options{})
	if diff := cmp.Diff(Report{}, report); diff != "" {
		t.Error(diff)
	}
	want := State{
		Sites: map[string][]byte{"berlin": []byte(`{"node":"a"}`)}, Global: []byte(`{}`),
		Serials: map[string]uint32{"example.lan": 7}, LastEvent: 1, Wall: epoch,
	}
	if diff := cmp.Diff(want, load(t, s)); diff != "" {
		t.Error(diff)
	}
}

// If this fails, a file exists that crashes or hangs every start.
func FuzzInspect(f *testing.F) {
	newest, before := sample(f)
	f.Add(newest)
	f.Add(before)
	f.Add(newest[:2*pageSize])
	f.Add([]byte{})
	f.Fuzz(func(_ *testing.T, data []byte) {
		_, _ = inspect(bytes.NewReader(data), int64(len(data)))
	})
}
