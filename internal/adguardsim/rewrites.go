package adguardsim

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

// entry is a rewrite in a request. Versions without switches take no notice of
// Enabled.
type entry struct {
	Domain  string `json:"domain"`
	Answer  string `json:"answer"`
	Enabled *bool  `json:"enabled"`
}

// oldEntry is a rewrite of versions without switches, which read no "enabled"
// whatever it holds.
type oldEntry struct {
	Domain string `json:"domain"`
	Answer string `json:"answer"`
}

func (s *Server) readEntry(w http.ResponseWriter, r *http.Request) (e entry, ok bool) {
	if s.opt.Profile.switches {
		ok = read(w, r, "json.Decode", &e)
		return e, ok
	}
	var o oldEntry
	ok = read(w, r, "json.Decode", &o)
	return entry{Domain: o.Domain, Answer: o.Answer}, ok
}

func (s *Server) list(w http.ResponseWriter, _ *http.Request) {
	k := s.look()
	if s.opt.Profile.switches {
		write(w, append([]Rewrite{}, k.Rewrites...))
		return
	}
	old := []oldEntry{}
	for _, r := range k.Rewrites {
		old = append(old, oldEntry{r.Domain, r.Answer})
	}
	write(w, old)
}

func (s *Server) add(w http.ResponseWriter, r *http.Request) {
	e, ok := s.readEntry(w, r)
	if !ok {
		return
	}
	s.change(w, func(k *kept) error {
		if err := s.valid(e.Answer); err != nil {
			return err
		}
		k.add(Rewrite{strings.ToLower(e.Domain), e.Answer, e.Enabled == nil || *e.Enabled})
		return nil
	})
}

func (s *Server) remove(w http.ResponseWriter, r *http.Request) {
	if e, ok := s.readEntry(w, r); ok {
		s.change(w, func(k *kept) error { k.remove(e.Domain, e.Answer); return nil })
	}
}

func (s *Server) update(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Target oldEntry `json:"target"`
		Update entry    `json:"update"`
	}
	if !s.opt.Profile.switches {
		var o struct{ Target, Update oldEntry }
		if !read(w, r, "json.Decode", &o) {
			return
		}
		in.Target, in.Update = o.Target, entry{Domain: o.Update.Domain, Answer: o.Update.Answer}
	} else if !read(w, r, "json.Decode", &in) {
		return
	}
	s.change(w, func(k *kept) error {
		if err := s.valid(in.Update.Answer); err != nil {
			return err
		}
		found := k.replace(in.Target.Domain, in.Target.Answer, func(old Rewrite) Rewrite {
			now := Rewrite{strings.ToLower(in.Update.Domain), in.Update.Answer, old.Enabled}
			if in.Update.Enabled != nil {
				now.Enabled = *in.Update.Enabled
			}
			return now
		})
		if !found {
			return errors.New("target rule not found")
		}
		return nil
	})
}

// valid says what is wrong with an answer, in the versions that look.
func (s *Server) valid(answer string) error {
	if _, err := netip.ParseAddr(answer); err == nil || !s.opt.Profile.validates {
		return nil
	}
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("normalizing: invalid CNAME target %q: bad domain name %q: %s", answer, answer, fmt.Sprintf(format, args...))
	}
	if answer == "" {
		return wrong("domain name is empty")
	}
	labels := strings.Split(answer, ".")
	top := labels[len(labels)-1]
	if strings.Trim(top, "0123456789") == "" && top != "" {
		return wrong("bad top-level domain name label %q: all octets are numeric", top)
	}
	for i, label := range labels {
		what := "domain name label"
		if i == len(labels)-1 {
			what = "top-level domain name label"
		}
		if label == "" {
			return wrong("bad %s %q: %s is empty", what, label, what)
		}
		if j := strings.IndexFunc(label, func(r rune) bool { return !letter(r) }); j >= 0 {
			return wrong("bad %s %q: bad %s rune %q", what, label, what, []rune(label[j:])[0])
		}
	}
	return nil
}

func letter(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_'
}
