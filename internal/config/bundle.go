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
}

// disk reads files of this machine.
type disk struct{}

func (disk) read(folder, path string, limit int) (data []byte, err error) {
	var f *os.File
	if folder == "" {
		f, err = os.Open(path)
	} else {
		var root *os.Root
		if root, err = os.OpenRoot(folder); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, root.Close()) }()
		f, err = root.Open(path)
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() {
		return nil, errors.New("this is not a regular file")
	}
	data, err = io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err == nil && len(data) > limit {
		err = fmt.Errorf("the file is larger than %d bytes", limit)
	}
	return data, err
}

func (disk) private(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if mode := info.Mode().Perm(); mode&0o027 != 0 && runtime.GOOS != "windows" {
		return fmt.Errorf("its mode is %04o: others than its owner may read or change it: chmod 600 or 640", mode)
	}
	return nil
}

// memory gives files of a bundle.
type memory map[string][]byte

func (memory) private(string) error { return nil }

func (m memory) read(folder, path string, _ int) ([]byte, error) {
	data, ok := m[filepath.Join(folder, path)]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return data, nil
}
