// Command release makes what a release consists of: for each system a static
// binary in an archive, with an SBOM; for Linux a deb and an rpm; and the
// checksums of all of them. The same sources, version and date give the same
// bytes, wherever the sources lie. It also writes what the container's image is
// built from.
//
//	go run ./internal/release [-only linux/amd64] [-out dist] all
//	go run ./internal/release files       # only what goes into them beside the binary
//	go run ./internal/release image       # bin/image, for deploy/Containerfile
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := command(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		stop()
		os.Exit(1)
	}
}

func command(ctx context.Context, args []string) error {
	set := flag.NewFlagSet("release", flag.ContinueOnError)
	r := release{root: ".", tools: ".tools"}
	only := set.String("only", "", "make it for this `system` alone, such as linux/arm64")
	set.StringVar(&r.out, "out", "dist", "`folder` for what is made")
	version := set.String("version", "dev", "the `version`; one that is no semantic version makes a pre-release of 0.0.0")
	date := set.String("date", "", "the `time` of the sources, as RFC 3339 has it; it stands in all that is made")
	err := set.Parse(args)
	if err != nil {
		return err
	}
	if r.date, err = time.Parse(time.RFC3339, *date); err != nil {
		return fmt.Errorf("-date %q: a time such as 2026-11-30T12:00:00Z is needed, or builds would differ from each other", *date)
	}
	r.version = semantic(*version, r.date)
	switch set.Arg(0) {
	case "files":
		return r.files(ctx)
	case "all":
		return r.all(ctx, *only)
	case "image":
		return r.image(ctx, *only, filepath.Join(r.root, "bin", "image"))
	}
	return fmt.Errorf("%q is none of all, files and image", set.Arg(0))
}

// released is a version of a release, perhaps with git's "v" before it.
var released = regexp.MustCompile(`^v?(\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?)$`)

// semantic gives the version that packages can be compared by. What git says of
// a commit without a tag becomes a pre-release of 0.0.0, with the commit's time,
// so that a later one upgrades an earlier one.
func semantic(version string, date time.Time) string {
	if m := released.FindStringSubmatch(version); m != nil {
		return m[1]
	}
	build := regexp.MustCompile(`[^0-9A-Za-z]+`).ReplaceAllString(version, ".")
	return fmt.Sprintf("0.0.0-dev.%s+%s", date.UTC().Format("20060102150405"), build)
}
