package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// Options say what a configuration is read with. The zero Options are right
// for the running controller.
type Options struct {
	// LookupEnv finds the variables of ${NAME}; nil means those of the process.
	// It is called by several goroutines at a time.
	LookupEnv func(name string) (string, bool)
	// Instance is the name where the configuration gives none; "" means the
	// host's name.
	Instance string
	// FirstLine is the line of its file that the data given to [Parse] starts
	// at; 0 and 1 both mean the first.
	FirstLine int
	// Now is the wall clock, for warnings of what ends; nil means the machine's.
	Now func() time.Time
}

// Load reads the configuration in a file, or in a folder: all its *.yaml in
// the order of their names, which must not name a thing twice. The error is a
// [*FaultsError].
func Load(path string) (*Config, error) { return newLoader(Options{}).load(path) }

// LoadWith is [Load] with options.
func LoadWith(path string, opts Options) (*Config, error) { return newLoader(opts).load(path) }

// Parse reads a configuration from memory. Faults name it as name; relative
// paths start at name's folder.
func Parse(name string, data []byte, opts Options) (*Config, error) {
	l := newLoader(opts)
	l.bundle.Files[name] = data
	if doc, ok := parseDocument(name, data, max(0, opts.FirstLine-1), l.report); ok {
		l.decode(doc, "")
	}
	l.bundle.Paths = []string{name}
	return l.finish()
}

// loader reads files and what they refer to.
type loader struct {
	*report
	env      environment
	disk     source
	bundle   bundle
	instance string
	now      func() time.Time
	// parts are what the files say, in their order.
	parts []file
	// places and known spare every file the walk through the types.
	places map[string][]string
	known  keySets
}

func newLoader(opts Options) *loader {
	if opts.LookupEnv == nil {
		opts.LookupEnv = os.LookupEnv
	}
	l := &loader{
		report:   &report{},
		env:      environment{lookup: opts.LookupEnv, used: make(map[string]string)},
		disk:     &disk{stamps: make(map[string]Stamp)},
		instance: opts.Instance,
		places:   everyKey(),
		known:    make(keySets),
	}
	l.now = opts.Now
	if l.now == nil {
		l.now = time.Now
	}
	l.bundle = bundle{Files: make(map[string][]byte), Env: l.env.used}
	return l
}

func (l *loader) load(path string) (*Config, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		l.fault(Pos{File: path}, "%s", plain(err))
	case info.IsDir():
		l.folder(path)
	default:
		l.bundle.Paths = []string{path}
	}
	return l.read()
}

// read reads the files of the bundle, on every processor: of a large
// configuration this is what takes the time.
func (l *loader) read() (*Config, error) {
	var readers []*loader
	var all sync.WaitGroup
	each := max(1, len(l.bundle.Paths)/runtime.GOMAXPROCS(0))
	for paths := range slices.Chunk(l.bundle.Paths, each) {
		r := l.fork()
		readers = append(readers, r)
		all.Go(func() {
			for _, path := range paths {
				r.readFile(path)
			}
		})
	}
	all.Wait()
	for _, r := range readers {
		l.join(r)
	}
	return l.finish()
}

// fork makes a loader that reads some of the files beside others.
func (l *loader) fork() *loader {
	return &loader{
		report: &report{},
		env:    environment{lookup: l.env.lookup, used: make(map[string]string)},
		disk:   l.disk,
		bundle: bundle{Files: make(map[string][]byte)},
		places: l.places,
		known:  make(keySets),
	}
}

// join takes over what a fork has read.
func (l *loader) join(r *loader) {
	l.faults = append(l.faults, r.faults...)
	l.warnings = append(l.warnings, r.warnings...)
	l.parts = append(l.parts, r.parts...)
	maps.Copy(l.env.used, r.env.used)
	maps.Copy(l.bundle.Files, r.bundle.Files)
}

func (l *loader) readFile(path string) {
	data, err := l.disk.read("", path, maxFileSize)
	if _, large := errors.AsType[*largeError](err); large {
		l.tooLarge(path)
		return
	}
	if err != nil {
		l.fault(Pos{File: path}, "%s", plain(err))
		return
	}
	l.bundle.Files[path] = data
	if doc, ok := parseDocument(path, data, 0, l.report); ok {
		l.decode(doc, "")
	}
}

// Reads says whether a file of that name in a folder belongs to its configuration.
func Reads(name string) bool {
	return strings.HasSuffix(name, ".yaml") && !strings.HasPrefix(name, ".")
}

