package cli

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/dnsteer/dnsteer/internal/api"
)

// People would misread how long something lasts.
func TestAgo(t *testing.T) {
	const day = 24 * time.Hour
	tests := []struct {
		in   time.Duration
		want string
	}{
		{-time.Second, "0s"},
		{999 * time.Millisecond, "0s"},
		{59 * time.Second, "59s"},
		{time.Minute, "1m"},
		{90 * time.Second, "1m30s"},
		{time.Hour + 59*time.Second, "1h"},
		{3*time.Hour + 20*time.Minute, "3h20m"},
		{day, "1d"},
		{400*day + 5*time.Hour + time.Minute, "400d5h"},
	}
	for _, tt := range tests {
		if got := ago(tt.in); got != tt.want {
			t.Errorf("ago(%s) = %s, want %s", tt.in, got, tt.want)
		}
	}
}

// A probe of microseconds would look as if it had taken no time, one of seconds
// like noise.
func TestTook(t *testing.T) {
	tests := []struct {
		in   time.Duration
		want string
	}{
		{0, "-"},
		{80_100, "80µs"},
		{1_234_567, "1.2ms"},
		{2_000_123_456, "2s"},
		{1_234_567_890, "1.235s"},
	}
	for _, tt := range tests {
		if got := took(tt.in); got != tt.want {
			t.Errorf("took(%d) = %s, want %s", tt.in, got, tt.want)
		}
	}
}

// A time of yesterday would be taken for one of today.
func TestMoment(t *testing.T) {
	now := time.Date(2026, 3, 1, 23, 0, 0, 0, time.Local)
	zone := now.Format(" MST")
	for in, want := range map[time.Time]string{
		now.Add(-time.Hour): "22:00:00" + zone,
		now.Add(time.Hour):  "2026-03-02 00:00:00" + zone,
	} {
		if got := moment(in, now); got != want {
			t.Errorf("moment(%s) = %s, want %s", in, got, want)
		}
	}
}

// `--since` would choose other events than a person means.
func TestInstant(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		in   string
		want time.Time
		ok   bool
	}{
		{"", time.Time{}, true},
		{"1d12h", now.Add(-36 * time.Hour), true},
		{"2026-01-02T15:04:05Z", time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC), true},
		{"2026-01-02 15:04:05", time.Date(2026, 1, 2, 15, 4, 5, 0, time.Local), true},
		{"2026-01-02", time.Date(2026, 1, 2, 0, 0, 0, 0, time.Local), true},
		{"yesterday", time.Time{}, false},
		{"5", time.Time{}, false},
	}
	for _, tt := range tests {
		got, err := instant(tt.in, now)
		if !got.Equal(tt.want) || (err == nil) != tt.ok {
			t.Errorf("instant(%q) = %s, %v", tt.in, got, err)
		}
	}
}

// A table would run over the edge of the screen, or lose words.
func TestTablesFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-zü]{0,50}( [a-z]{0,30}){0,12}`)
		rows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) []cell {
			return []cell{{rapid.StringMatching(`[a-z]{1,63}`).Draw(t, "name"), plain}, {rapid.StringMatching(`[a-z]{1,11}`).Draw(t, "word"), plain}, {text.Draw(t, "text"), plain}}
		}), 1, 5).Draw(t, "rows")
		p := &printer{}
		p.table("  ", rows)
		var want []string
		for _, row := range rows {
			for _, c := range row {
				want = append(want, strings.Fields(c.text)...)
			}
		}
		if d := cmp.Diff(want, strings.Fields(p.String())); d != "" {
			t.Fatalf("words (-want +got):\n%s", d)
		}
		for line := range strings.Lines(p.String()) {
			// A word that is wider than its column cannot be broken.
			if line = strings.TrimSuffix(line, "\n"); len([]rune(line)) > width && len(strings.Fields(line)) > 3 {
				t.Fatalf("%d wide: %q", len([]rune(line)), line)
			}
		}
	})
}

// A reason that somebody gave could hide or forge what stands on the screen of
// somebody else.
func TestNothingSteersTheTerminal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.String().Draw(t, "in")
		for _, r := range printable(in) {
			if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r == 0x202e {
				t.Fatalf("%q holds %U", printable(in), r)
			}
		}
	})
}

// Colours must be there for those who see them and nowhere else: a log or a
// pipe would be full of them.
func TestColors(t *testing.T) {
	p := &printer{colored: true}
	p.table("", [][]cell{{{"a", red}, {"b c", green}}})
	if want := "\x1b[31ma\x1b[0m  \x1b[32mb c\x1b[0m\n"; p.String() != want {
		t.Errorf("got %q, want %q", p.String(), want)
	}
	c := &commands{Env: Env{Out: &strings.Builder{}, LookupEnv: func(string) (string, bool) { return "", false }}}
	if c.colored() {
		t.Error("colours for what is no terminal")
	}
}

// An example that the command line does not take teaches people wrong things.
func TestExamplesAreTaken(t *testing.T) {
	env := Env{
		Out: &strings.Builder{}, LookupEnv: func(string) (string, bool) { return "", false },
		Serve: func(context.Context, ServeOptions) error { return nil },
		Demo:  func(context.Context, DemoOptions) error { return nil },
	}
	tried := 0
	dir := t.TempDir()
	t.Chdir(dir) // what they write goes there
	for _, cmd := range described() {
		for line := range strings.Lines(cmd.Example) {
			messages := &strings.Builder{}
			env.Err = messages
			line, _, _ = strings.Cut(line, ">")
			line = strings.ReplaceAll(line, "/etc/dnsteer", dir)
			args := words(strings.TrimSpace(line))
			if g := groupOf(cmd); g != "run" && g != "try" && g != "" {
				args = append(args, "--socket", "/nowhere/dnsteer.sock")
			}
			ctx, cancel := context.WithCancel(t.Context())
			if cmd.Name() == "pin" {
				cancel() // it asks another machine
			}
			code := Run(ctx, args[1:], env)
			cancel()
			tried++
			if !strings.HasPrefix(strings.Join(args, " ")+" ", cmd.CommandPath()+" ") || strings.Contains(messages.String(), "for how it is used") || (code == wrongUse && cmd.Name() != "rehearse") {
				t.Errorf("%s: exit code %d, %s", line, code, messages)
			}
		}
	}
	if tried < 10 {
		t.Errorf("only %d examples", tried)
	}
}

// words splits a line as a shell does, as far as the examples go.
func words(line string) (list []string) {
	for i, part := range strings.Split(line, `"`) {
		if i%2 == 1 {
			list = append(list, part)
		} else {
			list = append(list, strings.Fields(part)...)
		}
	}
	return list
}

// A site with thousands of nodes must not lose any of them in the completion.
func TestOffered(t *testing.T) {
	var s api.Status
	if got := offered(&s, offerSites|offerNodes|offerPools|offerHosts); len(got) != 0 {
		t.Errorf("an empty controller offers %v", got)
	}
	s.Services = []api.ServiceView{{Hosts: []string{"a", "b"}}}
	if got := fmt.Sprint(offered(&s, offerHosts)); got != "[a b]" {
		t.Errorf("got %s", got)
	}
}
