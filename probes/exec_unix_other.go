//go:build unix && !linux

package probes

import "errors"

func closeRangeOnExec() error { return errors.ErrUnsupported }
