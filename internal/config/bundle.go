package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
)

// bundle is everything that a configuration was read from, so that it can be
// read again when the files have changed or gone. Values of environment
// variables are part of it.
type bundle struct {
	// Paths of the YAML files in order.
	Paths []string `json:"paths"`
	// Files holds every file that was read, zone files too, by its path.
	Files map[string][]byte `json:"files"`
	// Env holds the environment variables that were used.
	Env map[string]string `json:"env,omitempty"`
	// Instance is the name where the configuration gives none.
	Instance string `json:"instance"`
}

func (b *bundle) encode() []byte {
	data, err := json.Marshal(b)
	if err != nil {
		panic(fmt.Sprintf("config: a bundle of strings cannot be encoded: %s", err))
	}
	return data
}

// Restore reads a configuration from its [Config.Raw], without looking at the
// disk or at the environment.
func Restore(raw []byte) (*Config, error) {
	var kept bundle
	if err := json.Unmarshal(raw, &kept); err != nil {
		return nil, fmt.Errorf("read the kept configuration: %w", err)
	}
	l := newLoader(Options{
		LookupEnv: func(name string) (string, bool) { v, ok := kept.Env[name]; return v, ok },
		Instance:  kept.Instance,
	})
	l.disk = memory(kept.Files)
	l.bundle.Paths = kept.Paths
	if len(kept.Paths) == 0 {
		return nil, errors.New("read the kept configuration: it holds no file")
	}
	return l.read()
}

// source is where files come from.
type source interface {
	// read gives the file at path, or an error where it is larger than limit.
	// With a folder, path is relative to it and must not leave it.
	read(folder, path string, limit int) ([]byte, error)
	// private gives an error where others than the owner and its group may read
	// the file at path, or others than the owner change it.
	private(path string) error
	// seen gives the stamps of what was read; nil where there are none.
	seen() map[string]Stamp
}

// keyOf is what a file is called in a bundle and in [Config.Stamps].
func keyOf(folder, path string) string {
	if folder == "" {
		return path
	}
	return filepath.Join(folder, path)
}

// Stamp is how a file looked: one that looks the same has not changed.
type Stamp struct {
	Size    int64
	Changed int64 // in nanoseconds since 1970
}

// StampOf gives the stamp of a file.
func StampOf(info fs.FileInfo) Stamp { return Stamp{info.Size(), info.ModTime().UnixNano()} }

// disk reads files of this machine, by several goroutines at a time.
type disk struct {
	mu     sync.Mutex
	stamps map[string]Stamp // of each file, before it was read
}

func (d *disk) read(folder, path string, limit int) (data []byte, err error) {
	open, stat := os.Open, os.Stat
	if folder != "" {
		root, err := os.OpenRoot(folder)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, root.Close()) }()
		open, stat = root.Open, root.Stat
	}
	info, err := stat(path) // before it is opened: that of a pipe waits for who writes to it
	if err == nil {
		err = regular(info)
	}
	if err != nil {
		return nil, err
	}
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	d.mu.Lock()
	d.stamps[keyOf(folder, path)] = StampOf(info)
	d.mu.Unlock()
	data, err = io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err == nil && len(data) > limit {
		err = &largeError{limit}
	}
	return data, err
}

// regular refuses what is not a file whose content can be read at once.
func regular(info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsDir():
		return errors.New("this is a folder, expected a file")
	case !mode.IsRegular():
		return errors.New("this is not a regular file")
	}
	return nil
}

// largeError says that a file is larger than it may be.
type largeError struct{ limit int }

func (e *largeError) Error() string { return fmt.Sprintf("the file is larger than %d bytes", e.limit) }

func (*disk) private(path string) error {
	info, err := os.Stat(path)
	if err == nil {
		err = regular(info)
	}
	if err != nil {
		return err
	}
	if mode := info.Mode().Perm(); mode&0o027 != 0 && runtime.GOOS != "windows" {
		return fmt.Errorf("its mode is %04o: others than its owner may read or change it: chmod 600 or 640", mode)
	}
	return nil
}

func (d *disk) seen() map[string]Stamp { return d.stamps }

// memory gives files of a bundle.
type memory map[string][]byte

func (memory) seen() map[string]Stamp { return nil }

func (memory) private(string) error { return nil }

func (m memory) read(folder, path string, _ int) ([]byte, error) {
	data, ok := m[keyOf(folder, path)]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return data, nil
}
