package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dnsteer/dnsteer/internal/auth"
	"github.com/dnsteer/dnsteer/internal/config"
)

func (c *commands) hashPasswordCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "hash-password",
		Short: "Make the hash of a password for http.users",
		Long: `Make the hash of a password (argon2id) for http.users in the configuration. The
password is asked for, twice, or read from the first line of the standard input.`,
		Args: noArguments, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			password, err := c.password()
			if err != nil {
				return err
			}
			hash, err := auth.HashPassword(password)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(c.Out, hash.Reveal())
			return err
		},
	}
}

// password reads one that is not shown where it is typed.
func (c *commands) password() ([]byte, error) {
	if c.In == nil {
		return nil, errors.New("there is no standard input to read the password from")
	}
	in := bufio.NewReader(io.LimitReader(c.In, 4*auth.MaxPassword))
	f, ok := c.In.(*os.File)
	if !ok || !Terminal(f) {
		return line(in)
	}
	defer hideTyping(f)()
	fmt.Fprint(c.Err, "Password: ")
	first, err := line(in)
	fmt.Fprint(c.Err, "\nAgain: ")
	if err != nil {
		return nil, err
	}
	again, err := line(in)
	fmt.Fprintln(c.Err)
	if err == nil && !bytes.Equal(first, again) {
		err = errors.New("the two are not the same")
	}
	return first, err
}

// line reads one line.
func line(in *bufio.Reader) ([]byte, error) {
	text, err := in.ReadBytes('\n')
	if err != nil && (!errors.Is(err, io.EOF) || len(text) == 0) {
		return nil, fmt.Errorf("read the password: %w", err)
	}
	return bytes.TrimRight(text, "\r\n"), nil
}

// plainName are names that need no quotes in a configuration.
var plainName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,62}$`)

// newToken is what is printed of a token.
type newToken struct {
	Name   string `json:"name"`
	Role   string `json:"role"`
	Secret string `json:"secret"`
	Hash   string `json:"hash"`
	// Expires is empty for never.
	Expires string `json:"expires,omitempty"`
}

func (c *commands) tokenCommand() *cobra.Command {
	role, lasting := "", ""
	cmd := &cobra.Command{
		Use:   "token NAME",
		Short: "Make a token for http.tokens, which lets a program in",
		Long: `Make a token. Its secret is printed this once; in the configuration, under
http.tokens, stands its hash.`,
		Example: "  dnsteer token deploy --role operator --for 90d",
		Args:    takes(1, 1, "NAME"), ValidArgsFunction: cobra.NoFileCompletions,
	}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if !plainName.MatchString(args[0]) {
			return &exit{wrongUse, fmt.Errorf("%q is no name for a token: letters, digits and -._, from a letter on", args[0])}
		}
		if _, err := auth.ParseRole(role); err != nil {
			return &exit{wrongUse, fmt.Errorf("--role: %w", err)}
		}
		t := newToken{Name: args[0], Role: role, Secret: auth.NewToken()}
		t.Hash = auth.HashSecret(t.Secret).Reveal()
		if lasting != "" {
			d, err := config.ParseDuration(lasting)
			if err != nil || d <= 0 {
				return &exit{wrongUse, fmt.Errorf("--for: %q is no duration such as 90d", lasting)}
			}
			t.Expires = time.Now().Add(d).UTC().Format(time.RFC3339)
		}
		return c.print(t, func(p *printer) {
			p.line("The token, which is not shown again:\n\n  %s\n", t.Secret)
			entry := fmt.Sprintf("  - {name: %s, role: %s, hash: %q", t.Name, t.Role, t.Hash)
			if t.Expires != "" {
				entry += ", expires: " + t.Expires
			}
			p.line("For the configuration, under http.tokens:\n\n%s}", strings.TrimSuffix(entry, "\n"))
		})
	}
	cmd.Flags().StringVar(&role, "role", "viewer", "what it may do: `role` viewer, operator or admin")
	cmd.Flags().StringVar(&lasting, "for", "", "let it end after a `duration` such as 90d; by default never")
	_ = cmd.RegisterFlagCompletionFunc("role", cobra.FixedCompletions(auth.Roles(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}
