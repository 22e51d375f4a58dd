package providers_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dnsteer/dnsteer/providers"
)

// If this fails, who reads an alert about a target that does not answer reads
// "context deadline exceeded", and not what is the matter.
func TestSilenceIsSaid(t *testing.T) {
	refused := errors.New("refused")
	for name, tt := range map[string]struct {
		call func(ctx context.Context) error
		want string
	}{
		"no answer":       {func(ctx context.Context) error { <-ctx.Done(); return fmt.Errorf("list: %w", ctx.Err()) }, "list: no answer within 10s"},
		"a socket's":      {func(ctx context.Context) error { <-ctx.Done(); return errors.New("dial tcp 10.1.0.1:80: i/o timeout") }, "dial tcp 10.1.0.1:80: no answer within 10s"},
		"of another kind": {func(ctx context.Context) error { <-ctx.Done(); return refused }, "no answer within 10s: refused"},
		"refused at once": {func(context.Context) error { return refused }, "refused"},
		"its class stays": {func(ctx context.Context) error {
			<-ctx.Done()
			return &providers.Error{Class: providers.Permanent, After: time.Minute, Err: refused}
		}, "no answer within 10s: refused"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				err := providers.Within(t.Context(), 10*time.Second, tt.call)
				if err == nil || err.Error() != tt.want {
					t.Errorf("%v, want %s", err, tt.want)
				}
				if class, after := providers.ClassOf(err); name == "its class stays" && (class != providers.Permanent || after != time.Minute) {
					t.Errorf("the class is %v, %s", class, after)
				}
			})
		})
	}
	if err := providers.Within(t.Context(), 0, func(ctx context.Context) error { return ctx.Err() }); err != nil {
		t.Error(err)
	}
}

// If this fails, an order whose own time was nearly up says that nothing answered
// within 0 seconds.
func TestSilenceOfALittleWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		err := providers.Within(ctx, 10*time.Second, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		if err == nil || err.Error() != "no answer within 300ms" {
			t.Error(err)
		}
	})
}
