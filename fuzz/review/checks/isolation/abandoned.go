package isolation

import (
	"fmt"
	"time"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/internal/rawmcp"
)

// abandonedChecks are the checks of calls whose client goes away before the answer.
var abandonedChecks = []review.Check{
	{
		ID: "RS-ABORT", Name: "a state that is good again after a closed connection", Flow: true, Over: "http", Effects: true, Severity: review.Warning, Category: "security",
		Sent: "for a tool named by --one-time that takes 50 ms or more, and changes a number in its own result or in " +
			"that of a read-only tool or resource by the same amount each time: its last round, on a connection that is closed " +
			"before the usual time has passed, six times; after each the same state again",
		Want:   "refuses the state if it carried out the call, or gives its result",
		Source: review.SourceMRTR + ", single use; CWE-841",
		Impact: "a client carries out one consent as often as it closes the connection",
		Fix:    "make a state good again only together with undoing the work, in one transaction",
		Run:    checkAbandoned,
	},
}

// leastWork is the least time of a call whose connection can be closed before the answer.
const leastWork = 50 * time.Millisecond

// checkAbandoned closes connections during calls of tools for one use.
func checkAbandoned(t *review.T) {
	tested := false
	for _, d := range deedsOf(t) {
		if !t.OneTime(d.flow) || d.flow.Last == nil || !t.Selected(d.flow.String()) || len(t.Findings) > 0 {
			continue
		}
		tested = true
		g, ok := gaugeOf(d)
		if !ok {
			t.Skip("%s: no number tells how often it was carried out", d.flow)
			continue
		}
		g.abandon()
	}
	if !tested {
		t.Skip("no tool that asks is named by --one-time")
	}
}

// abandon closes the connection of a deed before its answer and presents the state again. It records a
// finding if the gauge counts both, twice, and does not count a used state that is refused, or answered by its first result.
func (g gauge) abandon() {
	call, _, ok := g.ready(client.FirstUser)
	began := time.Now()
	whole := g.Call(call)
	took := time.Since(began)
	if !ok || !isDone(whole, g.alone) {
		g.Skip("control: %s: %v", g.flow, whole)
		return
	}
	if took < leastWork {
		g.Skip("%s answers within %v, too soon to close the connection before", g.flow, leastWork)
		return
	}
	before, _ := g.steps(0)
	again := g.Tried(g.Call(call))
	kept := string(again.Result) == string(whole.Result)
	if _, counted := g.steps(before); !again.Refused() && !kept || !isNear(counted, 0) {
		g.Skip("control: %s: a used state is neither refused nor answered by its result, or counts: %v", g.flow, again)
		return
	}
	shown := 0
	for _, part := range partsOfWork {
		f, ok := g.countsAbandoned(took, time.Duration(part*float64(took)))
		if ok {
			shown++
		}
		if shown == 2 {
			g.Refute(f)
			return
		}
	}
}

// partsOfWork are the parts of the time of a call after which its connection is closed. Two must show the
// fault: on a busy machine some connections are closed after the answer.
var partsOfWork = []float64{0.25, 0.125, 0.75, 0.25, 0.125, 0.25}

// countsAbandoned closes the connection of a deed that takes a time after hold. It returns a finding if the
// gauge counts the deed, and once more when its state is presented again.
func (g gauge) countsAbandoned(took, hold time.Duration) (f review.Finding, counts bool) {
	call, _, ok := g.ready(client.FirstUser)
	before, _ := g.steps(0)
	w := g.Request(call)
	g.Client.Raw(g.Context, rawmcp.Request{Verb: w.Verb, Path: w.Path, Headers: w.Headers, Body: w.Body, Leave: true, Hold: hold})
	if client.SystemClock().Sleep(g.Context, 2*took) != nil {
		return f, false
	}
	between, worked := g.steps(before)
	again := g.Tried(g.Call(call))
	if !ok || !isDone(again, g.alone) || !isNear(worked, 1) {
		return f, false
	}
	_ = g.Client.Clock.Sleep(g.Context, quietTime) // the server may undo the work late
	after, second := g.steps(between)
	f = review.NewFinding(g.flow.String(), review.Warning, "a state is accepted again after its connection was closed, although the call was carried out", again)
	f.Evidence = fmt.Sprintf("%s: %v before, %v after the closed call, %v after its state again, %+v with each call; %s", g, before, between, after, g.step, f.Evidence)
	f.Want, f.Got, f.Flow = "refused", "accepted", &g.flow
	return f, isNear(second, 1)
}
