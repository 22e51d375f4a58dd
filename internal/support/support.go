// Package support packs what is needed to look into a fault into one file that can be
// sent to others: a tar file in gzip, with one folder in it.
package support

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/internal/config"
	"github.com/dnsteer/dnsteer/internal/version"
)

// Media is the media type of a bundle.
const Media = "application/gzip"

// partTime bounds how long one part is waited for: of a controller that stands still,
// the others are wanted all the more.
const partTime = 5 * time.Second

// Part is a file of a bundle.
type Part struct {
	Name string
	// Content gives what stands in it; it returns when ctx ends.
	Content func(ctx context.Context) ([]byte, error)
}

// Name gives the name of a bundle, without an extension.
func Name(now time.Time) string { return "dnsteer-support-" + now.UTC().Format("20060102T150405Z") }

// Write writes a bundle: about.txt, and the parts. Of a part that cannot be had the
// error stands in NAME.error.txt; the others follow. The error is that of w.
func Write(ctx context.Context, w io.Writer, now time.Time, parts []Part) error {
	folder := Name(now)
	zip := gzip.NewWriter(w)
	out := tar.NewWriter(zip)
	put := func(name string, data []byte) error {
		h := &tar.Header{Name: folder + "/" + name, Mode: 0o600, Size: int64(len(data)), ModTime: now, Typeflag: tar.TypeReg}
		if err := out.WriteHeader(h); err != nil {
			return err
		}
		_, err := out.Write(data)
		return err
	}
	err := put("about.txt", []byte(about))
	for i := 0; i < len(parts) && err == nil; i++ {
		p := &parts[i]
		data, fault := p.read(ctx)
		if fault != nil {
			err = put(p.Name+".error.txt", []byte(fault.Error()+"\n"))
		} else {
			err = put(p.Name, data)
		}
	}
	if err = errors.Join(err, out.Close(), zip.Close()); err != nil {
		return fmt.Errorf("write the support bundle: %w", err)
	}
	return nil
}

const about = `What is in this bundle was collected by dnsteer to look into a fault.

It has no passwords, tokens or keys in it, and no comments of the configuration. It
has the names and addresses of sites, nodes, resolvers, targets, services and of some
clients, and the names of operators with the reasons that they gave. Look through it
before you send it to others.

The log is not in it: on Linux with systemd, "journalctl -u dnsteer" has that.
`

// read gives the content, and an error for a part that panics.
func (p *Part) read(ctx context.Context) (data []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, partTime)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %T\n%s", v, debug.Stack()) // its value may quote anything
		}
	}()
	return p.Content(ctx)
}

// JSON makes a part of a value.
func JSON[T any](name string, get func(context.Context) (T, error)) Part {
	return Part{name, func(ctx context.Context) ([]byte, error) {
		v, err := get(ctx)
		if err != nil {
			return nil, err
		}
		return json.MarshalIndent(v, "", "  ")
	}}
}

// Facts are what a bundle says of the program that made it.
type Facts struct {
	version.Build

	CPUs       int       `json:"cpus"`
	MaxProcs   int       `json:"max_procs"`
	Goroutines int       `json:"goroutines"`
	Heap       uint64    `json:"heap_bytes"`
	Made       time.Time `json:"made"`
	Started    time.Time `json:"started,omitzero"`
}

// Program is the part about the program; started is when the controller did, zero for
// one that does not run.
func Program(now, started time.Time) Part {
	return JSON("program.json", func(context.Context) (Facts, error) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return Facts{
			version.This(), runtime.NumCPU(), runtime.GOMAXPROCS(0),
			runtime.NumGoroutine(), m.HeapAlloc, now.UTC(), started.UTC(),
		}, nil
	})
}

// Goroutines is the part about what the program does at this moment.
func Goroutines() Part {
	return Part{"goroutines.txt", func(context.Context) ([]byte, error) {
		var text bytes.Buffer
		err := pprof.Lookup("goroutine").WriteTo(&text, 1) // without the arguments of functions
		return text.Bytes(), err
	}}
}

// Configuration makes a part of each file of a configuration, without its secrets.
func Configuration(list []config.Shown) (parts []Part) {
	for i, f := range list {
		name := strings.ReplaceAll(f.Path, `\`, "/")
		name = fmt.Sprintf("configuration/%02d-%s", i+1, name[strings.LastIndexByte(name, '/')+1:])
		parts = append(parts, Part{name, func(context.Context) ([]byte, error) { return []byte("# " + f.Path + "\n" + f.Text), nil }})
	}
	return parts
}
