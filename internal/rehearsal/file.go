// Package rehearsal plays faults against a configuration in virtual time: with
// the real rules, the real schedule of probes and the real names, and without a
// network. It says what would happen and when, and whether that is what a file
// expects.
package rehearsal

import (
	"fmt"
	"os"
	"time"

	"github.com/dnsteer/dnsteer/internal/config"
)

// file is what a rehearsal file says.
type file struct {
	Config config.Subtree          `yaml:"config" required:"yes" doc:"The configuration's file, relative to this one, or the configuration itself."`
	Start  config.Value[time.Time] `yaml:"start" doc:"The wall clock at 0s."`
	Steps  []step                  `yaml:"steps" required:"yes" nonempty:"yes" doc:"What is done and what is expected, in order."`
}

// step is one moment of a rehearsal: first the actions, then the expectations,
// both after all that was due before.
type step struct {
	Pos    config.Pos
	At     config.Value[time.Duration] `yaml:"at" required:"yes" doc:"The time since the start."`
	Do     []action                    `yaml:"do" doc:"Actions, in order."`
	Expect expect                      `yaml:"expect" doc:"What must hold."`
}

// action is one of its first keys, with the modifiers that may stand beside it.
type action struct {
	Pos            config.Pos
	Down           config.Value[string]        `yaml:"down"`
	Up             config.Value[string]        `yaml:"up"`
	ResolverDown   config.Value[string]        `yaml:"resolver_down"`
	ResolverUp     config.Value[string]        `yaml:"resolver_up"`
	Cut            config.Value[string]        `yaml:"cut"`
	Heal           config.Value[string]        `yaml:"heal"`
	Unknown        config.Value[string]        `yaml:"unknown"`
	Known          config.Value[string]        `yaml:"known"`
	Fails          config.Value[string]        `yaml:"fails"`
	Passes         config.Value[string]        `yaml:"passes"`
	Load           *load                       `yaml:"load"`
	Maintenance    config.Value[string]        `yaml:"maintenance"`
	MaintenanceEnd config.Value[string]        `yaml:"maintenance_end"`
	Disable        config.Value[string]        `yaml:"disable"`
	Enable         config.Value[string]        `yaml:"enable"`
	Failback       config.Value[string]        `yaml:"failback"`
	Pause          config.Value[string]        `yaml:"pause"`
	Resume         config.Value[string]        `yaml:"resume"`
	Switch         config.Value[string]        `yaml:"switch"`
	Drill          config.Value[string]        `yaml:"drill"`
	DrillEnd       config.Value[string]        `yaml:"drill_end"`
	Release        config.Value[string]        `yaml:"release"`
	Restart        config.Value[time.Duration] `yaml:"restart"`
	Suspend        config.Value[time.Duration] `yaml:"suspend"`
	Config         config.Subtree              `yaml:"config"`
	Clock          config.Value[time.Time]     `yaml:"clock"`

	Force   config.Value[bool]          `yaml:"force"`
	Refused config.Value[bool]          `yaml:"refused"`
	For     config.Value[time.Duration] `yaml:"for"`
	Reason  config.Value[string]        `yaml:"reason"`
}

// expect is what must hold at a step.
type expect struct {
	Answers  map[string]config.Value[[]string] `yaml:"answers"`
	TTL      map[string]config.Value[int]      `yaml:"ttl"`
	Nodes    map[string]config.Value[string]   `yaml:"nodes"`
	Sites    map[string]config.Value[string]   `yaml:"sites"`
	Pools    map[string]config.Value[string]   `yaml:"pools"`
	Events   []config.Value[string]            `yaml:"events"`
	NoEvents []config.Value[string]            `yaml:"no_events"`
}

// ConfigError is a rehearsal whose configuration is not valid.
type ConfigError struct{ Err error }

func (e *ConfigError) Error() string { return e.Err.Error() }

// Unwrap gives the faults.
func (e *ConfigError) Unwrap() error { return e.Err }

// defaultStart is the wall clock at 0s where a file says nothing.
var defaultStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Rehearsal is a file that was read and can be played.
type Rehearsal struct {
	Name   string
	config *config.Config
	start  time.Time
	steps  []step
	// reloads holds what the steps put in place.
	reloads map[*action]reload
}

// Load reads a rehearsal. The error is a [*ConfigError] if it is the
// configuration that is not valid.
func Load(name string) (*Rehearsal, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read rehearsal: %w", err)
	}
	var f file
	if err := config.Decode(name, data, &f); err != nil {
		return nil, fmt.Errorf("read rehearsal: %w", err)
	}
	r := &Rehearsal{Name: name, start: defaultStart, steps: f.Steps, reloads: map[*action]reload{}}
	if f.Start.Set {
		r.start = f.Start.V.UTC()
	}
	if r.config, err = configuration(f.Config); err != nil {
		return nil, err
	}
	return r, r.check()
}

// configuration reads one. Faults in a file of its own say where it is named: many
// rehearsals, and many steps of one, may name it.
func configuration(s config.Subtree) (*config.Config, error) {
	cfg, err := s.Config(config.Options{Instance: "rehearsal"})
	switch {
	case err == nil:
		return cfg, nil
	case s.File() != "":
		return nil, &ConfigError{fmt.Errorf("%s: %w", s.Pos(), err)}
	default:
		return nil, &ConfigError{err}
	}
}
