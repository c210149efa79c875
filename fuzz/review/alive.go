package review

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// aliveCase is the case of a finding that a check ended the server.
const aliveCase = "the server goes on"

// watched runs a check and asks the server afterwards. A server that no longer
// answers is a finding of the check, and is restarted if that is possible.
func (t *T) watched(run func(*T)) {
	c, only := t.r.client, t.only
	before, ended := c.sent, c.ended
	c.lost = nil
	if only == aliveCase {
		t.only = "" // each case may end the server
	}
	again := t.anew()
	run(t)
	if t.only = only; only == aliveCase {
		t.findings = nil // those of other cases
	}
	if c.sent == before {
		return
	}
	last := c.last
	if c.lost != nil {
		last = c.lost
	}
	reason := t.r.silent(t.ctx)
	if reason == "" && c.ended == ended {
		t.settle(run)
		return
	}
	back := t.r.comesBack(t.ctx, reason)
	if reason == "" {
		reason = "the process ended by itself and was started again"
	}
	if back && !again.ends(run) {
		t.r.Report.Notes = append(t.r.Report.Notes, fmt.Sprintf("%s: the server was away once: %s", t.check.ID, reason))
		return
	}
	if !t.foundSilent() {
		t.trials++
		t.refute(Finding{Case: aliveCase, Severity: Warning, Issue: "the server ends or hangs after the requests of this check",
			Evidence: fmt.Sprintf("%s; then an honest request: %s", sent(last), reason), Want: "answered", Got: string(broken)})
	}
	if reason = t.r.silent(t.ctx); !t.r.comesBack(t.ctx, reason) {
		t.r.gone = fmt.Sprintf("the server does not answer since %s: %s; --restart starts it again", t.check.ID, reason)
	}
}

// attempts is how often a finding of a check has to show that is Timed: a busy machine
// delays one of them, and a server may restart in another.
const attempts = 3

// settle drops each finding of a Timed check that does not show in every attempt. A
// missing answer rests on time in every check.
func (t *T) settle(run func(*T)) {
	var kept []Finding
	for _, f := range t.findings {
		if t.check.Timed || f.Got == string(broken) {
			last, reason := t.shows(run, f)
			if reason != "" {
				t.r.Report.Notes = append(t.r.Report.Notes, fmt.Sprintf("%s: %s: seen once; in a new attempt %s", t.check.ID, f.Issue, reason))
				continue
			}
			f = last
		}
		kept = append(kept, f)
	}
	t.findings = kept
}

// shows carries a check out again for one finding. It returns the last one, or the
// reason why one attempt did not show it.
func (t *T) shows(run func(*T), f Finding) (Finding, string) {
	for range attempts - 1 {
		again := t.anew()
		again.only = f.Case
		run(again)
		i := slices.IndexFunc(again.findings, func(g Finding) bool { return g.Case == f.Case && g.Got == f.Got })
		switch {
		case i >= 0:
			f = again.findings[i]
		case again.reason != "":
			t.skip("seen once; in a new attempt: %s", again.reason)
			return f, "it was not tested: " + again.reason
		default:
			return f, "it does not show"
		}
	}
	return f, ""
}

// anew returns the same check before it was carried out.
func (t *T) anew() *T {
	return &T{r: t.r, ctx: t.ctx, check: t.check, o: t.o, honest: map[string]bool{}, places: map[string]*oracle{}, only: t.only}
}

// ends carries a check out that the server was away after, and reports whether it ends
// again: it may have been restarted for another reason.
func (t *T) ends(run func(*T)) bool {
	ended := t.r.client.ended
	run(t)
	return t.r.silent(t.ctx) != "" || t.r.client.ended != ended
}

// foundSilent reports whether the check has found by itself that the server ended.
func (t *T) foundSilent() bool {
	for _, f := range t.findings {
		if f.Got == string(broken) {
			return true
		}
	}
	return false
}

// pauses are the waits between honest requests before a server counts as ended.
var pauses = []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}

// silent returns the reason why the server answers no honest request, "" if it
// answers one in any way. A server that cannot be reached gets the time of a start.
func (r *Review) silent(ctx context.Context) string {
	r.client.away = false
	a := r.client.call(ctx, listCall)
	for _, pause := range pauses {
		if a.Kind != broken || ctx.Err() != nil {
			return ""
		}
		if a.unreached() {
			break // for a whole start
		}
		if r.opts.Clock.Sleep(ctx, pause) != nil {
			return ""
		}
		a = r.client.call(ctx, listCall)
	}
	if a.Kind != broken || ctx.Err() != nil {
		return ""
	}
	return a.String()
}

// comesBack reports whether a server that was silent for a reason, or answers if there
// is none, goes on; it is restarted if that is possible.
func (r *Review) comesBack(ctx context.Context, reason string) bool {
	return reason == "" || r.opts.Restart != nil && r.opts.Restart(ctx) == nil && r.silent(ctx) == ""
}
