package auth

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/crypto/bcrypt"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const password = "correct horse"

func hashed(t testing.TB, text string) PasswordHash {
	t.Helper()
	h, err := HashPassword([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// The right password would be refused, or a wrong one taken.
func TestPasswords(t *testing.T) {
	b, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{hashed(t, password).Reveal(), string(b)} {
		h, err := ParsePasswordHash(text)
		if err != nil {
			t.Fatal(err)
		}
		for given, want := range map[string]bool{
			password: true, password + "x": false, "": false, strings.Repeat("x", 80): false, strings.Repeat("x", 10_000): false,
		} {
			if h.verify([]byte(given)) != want {
				t.Errorf("%.8s: %q is taken: %v", text, given, !want)
			}
		}
	}
	for _, short := range []string{"", "1234567", strings.Repeat("x", MaxPassword+1)} {
		if _, err := HashPassword([]byte(short)); err == nil {
			t.Errorf("a password of %d bytes is taken", len(short))
		}
	}
}

// A hash from elsewhere could take all memory at each login, or let everybody in.
func TestBadHashes(t *testing.T) {
	good := hashed(t, password).Reveal()
	for _, text := range []string{
		"", "secret", "$", "$$$$$", "$2a$", "$2b$31$" + strings.Repeat("a", 53), strings.Replace(good, "argon2id", "argon2i", 1),
		strings.Replace(good, "m=19456", "m=9999999", 1), strings.Replace(good, "t=2", "t=0", 1), strings.Replace(good, "p=1", "p=0", 1),
		strings.Replace(good, "v=19", "v=16", 1), good[:strings.LastIndex(good, "$")+1], good[:len(good)-30],
		"$argon2id$v=19$m=19456,t=2,p=1$$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
	} {
		if h, err := ParsePasswordHash(text); err == nil {
			t.Errorf("%q is taken as %q", text, h.Reveal())
		}
	}
	for _, text := range []string{"", "sha256:", "sha256:00", strings.Repeat("0", 64), "md5:" + strings.Repeat("0", 64)} {
		if _, err := ParseSecretHash(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// What is written in a log or a report would let its reader guess passwords.
func TestHashesPrintAsSecret(t *testing.T) {
	p, s := hashed(t, password), HashSecret("x")
	dir := Directory{Users: []User{{Name: "alice", Password: p}}, Tokens: []Token{{Name: "deploy", Hash: s}}}
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%x", "%q"} {
		text := fmt.Sprintf(format, dir)
		if strings.Contains(text, p.Reveal()[20:]) || strings.Contains(text, s.Reveal()[8:]) || !strings.Contains(text, "<secret>") {
			t.Errorf("%s: %s", format, text)
		}
	}
}

// here and elsewhere are where logins come from.
var (
	here      = netip.MustParseAddr("192.0.2.1")
	elsewhere = netip.MustParseAddr("198.51.100.1")
)

// gate is one whose user alice is an operator.
func gate(t testing.TB, stored map[string][]byte) (*Gate, *kept) {
	t.Helper()
	k := &kept{values: stored}
	if k.values == nil {
		k.values = map[string][]byte{}
	}
	g := NewGate(Options{Now: time.Now, Stored: stored, Keep: k.keep})
	g.Use(Directory{Users: []User{{Name: "alice", Role: Operator, Password: cheap(t)}}})
	return g, k
}

// cheap is a hash of the password that costs little.
func cheap(t testing.TB) PasswordHash {
	t.Helper()
	b, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	h, err := ParsePasswordHash(string(b))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// kept is a store.
type kept struct {
	mu     sync.Mutex
	values map[string][]byte
}

func (k *kept) keep(values map[string][]byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for key, v := range values {
		if v == nil {
			delete(k.values, key)
		} else {
			k.values[key] = v
		}
	}
}

func (g *Gate) try(t testing.TB, name, password string, from netip.Addr) (string, error) {
	t.Helper()
	secret, _, err := g.Login(t.Context(), name, password, from)
	return secret, err
}

// A program could guess passwords as fast as it can ask.
func TestGuessing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := gate(t, nil)
		guesses, start := 0, time.Now()
		for time.Since(start) < time.Hour {
			_, err := g.try(t, "alice", "wrong", here)
			if wait, ok := errors.AsType[*WaitError](err); ok {
				if wait.For > longestWait {
					t.Fatalf("a wait of %s: that locks people out", wait.For)
				}
				time.Sleep(wait.For)
				continue
			}
			if !errors.Is(err, ErrWrong) {
				t.Fatal(err)
			}
			guesses++
		}
		if guesses > 30 {
			t.Errorf("%d guesses in an hour", guesses)
		}
		// The owner who waits as long gets in.
		time.Sleep(longestWait)
		if _, err := g.try(t, "alice", password, here); err != nil {
			t.Errorf("the right password after the wait: %v", err)
		}
		if _, err := g.try(t, "alice", "wrong", here); !errors.Is(err, ErrWrong) {
			t.Errorf("a success leaves no clean slate: %v", err)
		}
	})
}

// Guesses that are sent all at once would each be counted too late.
func TestGuessingAtOnce(t *testing.T) {
	g, _ := gate(t, nil)
	var all sync.WaitGroup
	var mu sync.Mutex
	wrong := 0
	for range 200 {
		all.Go(func() {
			if _, _, err := g.Login(context.Background(), "alice", "wrong", here); errors.Is(err, ErrWrong) {
				mu.Lock()
				wrong++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if wrong > 2*freeFailures {
		t.Errorf("%d of 200 guesses were looked at", wrong)
	}
}

// An attack from elsewhere on a name would keep its owner out, and one from
// everywhere on a name would go on unhindered.
func TestWhoIsHindered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := gate(t, nil)
		if _, err := g.try(t, "alice", password, here); err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			from := netip.AddrFrom4([4]byte{203, 0, 113, byte(i)})
			_, err := g.try(t, "alice", "wrong", from)
			if _, ok := errors.AsType[*WaitError](err); ok != (i >= freeFailures) {
				t.Errorf("guess %d from another address: %v", i, err)
			}
		}
		if _, err := g.try(t, "alice", password, here); err != nil {
			t.Errorf("alice, from where she is known: %v", err)
		}
		// Another machine of the same IPv6 network is the same source.
		for i := range freeFailures {
			_, _ = g.try(t, fmt.Sprint("nobody", i), "wrong", netip.MustParseAddr(fmt.Sprintf("2001:db8::%d", i+1)))
		}
		if _, err := g.try(t, "bob", "wrong", netip.MustParseAddr("2001:db8::99")); errors.Is(err, ErrWrong) {
			t.Error("an IPv6 network has as many guesses as addresses")
		}
	})
}

// Who has never been wrong would be told of too many failures, and be made to wait, because
// many others log in at once.
func TestWhoIsNotLookedAtHasNotFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := gate(t, nil)
		for range maxQueue {
			g.queue <- struct{}{}
		}
		for range 2 * freeFailures {
			if _, err := g.try(t, "alice", password, here); !errors.Is(err, ErrBusy) {
				t.Fatalf("while others are looked at: %v", err)
			}
		}
		for range maxQueue {
			<-g.queue
		}
		for range checksAtATime {
			g.checks <- struct{}{}
		}
		gone, leave := context.WithCancel(t.Context())
		leave()
		for range 2 * freeFailures {
			if _, _, err := g.Login(gone, "alice", password, here); !errors.Is(err, context.Canceled) {
				t.Fatalf("who did not wait: %v", err)
			}
		}
		for range checksAtATime {
			<-g.checks
		}
		if _, err := g.try(t, "alice", password, here); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}

// Who has waited for what failed before would have to wait as long once more, because many
// others log in at once.
func TestWhoIsNotLookedAtHasWaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := gate(t, nil)
		for range freeFailures + 5 {
			_, _ = g.try(t, "alice", "wrong", here)
			time.Sleep(longestWait)
		}
		for range maxQueue {
			g.queue <- struct{}{}
		}
		if _, err := g.try(t, "alice", password, here); !errors.Is(err, ErrBusy) {
			t.Fatalf("while others are looked at: %v", err)
		}
		for range maxQueue {
			<-g.queue
		}
		if _, err := g.try(t, "alice", password, here); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}

// The memory of the controller would be the attacker's.
func TestFailuresAreBounded(t *testing.T) {
	l := newLimiter()
	now := time.Now()
	for i := range 3 * maxTracked {
		l.failed(now, fmt.Sprint(i))
	}
	if len(l.byKey) > maxTracked {
		t.Errorf("%d are remembered", len(l.byKey))
	}
}

// Sessions would outlive what they should end with.
func TestSessionsEnd(t *testing.T) {
	tests := []struct {
		name string
		do   func(t *testing.T, g *Gate, secret string)
		want bool
	}{
		{"in use", func(_ *testing.T, g *Gate, secret string) {
			for range 20 { // nearly ten hours
				time.Sleep(IdleTime - time.Minute)
				g.Session(secret)
			}
		}, true},
		{"idle", func(*testing.T, *Gate, string) { time.Sleep(IdleTime + time.Second) }, false},
		{"soon", func(*testing.T, *Gate, string) { time.Sleep(time.Minute) }, true},
		{"logged out", func(_ *testing.T, g *Gate, secret string) { c, _ := g.Session(secret); g.Logout(c, false) }, false},
		{"logged out everywhere", func(t *testing.T, g *Gate, _ string) {
			other, err := g.try(t, "alice", password, elsewhere)
			if err != nil {
				t.Fatal(err)
			}
			c, _ := g.Session(other)
			g.Logout(c, true)
		}, false},
		{"the user leaves", func(_ *testing.T, g *Gate, _ string) { g.Use(Directory{}) }, false},
		{"another password", func(t *testing.T, g *Gate, _ string) {
			g.Use(Directory{Users: []User{{Name: "alice", Role: Operator, Password: cheap(t)}}})
		}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, k := gate(t, nil)
				secret, err := g.try(t, "alice", password, here)
				if err != nil {
					t.Fatal(err)
				}
				for key := range k.values {
					if strings.Contains(key, secret) || strings.Contains(string(k.values[key]), secret) {
						t.Error("the secret is stored")
					}
				}
				tt.do(t, g, secret)
				if _, ok := g.Session(secret); ok != tt.want {
					t.Errorf("it holds: %v", ok)
				}
				// After a restart it is the same.
				again := NewGate(Options{Now: time.Now, Stored: k.values})
				again.Use(g.directory())
				if _, ok := again.Session(secret); ok != tt.want {
					t.Errorf("after a restart it holds: %v", ok)
				}
			})
		})
	}
}

