//go:build unix

package keyfile

import (
	"errors"
	"fmt"
	"os"
)

// syncDir lets the names of new files outlive a loss of power.
func syncDir(dir string) (err error) {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("keep a key: %w", err)
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("keep a key: %w", err)
	}
	return nil
}
