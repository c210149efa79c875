package review

import (
	"context"
	"fmt"
	"slices"
	"time"

	"sealab/fuzz/review/client"
)

// aliveCase is the case of findings that report a dead server.
const aliveCase = "the server goes on"

// watched runs a check and then sends honest requests. If the server no longer answers, watched
// records a finding of the check and restarts the server if it can.
func (t *T) watched(run func(*T)) {
	c, only := t.Client, t.Only
	before, ended := c.Sent, c.Ended
	c.Lost = nil
	if only == aliveCase {
		t.Only = "" // any case may stop the server
	}
	again := t.anew()
	run(t)
	if t.Only = only; only == aliveCase {
		t.Findings = nil // drop findings of other cases
	}
	if c.Sent == before {
		return
	}
	last := c.Last
	if c.Lost != nil {
		last = c.Lost
	}
	reason := t.silent(t.Context)
	if reason == "" && c.Ended == ended {
		t.settle(run)
		return
	}
	back := t.comesBack(t.Context, reason)
	if reason == "" {
		reason = "the process ended by itself and was started again"
	}
	if back && !again.ends(run) {
		t.Report.Notes = append(t.Report.Notes, fmt.Sprintf("%s: the server was away once: %s", t.check.ID, reason))
		return
	}
	if !t.foundSilent() {
		t.Trials++
		t.Refute(Finding{Case: aliveCase, Severity: Warning, Issue: "the server ends or hangs after the requests of this check",
			Evidence: fmt.Sprintf("%s; then an honest request: %s", SentText(last), reason), Want: "answered", Got: string(client.Broken)})
	}
	if reason = t.silent(t.Context); !t.comesBack(t.Context, reason) {
		t.gone = fmt.Sprintf("the server does not answer since %s: %s; --restart starts it again", t.check.ID, reason)
	}
}

// timedAttempts is the number of times that a finding of a Timed check must show. A busy machine may
// delay one attempt, and a server may restart during another.
const timedAttempts = 3

// settle drops the findings of a Timed check that do not show in every attempt. Findings of a
// missing answer depend on time in every check.
func (t *T) settle(run func(*T)) {
	var kept []Finding
	for _, f := range t.Findings {
		if t.check.Timed || f.Got == string(client.Broken) {
			last, reason := t.shows(run, f)
			if reason != "" {
				t.Report.Notes = append(t.Report.Notes, fmt.Sprintf("%s: %s: seen once; in a new attempt %s", t.check.ID, f.Issue, reason))
				continue
			}
			f = last
		}
		kept = append(kept, f)
	}
	t.Findings = kept
}

// shows repeats a check for one finding. It returns the last finding, or the reason why one attempt
// did not show it.
func (t *T) shows(run func(*T), f Finding) (Finding, string) {
	for range timedAttempts - 1 {
		again := t.anew()
		again.Only = f.Case
		run(again)
		i := slices.IndexFunc(again.Findings, func(g Finding) bool { return g.Case == f.Case && g.Got == f.Got })
		switch {
		case i >= 0:
			f = again.Findings[i]
		case again.Reason != "":
			t.Skip("seen once; in a new attempt: %s", again.Reason)
			return f, "it was not tested: " + again.Reason
		default:
			return f, "it does not show"
		}
	}
	return f, ""
}

// anew returns a fresh T for the same check.
func (t *T) anew() *T {
	again := t.newT(t.Context, t.check)
	again.Oracle, again.Only = t.Oracle, t.Only
	return again
}

// ends repeats a check after which the server was away. It reports whether the server stops again:
// the first time it may have been restarted for another reason.
func (t *T) ends(run func(*T)) bool {
	ended := t.Client.Ended
	run(t)
	return t.silent(t.Context) != "" || t.Client.Ended != ended
}

// foundSilent reports whether the check itself recorded a missing answer.
func (t *T) foundSilent() bool {
	return slices.ContainsFunc(t.Findings, func(f Finding) bool { return f.Got == string(client.Broken) })
}

// silentPauses are the waits between honest requests before a server counts as dead.
var silentPauses = []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}

// silent returns the reason why the server answers no honest request, or "" if it answers one in
// any way. A server that cannot be reached has the time of a start to answer.
func (r *Review) silent(ctx context.Context) string {
	r.Client.Away = false
	a := r.Client.Call(ctx, r.Client.Listing)
	for i, pause := range silentPauses {
		if a.Kind != client.Broken || ctx.Err() != nil {
			return ""
		}
		if a.Unreached() {
			break // Unreached means that it had the time of a start
		}
		if r.Options.Clock.Sleep(ctx, pause) != nil {
			return ""
		}
		if i == len(silentPauses)-1 {
			r.Client.Unhurried() // the last request has the whole time limit
		}
		a = r.Client.Call(ctx, r.Client.Listing)
	}
	if a.Kind != client.Broken || ctx.Err() != nil {
		return ""
	}
	return a.String()
}

// comesBack reports whether a server that was silent for a reason answers after a restart. It
// returns true if reason is empty.
func (r *Review) comesBack(ctx context.Context, reason string) bool {
	return reason == "" || r.Options.Restart != nil && r.Options.Restart(ctx) == nil && r.silent(ctx) == ""
}
