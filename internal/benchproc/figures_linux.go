package benchproc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Family lists a process and all that descend from it.
func Family(root int) []int {
	children := map[int][]int{}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return []int{root}
	}
	for _, path := range stats {
		b, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		// The name in brackets may hold anything.
		f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		pid, err1 := strconv.Atoi(strings.Split(path, "/")[2])
		parent, err2 := strconv.Atoi(f[1])
		if err1 == nil && err2 == nil {
			children[parent] = append(children[parent], pid)
		}
	}
	out := []int{root}
	for i := 0; i < len(out); i++ {
		out = append(out, children[out[i]]...)
	}
	return out
}

// CPU sums the time that processes have had a processor, in the kernel or not, to
// the nanosecond. One that has ended is an error.
func CPU(pids ...int) (time.Duration, error) {
	var sum time.Duration
	for _, pid := range pids {
		tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		if err != nil || len(tasks) == 0 {
			return 0, fmt.Errorf("read the processor time of process %d: it has ended, or the kernel has no schedstat", pid)
		}
		for _, path := range tasks {
			b, err := os.ReadFile(path)
			if err != nil {
				continue // a thread that has ended
			}
			first, _, _ := strings.Cut(string(b), " ")
			n, err := strconv.ParseInt(first, 10, 64)
			if err != nil {
				return 0, fmt.Errorf("read %s: %w", path, err)
			}
			sum += time.Duration(n)
		}
	}
	return sum, nil
}

// Shared sums what processes hold, in octets; what they share counts once. One that
// has ended holds nothing.
func Shared(pids ...int) int64 {
	var sum int64
	for _, pid := range pids {
		f, err := fields(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err == nil {
			sum += f["Pss:"]
		}
	}
	return sum
}

// Resident is what a process holds, in octets: now, and at most until now.
func Resident(pid int) (now, most int64, err error) {
	f, err := fields(fmt.Sprintf("/proc/%d/status", pid))
	return f["VmRSS:"], f["VmHWM:"], err
}

// fields gives the sizes that a file of the kernel lists in kB, in octets.
func fields(path string) (map[string]int64, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	out := map[string]int64{}
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) != 3 || f[2] != "kB" {
			continue
		}
		if n, err := strconv.ParseInt(f[1], 10, 64); err == nil {
			out[f[0]] = n << 10
		}
	}
	return out, nil
}
