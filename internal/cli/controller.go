package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dnsteer/dnsteer/internal/api"
	"github.com/dnsteer/dnsteer/internal/config"
)

// client asks the running controller.
func (c *commands) client() (*api.Client, error) {
	switch {
	case c.remote.url == "":
		path, err := c.socketPath()
		if err != nil {
			return nil, err
		}
		return api.NewClient(path), nil
	case c.socket != "":
		return nil, &exit{wrongUse, errors.New("--socket and --url are two ways; give one")}
	}
	return c.remote.client(c.LookupEnv)
}

// socketPath is where the controller of the configuration listens. One that was named
// and is not there is a slip: another controller may listen where most do.
func (c *commands) socketPath() (string, error) {
	if c.socket != "" {
		return c.socket, nil
	}
	state := config.StatePath(c.config)
	if state == "" {
		if err := legible(c.config); err != nil && c.config != defaultConfig {
			return "", fmt.Errorf("the controller is found by its configuration: %w; name that with --config, or its socket with --socket", err)
		}
		state = defaultState
	}
	return filepath.Join(state, api.SocketName), nil
}

// legible gives an error where a file or a folder is not there or cannot be read by us.
func legible(path string) error {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return f.Close()
}

// asking runs what asks the controller.
func (c *commands) asking(run func(ctx context.Context, client *api.Client, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		client, err := c.client()
		if err != nil {
			return err
		}
		defer client.Close()
		return run(cmd.Context(), client, args)
	}
}

// target splits SITE or SITE/NAME.
func target(arg string) (site, name string, err error) {
	site, name, cut := strings.Cut(arg, "/")
	if site == "" || cut && name == "" || strings.Contains(name, "/") {
		return "", "", &exit{wrongUse, fmt.Errorf("%q is neither SITE nor SITE/NAME", arg)}
	}
	return site, name, nil
}

// completeTime bounds how long a shell waits for names.
const completeTime = time.Second

// what can be completed to.
type offer uint8

const (
	offerSites offer = 1 << iota
	offerNodes
	offerPools
	offerHosts
)

// complete offers the names of such things that the running controller knows.
func (c *commands) complete(what offer) cobra.CompletionFunc {
	return c.completeWith(func(ctx context.Context, client *api.Client) ([]string, error) {
		status, err := client.Status(ctx)
		return offered(&status, what), err
	})
}

// completeWith offers what the running controller is asked for; nothing where none
// answers.
func (c *commands) completeWith(ask func(context.Context, *api.Client) ([]string, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completeTime)
		defer cancel()
		client, err := c.client()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer client.Close()
		names, err := ask(ctx, client)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

func offered(status *api.Status, what offer) (names []string) {
	for i := range status.Sites {
		s := &status.Sites[i]
		if what&offerSites != 0 {
			names = append(names, s.Name)
		}
		if what&offerNodes != 0 {
			for j := range s.Nodes {
				names = append(names, s.Name+"/"+s.Nodes[j].Name)
			}
		}
		if what&offerPools != 0 {
			for j := range s.Pools {
				names = append(names, s.Name+"/"+s.Pools[j].Name)
			}
		}
	}
	if what&offerHosts != 0 {
		for i := range status.Services {
			names = append(names, status.Services[i].Hosts...)
		}
	}
	return names
}
