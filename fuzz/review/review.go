// Package review tests a live server of the Model Context Protocol from outside. It reports faults
// that can be reproduced.
//
// A review finds out which revisions the server speaks, lists its tools, prompts and resources, and
// looks for flows. A flow is a call that the server answers with a question and a requestState
// (revision 2026-07-28, basic/patterns/mrtr). To an instrument, a flow is a scheme without a key:
// mint walks the flow, and verify retries it with a token. Checks then alter tokens, headers,
// bodies and lines. Each check is a value in the table of its family, in a package below the folder
// checks.
//
// A check compares the answers of a server with controls on the same server, never with another
// server. An accepted alteration counts if it shows three times. Each time uses a fresh token; an
// unchanged token must be accepted and garbage refused beside it. If a control fails, the check is
// not tested.
//
// Without Options.Effects a review sends no answers to questions, so a tool that asks first does
// not run. A server that begins again on a bad state then answers a good and a bad state with the
// same question. The checks of requestState are not tested on such a server.
package review

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"sealab/fuzz/review/client"
	"sealab/internal/rawmcp"
)

// Options configures a review.
type Options struct {
	Target  client.Target
	Effects bool             // send answers and run tools
	Tools   map[string]Given // tools that may be called; nil: those that ask first
	Flows   []client.Flow    // flows that the user gives
	Checks  []string         // IDs and families; nil: all
	Case    string           // the case of a finding to replay; "": all
	OneTime []string         // tools whose tokens must be accepted only once
	Slow    string           // a tool that may be called and canceled
	Changes string           // a tool that may be called and that changes the list of tools
	Effect  string           // a tool whose text says how often the slow tool ran
	Secrets []string         // texts that must not be readable in a token
	// Restart stops the server and starts it again. It is nil if the user gives no way to do so.
	Restart func(context.Context) error
	// Grace is the time that a process may take to exit. Hang is the time that a call may take if
	// it waits for a host that does not answer.
	Grace, Hang time.Duration
	Large       int           // bytes of the largest request of X-SIZE
	TTL         time.Duration // lifetime of a token; 0: unknown
	Wait        time.Duration // how long to wait for the expiry of a token
	Revise      []string      // revisions to review; nil: all
	Rate        float64       // exchanges a second; 0: no limit
	Budget      int           // exchanges
	Time        time.Duration // limit of the review without the waits for expiry; 0: no limit
	Limits      rawmcp.Limits
	Seed        uint64
	Clock       client.Clock
	Record      func(*rawmcp.Exchange)
	Log         func(format string, args ...any)
}

// Client returns the options for the client of a review.
func (o Options) Client() client.Options {
	return client.Options{Target: o.Target, Limits: o.Limits, Rate: o.Rate, Budget: o.Budget, Clock: o.Clock, Record: o.Record}
}

// withDefaults returns the options with defaults for those that are not given.
func (o Options) withDefaults() Options {
	o.Budget, o.Large = orDefault(o.Budget, DefaultBudget), orDefault(o.Large, 40<<20)
	o.Grace, o.Hang = orDefault(o.Grace, 10*time.Second), orDefault(o.Hang, 30*time.Second)
	o.Limits.Start = orDefault(o.Limits.Start, DefaultStart)
	if o.Clock.Now == nil {
		o.Clock = client.SystemClock()
	}
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	return o
}

func orDefault[N int | time.Duration](given, usual N) N {
	if given <= 0 {
		return usual
	}
	return given
}

// A Report is the outcome of a review.
type Report struct {
	Server   Server        `json:"server"`
	Flows    []client.Flow `json:"flows"`
	Outcomes []Outcome     `json:"outcomes"`
	Findings []Finding     `json:"findings"`
	Notes    []string      `json:"notes,omitempty"`
	// Unseen names the tools that may ask and were not called.
	Unseen    []string `json:"unseen,omitempty"`
	Exchanges int      `json:"exchanges"`
	// Ran counts the tools that ran to their end.
	Ran     int     `json:"ran"`
	Seconds float64 `json:"seconds"`
}

// A Review is the state that the checks of a running review share.
type Review struct {
	Report Report

	Options     Options
	Client      *client.Client
	Flows       []client.Flow
	Oracles     []*Oracle
	Declined    []Declined                   // declines that were carried out
	Remembered  []Remembered                 // calls that the approval of another one covered
	Spares      []Spare                      // tools for one use that carry out calls which began before
	deep        []*Oracle                    // see Sighted
	Again       string                       // the reason that NoteAgain found
	Asking      []client.Answer              // every question that was received
	values      map[string][]json.RawMessage // known texts of arguments, see collect
	uncalled    []string                     // tools that were not called
	filledReads []client.Flow                // of resources by templates
	unanswered  []string                     // tools that ask without a state
	gone        string                       // why the server no longer answers
	began       time.Time
}

