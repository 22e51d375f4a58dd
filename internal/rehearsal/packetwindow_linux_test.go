package rehearsal

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// A window begins so long after the controller was started, and lasts so long.
const (
	windowAhead = 30 * time.Second
	windowLasts = 10 * time.Second
)

// windows has the window of a configuration begin soon. Windows go by the minutes of a
// wall clock that nothing makes faster and that belongs to the whole machine: it is the
// window's time zone that is another one, in which the hour is near.
func (p *packets) windows(configuration string) (text string, env []func() string) {
	schedule := regexp.MustCompile(`schedule: "(\d+) (\d+) \* \* \*", duration: \w+, timezone: ([\w/]+)`)
	m := schedule.FindStringSubmatch(configuration)
	if m == nil {
		return configuration, nil
	}
	minute, _ := strconv.Atoi(m[1]) // it is digits
	hour, _ := strconv.Atoi(m[2])
	begins := time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute
	dir := p.t.TempDir()
	text = schedule.ReplaceAllString(configuration, `schedule: "$1 $2 * * *", duration: `+windowLasts.String()+`, timezone: $3`)
	return text, []func() string{func() string {
		now := time.Now().UTC()
		today := now.Sub(now.Truncate(24 * time.Hour))
		writeZone(p, filepath.Join(dir, m[3]), begins-windowAhead-today)
		return "ZONEINFO=" + dir
	}}
}

// writeZone writes the file of a time zone that is always so far ahead of UTC (tzfile(5)).
func writeZone(p *packets, name string, ahead time.Duration) {
	p.t.Helper()
	data := append([]byte("TZif"), make([]byte, 16)...) // version 1, and what is reserved
	for _, count := range []uint32{0, 0, 0, 0, 1, 4} {  // one kind of time, four letters
		data = binary.BigEndian.AppendUint32(data, count)
	}
	data = binary.BigEndian.AppendUint32(data, uint32(int32(ahead/time.Second)))
	data = append(data, 0, 0) // no daylight saving time; its letters are the first
	data = append(data, "RHL\x00"...)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		p.t.Fatal(err)
	}
}
