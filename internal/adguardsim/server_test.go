package adguardsim

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func run(t *testing.T, opt Options) *Server {
	t.Helper()
	opt.Username, opt.Password = "dnsteer", "pass"
	s, err := Start(opt)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The tests of the provider would prove nothing: the simulator would let in, or
// lock out, otherwise than the version it stands for.
func TestLockOut(t *testing.T) {
	for _, p := range Profiles() {
		t.Run(p.Version, func(t *testing.T) {
			now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			s := run(t, Options{Profile: p, Now: func() time.Time { return now }})
			defer s.Close()
			k := newTalk(t, s.URL(), s.DNS())
			status := func(step string) string { text, _, _ := strings.Cut(k.say(step), " "); return text }
			no := "401"
			if !p.newAuth {
				no = "403"
			}
			for range 5 {
				if got := status("basic dnsteer:bad GET /control/status"); got != no {
					t.Errorf("a wrong password gets %s", got)
				}
			}
			right, login := "401", "429"
			if !p.newAuth {
				right, login = "200", "200"
			}
			if got := status("basic dnsteer:pass GET /control/status"); got != right {
				t.Errorf("after five wrong ones the right one gets %s", got)
			}
			if got := status("login"); got != login {
				t.Errorf("after five wrong ones logging in gets %s", got)
			}
			now = now.Add(blocked + time.Second)
			if got := status("login"); got != "200" {
				t.Errorf("after a quarter of an hour logging in gets %s", got)
			}
		})
	}
}

// A client that sends requests side by side would pass the tests and be locked
// out by v0.107.65.
func TestParallelRequestsAreLockedOut(t *testing.T) {
	for _, p := range []Profile{V65, V68} {
		entered, leave := make(chan struct{}), make(chan struct{})
		s := run(t, Options{Profile: p, Hash: func() { entered <- struct{}{}; <-leave }})
		ask := func() string { return newTalk(t, s.URL(), s.DNS()).say("basic dnsteer:pass GET /control/status") }
		var done sync.WaitGroup
		for range attempts {
			done.Go(func() { ask() })
			<-entered // it is at its password, and stays there
		}
		sixth := make(chan string, 1)
		done.Go(func() { sixth <- ask() })
		locked := false
		select {
		case text := <-sixth:
			locked = strings.HasPrefix(text, "401")
		case <-entered:
		}
		close(leave)
		done.Wait()
		if locked != p.countsFirst {
			t.Errorf("%s: the sixth of six right ones side by side is locked out: %v", p.Version, locked)
		}
		s.Close()
	}
}

// What was answered with 200 would be lost in a crash.
func TestWhatIsAnsweredIsKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state")
	s := run(t, Options{File: file})
	k := newTalk(t, s.URL(), s.DNS())
	k.say("login")
	k.say(`POST /control/rewrite/add json {"domain":"app.lan","answer":"192.0.2.1"}`)
	hit := s.Break(LostReply, 0, false)
	k.say(`POST /control/rewrite/add json {"domain":"app.lan","answer":"192.0.2.2"}`)
	<-hit
	s.Close()
	s = run(t, Options{File: file})
	defer s.Close()
	k.url = s.URL()
	if got := k.say("GET /control/rewrite/list"); !strings.Contains(got, `"192.0.2.1","enabled":true},{"domain":"app.lan","answer":"192.0.2.2"`) {
		t.Errorf("after a crash there is %s", got)
	}
}
