package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// cronText is a schedule in cron's five fields, as it is written.
type cronText struct {
	text     string
	schedule *cron.SpecSchedule
}

func (c *cronText) form() form { return form{name: "cron schedule", pattern: `^\s*\S+(\s+\S+){4}\s*$`} }

func (c *cronText) UnmarshalText(text []byte) error {
	const example = `minute, hour, day of month, month and day of week, such as "0 3 * * SUN"`
	c.text = string(text)
	switch {
	case strings.Contains(c.text, "TZ="):
		return expected(example + "; the time zone has a key of its own, timezone")
	case strings.HasPrefix(c.text, "@"):
		return expected(example)
	}
	parsed, err := cron.ParseStandard(withSundays(c.text))
	if err != nil {
		return expected(fmt.Sprintf("%s (%s)", example, err))
	}
	s, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return expected(example)
	}
	s.Location = time.UTC
	if s.Next(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return expected("a schedule that begins at all: this date does not exist")
	}
	c.schedule = s
	return nil
}

// withSundays writes a schedule's days of the week as the parser knows them. In
// crontab(5) Sunday is 7 as well as 0, and a week may end with it: "5-7", "FRI-SUN".
func withSundays(text string) string {
	fields := strings.Fields(text)
	if len(fields) != 5 {
		return text
	}
	days := strings.Split(fields[4], ",")
	for i, part := range days {
		span, step, stepped := strings.Cut(part, "/")
		from, to, ranged := strings.Cut(span, "-")
		first, last := weekday(from), weekday(to)
		n := 1
		if stepped {
			n, _ = strconv.Atoi(step)
		}
		switch {
		case part == "7":
			days[i] = "0"
		case ranged && first >= 0 && n > 0 && (last == 7 || last == 0 && first > 0):
			var list []string
			for d := first; d <= 7; d += n {
				list = append(list, strconv.Itoa(d%7))
			}
			days[i] = strings.Join(list, ",")
		}
	}
	fields[4] = strings.Join(days, ",")
	return strings.Join(fields, " ")
}

// weekday gives the number of a day of the week, 0 or 7 for Sunday; -1 for none.
func weekday(text string) int {
	names := []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}
	if i := slices.Index(names, strings.ToLower(text)); i >= 0 {
		return i
	}
	if len(text) == 1 && text[0] >= '0' && text[0] <= '7' {
		return int(text[0] - '0')
	}
	return -1
}
