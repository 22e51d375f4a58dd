//go:build !unix

package daemontest

import "os/exec"

func group(*exec.Cmd) {}

func ask(cmd *exec.Cmd) { end(cmd) }

func end(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
