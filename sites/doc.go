// Package sites decides: which nodes of which site are answered in DNS, and
// when that changes. It carries out the rules of docs/rules.md, whose numbers
// (O1, N2, A3, …) stand beside the code that they govern.
//
// The package is a state machine with no goroutine, no clock, no I/O and no
// log. Its owner calls [Machine.Step] with the time, with the results of
// probes and with the operator's commands; what comes back are events and the
// probes to run at once. What each pool answers ([Machine.Answer]) and why
// ([Machine.ExplainNode]) are functions of configuration, state and time, so
// the loop around the machine publishes what differs and loses nothing when it
// is killed.
//
// Durations are measured by a clock that counts sleep (see [Instant.Boot]);
// the wall clock serves windows, `--for`, the outage history and the times that
// people read. A Machine is not safe for concurrent use.
package sites
