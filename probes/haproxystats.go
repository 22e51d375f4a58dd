package probes

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/dnsteer/dnsteer/sites"
)

// proxyStats is what HAProxy's statistics tell of the backends that are looked
// at.
type proxyStats struct {
	// up and down name them; missing those that were asked for and are not
	// there.
	up, down, missing []string
	sessions, limit   int64
	bytes             float64 // carried since HAProxy started, both ways
}

// backend is one backend of the page.
type backend struct {
	name    string
	up      bool
	servers int
	// Open sessions, and how many it is made for: the sum of its servers'
	// limits where all have one, else its own (fullconn).
	sessions, limit, serverLimit int64
	unlimited                    bool
	bytes                        float64
}

// statColumns are the columns that are read; each must be there.
var statColumns = [...]string{"pxname", "svname", "scur", "slim", "bin", "bout", "status"}

// statRow is a row by those columns.
type statRow struct {
	proxy, server, status    string
	sessions, limit, in, out int64
}

// parseStats reads HAProxy's statistics in CSV, as its page gives them with
// ";csv" behind its address and its socket to "show stat" (management guide,
// section 9.1). What is not of that form is an error.
func parseStats(data []byte) ([]backend, error) {
	body, ok := bytes.CutPrefix(data, []byte("# "))
	if !ok {
		return nil, errors.New("it does not begin with \"# pxname,svname\"")
	}
	r := csv.NewReader(bytes.NewReader(body))
	r.ReuseRecord = true
	header, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("its first line: %w", err)
	}
	var at [len(statColumns)]int
	for i, name := range statColumns {
		if at[i] = slices.Index(header, name); at[i] < 0 {
			return nil, fmt.Errorf("it has no column %q", name)
		}
	}
	var list []backend
	index := make(map[string]int)
	of := func(name string) *backend {
		i, known := index[name]
		if !known {
			i = len(list)
			index[name] = i
			list = append(list, backend{name: name})
		}
		return &list[i]
	}
	seen := make(map[string]bool)
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		row, err := statOf(record, at[:])
		if err != nil {
			line, _ := r.FieldPos(0)
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		switch row.server {
		case "FRONTEND":
		case "BACKEND":
			if seen[row.proxy] {
				return nil, fmt.Errorf("the backend %s stands twice", strconv.Quote(row.proxy))
			}
			seen[row.proxy] = true
			b := of(row.proxy)
			b.up, b.sessions, b.limit = row.status == "UP", row.sessions, row.limit
			b.bytes = float64(row.in) + float64(row.out)
		default:
			b := of(row.proxy)
			b.servers++
			b.serverLimit = saturated(b.serverLimit, row.limit)
			b.unlimited = b.unlimited || row.limit == 0
		}
	}
	// A listener's servers have no backend of their own name only where the page
	// was cut off.
	return slices.DeleteFunc(list, func(b backend) bool { return !seen[b.name] }), nil
}

func statOf(record []string, at []int) (row statRow, err error) {
	row = statRow{proxy: record[at[0]], server: record[at[1]], status: record[at[6]]}
	if row.proxy == "" || row.server == "" {
		return row, errors.New("it has no name")
	}
	for i, into := range [...]*int64{&row.sessions, &row.limit, &row.in, &row.out} {
		text := record[at[2+i]]
		if text == "" {
			continue
		}
		n, err := strconv.ParseUint(text, 10, 63)
		if err != nil {
			return row, fmt.Errorf("%s is no number", statColumns[2+i])
		}
		*into = int64(n)
	}
	return row, nil
}

// saturated adds without an overflow: both are 0 or more.
func saturated(a, b int64) int64 {
	if a > 1<<62 || b > 1<<62 {
		return 1 << 62
	}
	return a + b
}

// sum adds the backends up that are asked for; without names those that have a
// server: the page's own listener is none.
func sum(list []backend, names []string) (s proxyStats) {
	for i := range list {
		b := &list[i]
		if len(names) > 0 && !slices.Contains(names, b.name) || len(names) == 0 && b.servers == 0 {
			continue
		}
		if b.up {
			s.up = append(s.up, b.name)
		} else {
			s.down = append(s.down, b.name)
		}
		limit := b.limit
		if b.servers > 0 && !b.unlimited {
			limit = b.serverLimit
		}
		s.sessions, s.limit = saturated(s.sessions, b.sessions), saturated(s.limit, limit)
		s.bytes += b.bytes
	}
	for _, name := range names {
		if !slices.ContainsFunc(list, func(b backend) bool { return b.name == name }) {
			s.missing = append(s.missing, name)
		}
	}
	return s
}

// figures gives what they tell of the proxy's work.
func (s *proxyStats) figures(perSecond *float64) *sites.Figures {
	f := &sites.Figures{Sessions: &s.sessions, BytesPerSecond: perSecond}
	if s.limit > 0 {
		load := float64(s.sessions) / float64(s.limit)
		f.Load = &load
	}
	return f
}
