package web

import (
	"fmt"
	"hash/fnv"
	"html/template"
	"io/fs"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/internal/plural"
	"github.com/dnsteer/dnsteer/probes"
	"github.com/dnsteer/dnsteer/sites"
)

// helpers are what templates call.
func helpers(assets map[string]string) template.FuncMap {
	asset := func(name string) (string, error) {
		if assets[name] == "" {
			return "", fmt.Errorf("there is no asset %q", name)
		}
		return assets[name], nil
	}
	return template.FuncMap{
		"ago": ago, "clock": clock, "stamp": stamp, "took": took, "asset": asset,
		"addresses": addresses, "listed": listed, "sentence": sentence, "lower": strings.ToLower, "join": strings.Join, "plural": plural.Of[int], "prose": prose, "serves": serves, "detailed": func(d probes.Detail) []said { return detailed(&d) },
		"sign": func(shape, word string, tone Tone) sign { return sign{shape, word, tone} },
	}
}

// ago says how long something lasts, coarsely.
func ago(since, now time.Time) string {
	if since.IsZero() {
		return ""
	}
	return span(now.Sub(since))
}

// span writes a length of time in its two largest units at most.
func span(d time.Duration) string {
	d = max(d, 0).Round(time.Second)
	days, hours, minutes, seconds := d/(24*time.Hour), d/time.Hour%24, d/time.Minute%60, d/time.Second%60
	switch {
	case days > 0 && hours > 0:
		return fmt.Sprintf("%d d %d h", days, hours)
	case days > 0:
		return fmt.Sprintf("%d d", days)
	case hours > 0 && minutes > 0:
		return fmt.Sprintf("%d h %d min", hours, minutes)
	case hours > 0:
		return fmt.Sprintf("%d h", hours)
	case minutes >= 10 || minutes > 0 && seconds == 0:
		return fmt.Sprintf("%d min", minutes)
	case minutes > 0:
		return fmt.Sprintf("%d min %d s", minutes, seconds)
	default:
		return fmt.Sprintf("%d s", seconds)
	}
}

// clock is a time of day in UTC; scripts write it in the reader's zone.
func clock(t time.Time) string { return t.UTC().Format("15:04:05") + " UTC" }

// stamp is a time for machines.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// took writes the length of a probe.
func took(d time.Duration) string {
	switch {
	case d <= 0:
		return ""
	case d < 50*time.Microsecond:
		return "< 0.1 ms"
	case d < 10*time.Millisecond:
		return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 1, 64) + " ms"
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	default:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	}
}

func addresses(lists ...[]netip.Addr) (out []string) {
	for _, list := range lists {
		for _, a := range list {
			out = append(out, a.String())
		}
	}
	return out
}

// maxListed bounds the addresses and names that stand in one line: nobody reads a thousand.
const maxListed = 16

// several lists what there is, as far as it can be read.
func several(list []string) string {
	if more := len(list) - maxListed; more > 1 {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:maxListed], ", "), more)
	}
	return strings.Join(list, ", ")
}

// listed lists the addresses of an answer.
func listed(list []string) string {
	if len(list) == 0 {
		return "no address"
	}
	return several(list)
}

// sentence gives a text an end, and a capital where it begins with an article.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "a ") { // names of sites and nodes keep theirs
		s = "A" + s[1:]
	}
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}

// piece is a part of a sentence: a time, or what stands between times.
type piece struct {
	Text string
	At   time.Time
}

// timeInText is a time with its zone, as the sentences of the rules have it: CET, UTC, -03.
var timeInText = regexp.MustCompile(`(\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d (?:[A-Z]{3,5}\b|[+-]\d\d(?:\d\d)?\b)`)

// prose cuts a text that was written for a terminal into its times, which are then
// shown in the reader's zone, and the rest. A time without a date is the one that is
// nearest to near. The sentences of the rules have the zone of the controller's machine.
func prose(text string, near time.Time) []piece { return proseOf(text, near, time.Local) }