// A session that is used all the time would never end.
func TestSessionsEndInAnyCase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := gate(t, nil)
		secret, err := g.try(t, "alice", password, here)
		if err != nil {
			t.Fatal(err)
		}
		for range 26 {
			time.Sleep(IdleTime - 2*time.Minute)
			g.Session(secret)
		}
		if _, ok := g.Session(secret); ok {
			t.Error("it holds for more than 12 hours")
		}
	})
}

// One user who logs in again and again would fill the store.
func TestSessionsAreBounded(t *testing.T) {
	g, k := gate(t, nil)
	var first, last string
	for i := range maxSessions + 3 {
		secret, err := g.try(t, "alice", password, here)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = secret
		}
		last = secret
	}
	if _, ok := g.Session(first); ok || len(k.values) > maxSessions {
		t.Errorf("the first holds: %v, of %d", ok, len(k.values))
	}
	if _, ok := g.Session(last); !ok {
		t.Error("the last does not hold")
	}
}

// A token would let in longer than it should, or not at all, and who follows
// events would go on to when it is taken away.
func TestTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := gate(t, nil)
		secret := NewToken()
		token := Token{Name: "deploy", Role: Admin, Hash: HashSecret(secret), Expires: time.Now().Add(time.Hour)}
		g.Use(Directory{Tokens: []Token{token}})
		c, ok := g.Token(secret)
		if !ok || c.Name != "deploy" || c.Role != Admin || !g.Holds(c) {
			t.Fatalf("%+v, %v", c, ok)
		}
		if _, ok := g.Token(secret + "x"); ok {
			t.Error("another secret is taken")
		}
		changed := g.Changed()
		token.Role = Viewer
		g.Use(Directory{Tokens: []Token{token}})
		select {
		case <-changed:
		default:
			t.Error("nobody is told of the change")
		}
		if g.Holds(c) {
			t.Error("an admin is one although the token's role is another")
		}
		time.Sleep(time.Hour)
		if _, ok := g.Token(secret); ok {
			t.Error("it lets in after its end")
		}
	})
}

// What a stranger writes into a configuration or a store must never stop the
// controller.
func FuzzParsePasswordHash(f *testing.F) {
	f.Add("$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5J3Mgc2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	f.Add("$2a$04$abcdefghijklmnopqrstuuE3xU3.Q0uW7j4bW9vO3lX8g2sJwZkGi")
	f.Fuzz(func(t *testing.T, text string) {
		h, err := ParsePasswordHash(text)
		if err != nil {
			return
		}
		if h.memory > maxMemory || h.passes > maxPasses || h.lanes > maxLanes || h.Reveal() != text {
			t.Fatalf("%q costs %d KiB", text, h.memory)
		}
	})
}
