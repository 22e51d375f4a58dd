package adguardsim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// Rewrite is one of its rewrites, as it stands in its file.
type Rewrite struct {
	Domain  string `json:"domain"`
	Answer  string `json:"answer"`
	Enabled bool   `json:"enabled"`
}

// kept is what outlives the process.
type kept struct {
	Rewrites   []Rewrite `json:"rewrites"`
	Sessions   []string  `json:"sessions"`
	TTL        uint32    `json:"blocked_response_ttl"`
	Filtering  bool      `json:"filtering_enabled"`
	Rewriting  bool      `json:"rewrites_enabled"`
	Protection bool      `json:"protection_enabled"`
}

func (s *Server) load() error {
	s.kept = kept{TTL: 10, Filtering: true, Rewriting: true, Protection: true}
	if s.opt.File == "" {
		return nil
	}
	data, err := os.ReadFile(s.opt.File)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(data, &s.kept)
	}
	if err != nil {
		return fmt.Errorf("read what the simulated AdGuard Home held: %w", err)
	}
	return nil
}

// save writes the whole file and renames it, as each change does before it is
// answered.
func (s *Server) save() error {
	if s.opt.File == "" {
		return nil
	}
	data, err := json.Marshal(s.kept)
	if err == nil {
		err = os.WriteFile(s.opt.File+".new", data, 0o600)
	}
	if err == nil {
		err = os.Rename(s.opt.File+".new", s.opt.File)
	}
	if err != nil {
		return fmt.Errorf("keep what the simulated AdGuard Home holds: %w", err)
	}
	return nil
}

func (k *kept) add(r Rewrite) { k.Rewrites = append(k.Rewrites, r) }

// remove takes out all that read the same, disabled ones too.
func (k *kept) remove(domain, answer string) {
	k.Rewrites = slices.DeleteFunc(slices.Clone(k.Rewrites), func(r Rewrite) bool { return r.Domain == domain && r.Answer == answer })
}

// replace changes the first that reads so.
func (k *kept) replace(domain, answer string, with func(old Rewrite) Rewrite) bool {
	i := slices.IndexFunc(k.Rewrites, func(r Rewrite) bool { return r.Domain == domain && r.Answer == answer })
	if i < 0 {
		return false
	}
	k.Rewrites = slices.Clone(k.Rewrites)
	k.Rewrites[i] = with(k.Rewrites[i])
	return true
}
