// Command dnsteer steers DNS answers away from what is down. `dnsteer help`
// lists its commands.
package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/dnsteer/dnsteer/cmd/dnsteer/demo"
	"github.com/dnsteer/dnsteer/internal/app"
	"github.com/dnsteer/dnsteer/internal/cli"
	"github.com/dnsteer/dnsteer/internal/online"
	"github.com/dnsteer/dnsteer/internal/sdnotify"
)

func main() { os.Exit(run()) }

// run gives the exit code. A second signal ends the program at once.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return cli.Run(ctx, os.Args[1:], cli.Env{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, LookupEnv: os.LookupEnv, Serve: serve, Demo: show,
		OnlineChecks: []online.Check{online.Alerts},
	})
}

func serve(ctx context.Context, opt cli.ServeOptions) error {
	notify, err := sdnotify.New(os.Getenv, os.Getpid())
	if err != nil {
		return err
	}
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	return app.Run(ctx, app.Options{
		ConfigPath: opt.ConfigPath, Strict: opt.Strict, Log: opt.Log, Hangup: hangup, Notify: notify,
	})
}

func show(ctx context.Context, opt cli.DemoOptions) error {
	out := demo.Options{DNS: opt.DNS, Out: os.Stdout, Command: called()}
	if cli.Terminal(os.Stdin) {
		out.Keys = os.Stdin
	}
	return demo.Run(ctx, out)
}

// called is how this program is started again.
func called() string {
	if self, err := os.Executable(); err == nil && strings.Contains(filepath.ToSlash(self), "/go-build") {
		return "go run ./cmd/dnsteer"
	}
	return os.Args[0]
}