func proseOf(text string, near time.Time, zone *time.Location) (list []piece) {
	text = sentence(text)
	last := 0
	for _, at := range timeInText.FindAllStringIndex(text, -1) {
		word := text[at[0]:at[1]]
		t, ok := timeOf(word, near, zone)
		if !ok {
			continue
		}
		list = append(list, piece{Text: text[last:at[0]]}, piece{word, t})
		last = at[1]
	}
	return append(list, piece{Text: text[last:]})
}

// timeOf reads a time as sentences have it; false for one of a zone that is neither UTC
// nor known at zone.
func timeOf(word string, near time.Time, zone *time.Location) (time.Time, bool) {
	form, exact := "15:04:05 MST", false
	if name := word[strings.LastIndexByte(word, ' ')+1:]; name[0] == '+' || name[0] == '-' { // it has none
		form, exact = "15:04:05 "+"-0700"[:len(name)], true
	}
	dated := strings.Count(word, " ") > 1
	if dated {
		form = "2006-01-02 " + form
	}
	t, err := time.ParseInLocation(form, word, zone)
	if err != nil || !exact && t.Location() != time.UTC && t.Location() != zone {
		return time.Time{}, false
	}
	if dated {
		return t.UTC(), true
	}
	return nearest(t.UTC(), near.UTC()), true
}

// nearest gives the moment with a time of day that is at most half a day from
// another.
func nearest(clock, near time.Time) time.Time {
	y, m, d := near.Date()
	t := time.Date(y, m, d, clock.Hour(), clock.Minute(), clock.Second(), 0, time.UTC)
	switch diff := t.Sub(near); {
	case diff > 12*time.Hour:
		return t.AddDate(0, 0, -1)
	case diff < -12*time.Hour:
		return t.AddDate(0, 0, 1)
	}
	return t
}

// serves says where the addresses of an answer come from.
func serves(word string) string {
	switch site, emergency := strings.CutPrefix(word, "emergency:"); {
	case emergency:
		return "from the emergency site " + site
	case word == "own":
		return "from its own nodes"
	case word == "last_resort":
		return "as a last resort: nothing answers"
	case word == "empty":
		return "nothing serves"
	}
	return word
}

// assetPaths gives the URL paths of the embedded files, which change with their
// content.
func assetPaths() (map[string]string, error) {
	list, err := fs.ReadDir(files, "assets")
	if err != nil {
		return nil, err
	}
	paths := make(map[string]string, len(list))
	for _, f := range list {
		data, err := fs.ReadFile(files, "assets/"+f.Name())
		if err != nil {
			return nil, err
		}
		sum := fnv.New64a()
		_, _ = sum.Write(data) // cannot fail
		paths[f.Name()] = fmt.Sprintf("/assets/%s?v=%x", f.Name(), sum.Sum64())
	}
	return paths, nil
}

// Tone is how much something wants a person: the only use of colour.
type Tone string

// The tones.
const (
	Calm  Tone = "calm"
	Watch Tone = "watch" // wants attention
	Gone  Tone = "gone"  // does not serve
	Held  Tone = "held"  // held or paused
)

// sign is a state as it is shown: by shape, then word, then colour.
type sign struct {
	// Shape names a drawing of parts.html.
	Shape, Word string
	Tone        Tone
}

// signOf gives the sign of a node's word. What cannot be seen is held; a node that was
// out before stays out.
func signOf(word sites.Word, unseen bool) sign {
	switch {
	case !unseen || word == sites.WordMaintenance || word == sites.WordDisabled:
	case word == sites.WordOut:
		return sign{"out", "out, not seen", Gone}
	default:
		return sign{"held", "not seen", Held}
	}
	switch word {
	case sites.WordUp:
		return sign{"up", "up", Calm}
	case sites.WordFailing:
		return sign{"failing", "failing", Watch}
	case sites.WordOut:
		return sign{"out", "out", Gone}
	case sites.WordRecovering:
		return sign{"recovering", "recovering", Watch}
	case sites.WordReturning:
		return sign{"returning", "returning", Watch}
	case sites.WordMaintenance:
		return sign{"maintenance", "maintenance", Held}
	case sites.WordDisabled:
		return sign{"disabled", "disabled", Held}
	default:
		return sign{"pending", "not yet known", Calm}
	}
}
