package sites

import "time"

// record is what the results of one subject have told so far.
type record struct {
	subject Subject
	// last is the last outcome that was not unknown; start and finish are its
	// probe's. row counts how often in a row it has been so, since the probe
	// that started at rowStart.
	last          Outcome
	start, finish time.Duration
	row           int
	rowStart      time.Duration
	// recent is the last outcome of all, recentStart its probe's start, check
	// what it said.
	recent      Outcome
	recentStart time.Duration
	// upStart and upFinish are those of the last probe that answered; upStart is
	// the moment that its answer is evidence of ([Check.Heard]).
	upStart, upFinish time.Duration
	// learnt and upLearnt count, over all results, when the last that counted
	// and the last that answered came: two that bear the same time are still
	// one after the other (N2).
	learnt, upLearnt uint64
	// notBefore: results of probes that started earlier count no more (N8).
	notBefore time.Duration
	// heard is when anything was last heard of the probe loop, which is waited
	// for since awaited; stuck says that it took too long (S5).
	heard, awaited time.Duration
	stuck          bool

	interval time.Duration
	timeout  time.Duration
	check    Check
	// lack is what the last outcome said that was unknown (N14).
	lack Check
	// silent: what is waited to be told of has not come yet, and nothing else of
	// the subject could not be found out.
	silent bool
	// dark: nothing but unknown has come since the probe that started at
	// darkFrom; the last started at darkTo (N14).
	dark             bool
	darkFrom, darkTo time.Duration
}

// take enters an outcome, and says whether it counts. A result that is older
// than the last is dropped (O1). spoke is what an answer is evidence of, where
// that is not the probe's start; else 0.
func (r *record) take(o Outcome, res *Result, spoke time.Duration, learnt uint64) bool {
	told := o == Up && spoke != 0
	if !told {
		spoke = res.Start
	}
	if res.Start < r.notBefore || o == Up && spoke < r.notBefore || (r.last != None && res.Start < r.start) {
		return false
	}
	if r.recent == None || res.Start >= r.recentStart {
		r.recent, r.recentStart = o, res.Start
	}
	if o != Up && o != Down {
		return true
	}
	switch {
	case r.last != o:
		r.last, r.row, r.rowStart = o, 1, res.Start
	case !told || spoke > r.upStart:
		r.row++ // the same word of a node counts once (O4)
	}
	r.start, r.finish, r.learnt = res.Start, res.Finish, learnt
	if o == Up {
		r.upStart, r.upFinish, r.upLearnt = spoke, res.Finish, learnt
	}
	return true
}

// adopt takes what another record was told.
func (r *record) adopt(o *record) {
	r.last, r.start, r.finish, r.row, r.rowStart = o.last, o.start, o.finish, o.row, o.rowStart
	r.recent, r.recentStart, r.check = o.recent, o.recentStart, o.check
	r.lack, r.silent, r.dark, r.darkFrom, r.darkTo = o.lack, o.silent, o.dark, o.darkFrom, o.darkTo
	r.upStart, r.upFinish, r.learnt, r.upLearnt = o.upStart, o.upFinish, o.learnt, o.upLearnt
}

// forget drops all that was heard: the subject starts anew at now (N8, A7).
func (r *record) forget(now time.Duration) {
	*r = record{
		subject: r.subject, interval: r.interval, timeout: r.timeout, stuck: r.stuck,
		notBefore: now, awaited: now,
	}
}

// unfound says whether it could not be found out for a reason of the
// controller's own whether the subject answers (O1, N4).
func (r *record) unfound() bool { return r.recent == Unknown && !r.silent }

// answers says whether the last finished probe came back up (N12). One whose
// probe loop is stuck is as one that could not be found out (S5).
func (r *record) answers() bool { return r.recent == Up && !r.stuck }

// staleAt is when the subject's probe loop counts as stuck (S5).
func (r *record) staleAt() time.Duration {
	return max(r.heard, r.awaited) + 3*r.interval + r.timeout
}

// fresh says whether something has been heard since it is waited for.
func (r *record) fresh(now time.Duration) bool { return r.heard >= r.awaited && now < r.staleAt() }
