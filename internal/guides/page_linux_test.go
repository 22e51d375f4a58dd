package guides

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// step is one thing that a guide has its reader do, or that happens in its story.
type step struct {
	line int
	// play is a part of the story: the words of a comment "<!-- play: … -->".
	play []string
	// file is written with text.
	file, text string
	// command is run at a place ("" is the controller's machine), and prints output.
	place, command string
	output         []string
}

var (
	playing = regexp.MustCompile(`^<!-- play: (.+) -->$`)
	written = regexp.MustCompile(`^[#;] (/etc/\S+)$`)
	prompt  = regexp.MustCompile(`^([a-z]*)\$ (.*)$`)
)

// guide reads the steps of a page: its blocks of "console", the blocks whose
// first line names a file of /etc in a comment, those of "routeros", and the
// comments of the story.
func guide(t *testing.T, name string) (list []step) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "guides", name))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(data), "\n")
	for i := 0; i < len(lines); i++ {
		if m := playing.FindStringSubmatch(lines[i]); m != nil {
			list = append(list, step{line: i + 1, play: strings.Fields(m[1])})
			continue
		}
		lang, fenced := strings.CutPrefix(lines[i], "```")
		if !fenced {
			continue
		}
		start := i + 1
		for i++; i < len(lines) && lines[i] != "```"; i++ {
		}
		if i == len(lines) {
			t.Fatalf("%s:%d: the block is not closed", name, start)
		}
		block := lines[start:i]
		switch m := written.FindStringSubmatch(block[0]); {
		case lang == "console":
			list = append(list, commands(block, start+1)...)
		case m != nil:
			list = append(list, step{line: start + 1, file: m[1], text: strings.Join(block, "\n") + "\n"})
		case lang == "routeros":
			list = append(list, step{line: start + 1, file: "router", text: strings.Join(block, "\n")})
		}
	}
	return list
}

// commands reads a block of "console".
func commands(block []string, line int) (list []step) {
	for i, text := range block {
		if m := prompt.FindStringSubmatch(text); m != nil {
			list = append(list, step{line: line + i, place: m[1], command: m[2]})
			continue
		}
		if len(list) == 0 {
			continue
		}
		last := &list[len(list)-1]
		if before, more := strings.CutSuffix(last.command, "\\"); more {
			last.command = before + strings.TrimSpace(text)
			continue
		}
		last.output = append(last.output, text)
	}
	return list
}

// free are what any run of a guide has others of: dates, times, durations, serial
// numbers, ports that the system chose, fingerprints.
var free = []string{
	`\d{4}\\?-\d\d\\?-\d\d`, `\d\d:\d\d:\d\d`, `\b\d+(\\\.\d+)?(ms|µs|s|m|h|d)\b`, `\b\d{10}\b`, `\b[0-9a-f]{64}\b`,
}

// form turns an output of a guide into a form that any run of it has. A line
// "…" stands for any lines; where lines are broken, and the order of records, are
// free.
func form(lines []string) *regexp.Regexp {
	text := regexp.QuoteMeta(flat(lines))
	for _, f := range free {
		text = regexp.MustCompile(f).ReplaceAllLiteralString(text, `\S+`)
	}
	// Several words of a duration are one: "5m 3s".
	text = regexp.MustCompile(`(\\S\+ )+\\S\+ ago`).ReplaceAllLiteralString(text, `[^.]+ ago`)
	text = regexp.MustCompile(`(^| )…( |$)`).ReplaceAllLiteralString(text, ".*")
	return regexp.MustCompile("^" + strings.ReplaceAll(text, "…", ".*") + "$")
}

var address = regexp.MustCompile(`^\d+\.\d+\.\d+\.\d+$`)

func flat(lines []string) string {
	lines = slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return strings.TrimSpace(line) == "" })
	if !slices.ContainsFunc(lines, func(line string) bool { return !strings.Contains(line, "\tIN\t") && !address.MatchString(line) }) {
		slices.Sort(lines)
	}
	return strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
}
