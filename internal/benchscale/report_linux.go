package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// report writes the figures as tables.
func report(w io.Writer, all []figures) error {
	var b strings.Builder
	b.WriteString("\n| nodes | sites | names | start to answer ms | its CPU ms | start to order ms | reload ms | its CPU ms | loop held ms | order to answer ms, median | p99 | memory MiB | most |\n" +
		"|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for i := range all {
		f := &all[i]
		fmt.Fprintf(&b, "| %d | %d | %d | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f | %.1f | %.1f | %d | %d |\n", f.nodes, f.sites, f.names,
			ms(f.answer), ms(f.startCPU), ms(f.order), ms(f.reload), ms(f.reloadCPU), ms(f.held), ms(f.publishHalf), ms(f.publish99), f.memory>>20, f.mostMemory>>20)
	}
	b.WriteString("\n| nodes | sites | rules µs/result, all up | all failing | all out | probes/s | %core, all up | µs/probe | %core, going down | all down | late ms, p99 | most | later than an interval | overview ms | its CPU ms | kB | status ms | kB |\n" +
		"|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for i := range all {
		f := &all[i]
		fmt.Fprintf(&b, "| %d | %d | %.2f | %.2f | %.2f | %.0f | %.1f | %.0f | %.1f | %.1f | %.0f | %.0f | %d | %.0f | %.0f | %d | %.0f | %d |\n", f.nodes, f.sites,
			us(f.turn.up), us(f.turn.failing), us(f.turn.out), f.probesUp, 100*f.cpuUp, 1e6*f.cpuUp/max(f.probesUp, 1), 100*f.cpuNews, 100*f.cpuDown,
			ms(f.late99), ms(f.latest), f.overdue, ms(f.page), ms(f.pageCPU), f.pageOctets/1000, ms(f.status), f.statusOctet/1000)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func us(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