// folder lists the files of a folder.
func (l *loader) folder(path string) {
	entries, err := os.ReadDir(path)
	if err != nil {
		l.fault(Pos{File: path}, "%s", plain(err))
		return
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case e.IsDir():
		case Reads(name):
			l.bundle.Paths = append(l.bundle.Paths, filepath.Join(path, name))
		case strings.HasSuffix(name, ".yml") && !strings.HasPrefix(name, "."):
			l.warn(Pos{File: filepath.Join(path, name)}, "this file is left out: of a folder *.yaml is read alone; give it that ending, or another")
		}
	}
	switch {
	case len(l.bundle.Paths) > 0:
	case len(l.warnings) > 0:
		l.fault(l.warnings[0].Pos, "there is no *.yaml in this folder, and this file is left out: give it that ending")
	default:
		l.fault(Pos{File: path}, "no *.yaml in this folder, expected at least one")
	}
}

// decode takes one document in.
func (l *loader) decode(doc document, path string) {
	if doc.root == nil {
		l.fault(doc.pos(nil, path), "the file is empty, expected a configuration: config.example.yaml is one to start from")
		return
	}
	d := &decoder{document: doc, report: l.report, env: &l.env, anywhere: l.places, known: l.known, free: true, top: path}
	var p file
	d.into(doc.root, path, reflect.ValueOf(&p).Elem(), "")
	l.parts = append(l.parts, p)
}

// finish checks and resolves what was decoded.
func (l *loader) finish() (*Config, error) {
	if err := l.err(); err != nil {
		return nil, err
	}
	b := &builder{loader: l, file: l.combine()}
	cfg := b.build()
	if err := l.err(); err != nil {
		return nil, err
	}
	cfg.Warnings = sorted(l.warnings)
	cfg.Raw = l.bundle.encode()
	sum := sha256.Sum256(cfg.Raw)
	cfg.Hash = hex.EncodeToString(sum[:])
	for name := range l.bundle.Files {
		cfg.Files = append(cfg.Files, name)
	}
	slices.Sort(cfg.Files)
	cfg.Stamps = l.disk.seen()
	return cfg, nil
}

// combine makes one of the parts. Sites, services and targets add up; all else
// may stand once.
func (l *loader) combine() file {
	var whole file
	var siteLists [][]siteKeys
	var serviceLists [][]serviceKeys
	origin := make(map[string]Pos)
	once := func(name string, at Pos, written bool) bool {
		if !written {
			return false
		}
		if first, twice := origin[name]; twice {
			l.fault(at, "%q stands twice, first at %s", name, first)
			return false
		}
		origin[name] = at
		return true
	}
	for i := range l.parts {
		p := &l.parts[i]
		if once("instance", p.Instance.At, p.Instance.Set) {
			whole.Instance = p.Instance
		}
		if once("state", p.State.At, p.State.At.File != "") {
			whole.State = p.State
		}
		if p.DNS != nil && once("dns", p.DNS.At, true) {
			whole.DNS = p.DNS
		}
		if p.HTTP != nil && once("http", p.HTTP.At, true) {
			whole.HTTP = p.HTTP
		}
		if once("brake", p.Brake.At, p.Brake.At.File != "") {
			whole.Brake = p.Brake
		}
		if p.Alerts != nil && once("alerts", p.Alerts.At, true) {
			whole.Alerts = p.Alerts
		}
		if once("allow_exec", p.AllowExec.At, p.AllowExec.Set) {
			whole.AllowExec = p.AllowExec
		}
		if once("defaults", p.Defaults.At, p.Defaults.At.File != "") {
			whole.Defaults = p.Defaults
		}
		whole.Actions = append(whole.Actions, p.Actions...)
		whole.Targets = append(whole.Targets, p.Targets...)
		siteLists = append(siteLists, p.Sites)
		serviceLists = append(serviceLists, p.Services)
		if whole.At.File == "" {
			whole.At = p.At
		}
	}
	whole.Sites, whole.Services = slices.Concat(siteLists...), slices.Concat(serviceLists...)
	for i := range l.parts { // a large one is not held twice
		l.parts[i].Sites, l.parts[i].Services = nil, nil
	}
	return whole
}

// everyKey lists where each key of a configuration may stand.
var everyKey = sync.OnceValue(func() map[string][]string {
	places := make(map[string][]string)
	for _, s := range sections() {
		for _, k := range s.keys {
			if !slices.Contains(places[k.name], s.name) {
				places[k.name] = append(places[k.name], s.name)
			}
		}
	}
	return places
})

// plain says what a file's error was in few words: the path stands before it.
func plain(err error) string {
	if e, ok := err.(*os.PathError); ok { //nolint:errorlint // only the outermost repeats the path
		return fmt.Sprintf("cannot be read: %s", e.Err)
	}
	return err.Error()
}