// DefaultBudget is the default number of exchanges in a review.
const DefaultBudget = 12000

// DefaultTime is the default time limit of the command.
const DefaultTime = 8 * time.Minute

// DefaultStart is the default time that a server may take to start or restart.
const DefaultStart = 30 * time.Second

// Run reviews a server with the checks that o names. If ctx ends, the report has the outcomes so
// far, and the remaining checks are not tested.
func Run(ctx context.Context, checks []Check, o Options) (*Report, error) {
	o = o.withDefaults()
	checks, err := Select(checks, o.Checks)
	if err != nil {
		return nil, err
	}
	if o.Target.URL == "" {
		o.Target = o.Target.WithEnvironment(os.Environ())
	}
	c, err := client.New(o.Client())
	if err != nil {
		return nil, err
	}
	began := o.Clock.Now()
	r := &Review{Options: o, Client: c, values: map[string][]json.RawMessage{}, began: began}
	defer c.Close()
	if o.Time > 0 {
		c.Until = began.Add(o.Time + 3*o.TTL + o.Wait)
	}
	if err := r.discover(ctx); err != nil {
		return nil, err
	}
	r.openFlows(ctx)
	if slices.ContainsFunc(checks, func(c Check) bool { return c.Flow }) {
		r.Report.Unseen = r.unseen()
	}
	ordered := r.inOrder(checks, o.Clock.Now().Sub(began))
	for _, locks := range []bool{false, true} {
		for _, check := range ordered {
			if check.Locks == locks {
				r.run(ctx, check)
			}
		}
		if !locks {
			r.noteSpent(ctx)
			r.runInBranches(ctx, ordered)
		}
	}
	r.Report.Exchanges, r.Report.Ran = c.Sent, c.Ran
	r.Report.Seconds = o.Clock.Now().Sub(began).Seconds()
	r.sort()
	return &r.Report, nil
}

// usualExchanges is the usual number of exchanges in a review with two flows.
const usualExchanges = 3000

// inOrder returns the checks in the order in which they run. If the server is too slow to run all
// of them in time, the most severe come first.
func (r *Review) inOrder(checks []Check, spent time.Duration) []Check {
	each := spent / time.Duration(max(1, r.Client.Sent))
	if r.Options.Time <= 0 || each*usualExchanges < r.Options.Time {
		return checks
	}
	r.Options.Log("an exchange takes %v: critical checks come first, and those that %v does not do for are not carried out", each.Round(time.Millisecond), r.Options.Time)
	var all []Check
	for _, fits := range []func(Check) bool{
		func(c Check) bool { return c.Severity == Critical && !c.Long && !c.Last },
		func(c Check) bool { return c.Severity == Critical && c.Long && !c.Last },
		func(c Check) bool { return c.Severity == Warning && !c.Last },
		func(c Check) bool { return c.Severity == Suggestion && !c.Last },
		func(c Check) bool { return c.Last },
	} {
		all = append(all, slices.DeleteFunc(slices.Clone(checks), func(c Check) bool { return !fits(c) })...)
	}
	return all
}

// openFlows finds flows and runs their controls.
func (r *Review) openFlows(ctx context.Context) {
	r.collect()
	if !r.Modern() {
		return
	}
	r.learn(ctx)
	r.fill(ctx)
	r.find(ctx)
	for _, f := range r.Flows {
		o := r.open(ctx, f)
		if o == nil {
			r.Report.Flows = append(r.Report.Flows, f)
			continue
		}
		r.Report.Flows = append(r.Report.Flows, o.Flow)
		r.Oracles = append(r.Oracles, o)
		r.Options.Log("flow %s gives tokens", f)
	}
}

// Modern reports whether the server speaks revision 2026-07-28.
func (r *Review) Modern() bool { return slices.Contains(r.Report.Server.Revisions, client.Modern) }

// run runs one check and keeps its outcome.
func (r *Review) run(ctx context.Context, check Check) {
	t := r.carryOut(ctx, check)
	r.Report.Outcomes = append(r.Report.Outcomes, t.outcome())
	r.Report.Findings = append(r.Report.Findings, t.Findings...)
}

