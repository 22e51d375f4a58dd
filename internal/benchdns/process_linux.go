package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// family lists a process and all that descend from it.
func family(root int) []int {
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

// cpuTime sums the time that processes have had a processor, in the kernel or
// not, to the nanosecond.
func cpuTime(pids []int) (time.Duration, error) {
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

// memory sums what processes hold, in octets; what they share counts once.
func memory(pids []int) int64 {
	var sum int64
	for _, pid := range pids {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err != nil {
			continue // it has ended
		}
		lines := bufio.NewScanner(bytes.NewReader(b))
		for lines.Scan() {
			f := strings.Fields(lines.Text())
			if len(f) != 3 || f[0] != "Pss:" {
				continue
			}
			if n, err := strconv.ParseInt(f[1], 10, 64); err == nil {
				sum += n << 10
			}
		}
	}
	return sum
}
