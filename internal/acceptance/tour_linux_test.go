package acceptance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// long bounds how long an output of the tour may take to come: the threshold, or
// the minute in which a router is compared, and what this machine needs.
const long = 5 * time.Minute

// soon is how long an edit by hand is looked for before it is made once more.
const soon = 10 * time.Second

// act is one thing that a tour has a reader do: press a key, or run a command
// and compare what it prints.
type act struct {
	key     string
	command string
	output  []string
}

// acts reads a section of a page: its console blocks, and "press `X`" between
// them.
func acts(section string) (list []act) {
	press := regexp.MustCompile("(?i)press `(.)`")
	inside := false
	for line := range strings.Lines(section) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```console"
		case !inside:
			for _, m := range press.FindAllStringSubmatch(line, -1) {
				list = append(list, act{key: m[1]})
			}
		case strings.HasPrefix(line, "$ "):
			list = append(list, act{command: line[2:]})
		default:
			last := &list[len(list)-1]
			last.output = append(last.output, line)
		}
	}
	return list
}

// section gives what stands under a heading of a page.
func section(t *testing.T, page, heading string) string {
	t.Helper()
	_, after, found := strings.Cut(page, "\n## "+heading+"\n")
	if !found {
		t.Fatalf("there is no section %q", heading)
	}
	body, _, _ := strings.Cut(after, "\n## ")
	return body
}

// form turns an output of the page into a form that any run of it has: times,
// dates and durations may be others, lines may be broken elsewhere, and the
// order of records is free.
func form(lines []string) *regexp.Regexp {
	text := regexp.QuoteMeta(flat(lines))
	for _, free := range []string{
		`\d{4}-\d\d-\d\d`,
		`\d\d:\d\d:\d\d`,
		`\b\d+(\\\.\d+)?(ms|s|m|h)\b`,
	} {
		text = regexp.MustCompile(free).ReplaceAllLiteralString(text, `\S+`)
	}
	return regexp.MustCompile("^" + text + "$")
}

func flat(lines []string) string {
	if len(lines) > 0 && strings.Contains(lines[0], "\tIN\t") {
		slices.Sort(lines)
	}
	return strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
}

// If this fails, the README's tour shows what the program does not do.
func TestTour(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := folder(t)
	person, seen := terminal(t)
	cmd := command(t, dir, "demo", "--dns", "127.0.0.1:0")
	cmd.Stdin = seen
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	p := run(t, cmd)
	port := p.await(`dig @\S+ -p (\d+)`)[1]
	socket := p.await(`status --socket (\S+)`)[1]
	p.await("Keys:")
	status, err := command(t, dir, "status", "-o", "json", "--socket", socket).Output()
	if err != nil {
		t.Fatal(err)
	}
	resolver := regexp.MustCompile(`127\.2\.0\.1:(\d+)`).FindSubmatch(status)
	if resolver == nil {
		t.Fatalf("there is no resolver of hamburg in the status: %s", status)
	}
	binary, err := build()
	if err != nil {
		t.Fatal(err)
	}
	// What differs from a reader's machine: the ports, which other tests may
	// have taken, and where the program lies.
	here := strings.NewReplacer(
		"go run ./cmd/dnsteer", binary, "-p 5353", "-p "+port, "-p 5300", "-p "+string(resolver[1]),
		"/tmp/dnsteer-demo/dnsteer.sock", socket,
	)
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	// A reader is slower than the first probes.
	well := regexp.MustCompile(strings.Repeat(`"word":\s*"up".*`, 16)) // all eight nodes, and the one line of each
	if got := until(root, here.Replace("go run ./cmd/dnsteer status -o json --socket /tmp/dnsteer-demo/dnsteer.sock"), well, long); got != "" {
		t.Fatalf("the demo does not get well:\n%s", got)
	}
	press := func(key string) {
		t.Helper()
		if _, err := person.WriteString(key); err != nil {
			t.Fatal(err)
		}
	}
	edited := false
	for _, a := range acts(section(t, string(page), "A tour in five minutes")) {
		was := edited
		edited = a.key == "e"
		switch {
		case a.key != "":
			press(a.key)
		case strings.HasSuffix(a.command, " demo"): // it runs already
		default:
			want := form(strings.Split(strings.ReplaceAll(strings.Join(a.output, "\n"), "127.1.0.1:5300", "127.1.0.1:"+string(resolver[1])), "\n"))
			if was {
				// The witness may have had it put right before it could be seen. A second
				// edit stands for up to a minute.
				if until(root, here.Replace(a.command), want, soon) == "" {
					continue
				}
				press("e")
			}
			if got := until(root, here.Replace(a.command), want, long); got != "" {
				t.Fatalf("%s\nprints\n%s\nand never what the page shows:\n%s", a.command, got, strings.Join(a.output, "\n"))
			}
		}
	}
	p.stopped()
}

// until runs a command again and again until it prints what is wanted, and
// gives what it printed last if it never does.
func until(dir, line string, want *regexp.Regexp, within time.Duration) (got string) {
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(within)
	for {
		cmd := exec.Command("sh", "-c", line)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if want.MatchString(flat(strings.Split(string(out), "\n"))) && err == nil {
			return ""
		}
		select {
		case <-tick.C:
		case <-limit:
			return fmt.Sprintf("%s(%v)", out, err)
		}
	}
}