// carryOut runs one check. It drops the findings of an interrupted check, because its last exchanges were cut off.
func (r *Review) carryOut(ctx context.Context, check Check) *T {
	t := r.newT(ctx, check)
	if reason := r.excluded(check); ctx.Err() != nil {
		t.stop(ErrInterrupted)
	} else if reason != "" {
		t.Skip("%s", reason)
	} else if err := r.Client.Over(); err != nil && !check.Last {
		t.stop(err)
	} else if r.gone != "" {
		t.Skip("%s", r.gone)
	} else {
		if check.Flow {
			t.Oracle = r.Oracles[0]
		}
		before, unsent := r.Client.Sent, r.Client.Unsent
		t.watched(check.Run)
		if err := r.Client.Over(); err != nil && r.Client.Unsent > unsent && !check.Last {
			t.stop(err)
		}
		if ctx.Err() != nil {
			t.Findings = nil
			t.stop(ErrInterrupted)
		}
		r.Options.Log("%s: %s (exchanges: %d)", check.ID, t.outcome().Outcome, r.Client.Sent-before)
	}
	return t
}

// excluded returns the reason why a check cannot run on this server, or "" if it can.
func (r *Review) excluded(check Check) string {
	over := r.Report.Server.Transport
	switch {
	case check.Over != "" && check.Over != over:
		return fmt.Sprintf("only over %s", check.Over)
	case check.Era == "modern" && !r.Modern():
		return "the server does not speak revision " + client.Modern
	case len(r.Options.Revise) > 0 && !slices.Contains(r.Options.Revise, client.Modern) && check.Era == "modern",
		len(r.Options.Revise) > 0 && !slices.ContainsFunc(r.Options.Revise, func(v string) bool { return v != client.Modern }) && check.Era == "legacy":
		return "not of a revision that --revision names"
	case check.Effects && !r.Options.Effects:
		return "runs tools to their end; --effects allows that"
	case check.Flow && len(r.Oracles) == 0:
		return r.NoFlow()
	default:
		return ""
	}
}

// NoFlow returns the reason why there is no flow to test.
func (r *Review) NoFlow() string {
	switch {
	case !r.Modern():
		return "the server does not speak revision " + client.Modern + ", and no other has a requestState"
	case len(r.Report.Notes) > 0:
		return r.Report.Notes[0]
	case len(r.unanswered) > 0:
		return fmt.Sprintf("%s asks without a state; --effects answers, and goes on", strings.Join(r.unanswered, ", "))
	case len(r.uncalled) > 0:
		return "no call that may be made was answered by a question" + r.NotCalled()
	default:
		return "no call was answered by a question with a state"
	}
}

// unseen returns the tools that may ask and were not called. These are the tools whose texts say so
// and, if the server gives states elsewhere, tools that seem to change something. If the user named
// the tools, there are none.
func (r *Review) unseen() []string {
	var all []string
	for _, o := range r.Report.Server.Tools {
		changes := !o.IsReadOnly() && (score(o) > 0 || o.IsDestructive() && score(o) == 0)
		if r.Options.Tools == nil && slices.Contains(r.uncalled, o.Name) && (client.Mentions(o.Name+" "+o.Description, AskingWords) || changes && len(r.Flows) > 0) {
			all = append(all, o.Name)
		}
	}
	return all
}

// NotCalled returns a note that names the tools that were not called.
func (r *Review) NotCalled() string {
	if len(r.uncalled) == 0 {
		return ""
	}
	return fmt.Sprintf("; not called: %s; --tool names a tool that may be called", strings.Join(r.uncalled, ", "))
}

// sort orders the findings by severity.
func (r *Review) sort() {
	slices.SortStableFunc(r.Report.Findings, bySeverity)
}

// bySeverity compares findings, the most severe first.
func bySeverity(a, b Finding) int {
	rank := map[Severity]int{Critical: 0, Warning: 1, Suggestion: 2}
	return rank[a.Severity] - rank[b.Severity]
}

// Select returns the checks whose IDs or families are in names, or all checks if names is empty. It
// returns an error for a name that matches no check.
func Select(checks []Check, names []string) ([]Check, error) {
	if len(names) == 0 {
		return checks, nil
	}
	var all []Check
	used := map[string]bool{}
	for _, c := range checks {
		if slices.Contains(names, c.ID) || slices.Contains(names, c.Family()) {
			all = append(all, c)
			used[c.ID], used[c.Family()] = true, true
		}
	}
	for _, n := range names {
		if !used[n] {
			return nil, fmt.Errorf("check %q: want the id of a check or a family", n)
		}
	}
	return all, nil
}
