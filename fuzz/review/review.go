// Package review tests a live server of the Model Context Protocol from outside
// and reports faults that can be shown again.
//
// It finds out which revision the server speaks, lists its tools, prompts and
// resources, and looks for flows: calls that are answered by a question with a
// requestState (revision 2026-07-28, basic/patterns/mrtr). A flow is a scheme
// without a key: mint is to walk it, verify to retry with a token. Checks then
// alter tokens, headers, bodies and lines. Each is a value in a table; a file
// holds a family.
//
// A check compares answers of one server with controls on the same server, never
// with those of another. An accepted alteration counts if it shows three times,
// each time on a fresh token, with an unchanged token accepted and garbage
// refused beside it. A control that fails makes the check not tested.
//
// Without Options.Effects no answer to a question is sent, so that no tool that
// asks first runs to its end. A question to a server that begins again on a bad
// state is ambiguous then, and the checks of requestState are not tested.
package review

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"sealab/internal/rawmcp"
)

// A Target is the server that is reviewed: a URL, or the words of a command.
type Target struct {
	URL     string
	Command []string
	Headers []rawmcp.Header // credentials of the first user
	Second  []rawmcp.Header // credentials of the second
	Foreign []rawmcp.Header // credentials that were issued for another server
	Also    string          // URL of a second instance

	environment []rawmcp.Header // variables of a command that may be secrets
}

// Options say how a server is reviewed.
type Options struct {
	Target  Target
	Effects bool             // answers may be sent, and tools run
	Tools   map[string]Given // tools that may be called; nil: those that ask first
	Flows   []Flow           // given by hand
	Checks  []string         // ids and families; nil: all
	Case    string           // of a finding that is replayed
	OneTime []string         // tools whose tokens must be accepted once
	Slow    string           // a tool that may be called and cancelled
	Changes string           // a tool that may be called and that changes the list of tools
	Effect  string           // a tool whose text tells how often the slow tool ran
	Secrets []string         // texts that must not be readable in a token
	// Restart ends the server and starts it again; nil: unknown how.
	Restart func(context.Context) error
	// Grace is how long a process may take to end, and Hang how long a call that
	// waits for a silent host may take.
	Grace, Hang time.Duration
	Large       int           // bytes of the largest request of X-SIZE
	TTL         time.Duration // of tokens; 0: unknown
	Wait        time.Duration // how long to wait for the expiry of a token
	Revise      []string      // revisions to review; nil: all
	Rate        float64       // exchanges a second; 0: no limit
	Budget      int           // exchanges
	Time        time.Duration // of the review, beside the waits for expiry; 0: no limit
	Limits      rawmcp.Limits
	Seed        uint64
	Clock       Clock
	Record      func(*rawmcp.Exchange)
	Log         func(format string, args ...any)
}

// A Report is the outcome of a review.
type Report struct {
	Server   Server    `json:"server"`
	Flows    []Flow    `json:"flows"`
	Outcomes []Outcome `json:"outcomes"`
	Findings []Finding `json:"findings"`
	Notes    []string  `json:"notes,omitempty"`
	// Unseen are tools that may ask and were not called.
	Unseen    []string `json:"unseen,omitempty"`
	Exchanges int      `json:"exchanges"`
	// Ran counts the tools that ran to their end.
	Ran     int     `json:"ran"`
	Seconds float64 `json:"seconds"`
}

// A Review is a review at work.
type Review struct {
	Report Report

	opts       Options
	client     *client
	flows      []Flow
	oracles    []*oracle
	deep       []*oracle  // see sighted
	again      string     // the reason that noteAgain found
	asking     []Answer   // every question that was seen
	uncalled   []string   // tools that were not called
	unanswered []string   // tools that ask without a state
	answers    []answered // of the variants, for statistics
	gone       string     // why the server does not answer any more
}

// DefaultBudget is the number of exchanges of a review.
const DefaultBudget = 8000

// DefaultTime is how long the command reviews a server.
const DefaultTime = 8 * time.Minute

// DefaultStart is how long a server may take to start, or to come back.
const DefaultStart = 30 * time.Second

// Run reviews a server. If the context ends, the report has the checks until then, and the
// others are not tested.
func Run(ctx context.Context, o Options) (*Report, error) {
	if o.Budget <= 0 {
		o.Budget = DefaultBudget
	}
	if o.Clock.Now == nil {
		o.Clock = SystemClock()
	}
	if o.Grace <= 0 {
		o.Grace = 10 * time.Second
	}
	if o.Large <= 0 {
		o.Large = 40 << 20
	}
	if o.Limits.Start <= 0 {
		o.Limits.Start = DefaultStart
	}
	if o.Hang <= 0 {
		o.Hang = 30 * time.Second
	}
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	checks, err := selected(o.Checks)
	if err != nil {
		return nil, err
	}
	if o.Target.URL == "" {
		o.Target.environment = secretsOf(os.Environ(), o.Target.Command)
	}
	c, err := newClient(o)
	if err != nil {
		return nil, err
	}
	r := &Review{opts: o, client: c}
	defer c.close()
	began := o.Clock.Now()
	if o.Time > 0 {
		c.until = began.Add(o.Time + 3*o.TTL + o.Wait)
	}
	if err := r.discover(ctx); err != nil {
		return nil, err
	}
	r.openFlows(ctx)
	if slices.ContainsFunc(checks, func(c Check) bool { return c.Flow }) {
		r.Report.Unseen = r.unseen()
	}
	for _, check := range r.inOrder(checks, o.Clock.Now().Sub(began)) {
		r.run(ctx, check)
	}
	r.Report.Exchanges, r.Report.Ran = c.sent, c.ran
	r.Report.Seconds = o.Clock.Now().Sub(began).Seconds()
	r.sort()
	return &r.Report, nil
}

// usualExchanges is the number of exchanges of a review with two flows.
const usualExchanges = 3000

// inOrder returns the checks in the order in which they are carried out: the worst first if
// the server is so slow that the time may not do for all.
func (r *Review) inOrder(checks []Check, spent time.Duration) []Check {
	each := spent / time.Duration(max(1, r.client.sent))
	if r.opts.Time <= 0 || each*usualExchanges < r.opts.Time {
		return checks
	}
	r.opts.Log("an exchange takes %v: critical checks come first, and those that %v does not do for are not carried out", each.Round(time.Millisecond), r.opts.Time)
	var all []Check
	for _, fits := range []func(Check) bool{
		func(c Check) bool { return c.Severity == Critical && !c.Long },
		func(c Check) bool { return c.Severity == Critical && c.Long },
		func(c Check) bool { return c.Severity == Warning && !isLast(c) },
		func(c Check) bool { return c.Severity == Suggestion && !isLast(c) },
		isLast,
	} {
		for _, c := range checks {
			if fits(c) {
				all = append(all, c)
			}
		}
	}
	return all
}

// isLast reports whether a check judges the answers of all others.
func isLast(c Check) bool {
	return slices.ContainsFunc(seen, func(s Check) bool { return s.ID == c.ID })
}

// openFlows finds flows and carries their controls out.
func (r *Review) openFlows(ctx context.Context) {
	if !r.modern() {
		return
	}
	r.find(ctx)
	for _, f := range r.flows {
		r.Report.Flows = append(r.Report.Flows, f)
		o, reason := r.control(ctx, f, first)
		if reason != "" {
			r.Report.Notes = append(r.Report.Notes, fmt.Sprintf("flow %s: %s", f, reason))
			continue
		}
		r.oracles = append(r.oracles, o)
		r.opts.Log("flow %s gives tokens", f)
	}
}

func (r *Review) modern() bool { return slices.Contains(r.Report.Server.Revisions, modern) }

// note keeps an answer to a variant.
func (r *Review) note(name string, a Answer) { r.answers = append(r.answers, answered{name, a}) }

// Interrupted is the reason why a check was not carried out, or not to its end, if the
// context of the review was over.
const Interrupted = "the review was interrupted"

// Unfinished reports whether a check was not carried out, or not to its end, because the
// review ended before.
func (o Outcome) Unfinished() bool {
	return slices.Contains([]string{Interrupted, errBudget.Error(), errTime.Error()}, o.Reason)
}

// run carries one check out. The answers of one that is interrupted tell nothing: its last
// exchanges were cut off.
func (r *Review) run(ctx context.Context, check Check) {
	t := &T{r: r, ctx: ctx, check: check, honest: map[string]bool{}, places: map[string]*oracle{}, only: r.opts.Case}
	if reason := r.excluded(check); ctx.Err() != nil {
		t.skip(Interrupted)
	} else if reason != "" {
		t.skip("%s", reason)
	} else {
		if check.Flow {
			t.o = r.oracles[0]
		}
		before, unsent := r.client.sent, r.client.unsent
		t.watched(check.Run)
		if err := r.client.over(); err != nil && r.client.unsent > unsent && !isLast(check) {
			t.reason = err.Error()
		}
		if ctx.Err() != nil {
			t.findings, t.reason = nil, Interrupted
		}
		r.opts.Log("%s: %s (%d exchanges)", check.ID, t.outcome().Outcome, r.client.sent-before)
	}
	r.Report.Outcomes = append(r.Report.Outcomes, t.outcome())
	r.Report.Findings = append(r.Report.Findings, t.findings...)
}

// excluded returns the reason why a check cannot be carried out here.
func (r *Review) excluded(check Check) string {
	over := r.Report.Server.Transport
	switch {
	case check.Over != "" && check.Over != over:
		return fmt.Sprintf("only over %s", check.Over)
	case check.Era == "modern" && !r.modern():
		return "the server does not speak revision " + modern
	case len(r.opts.Revise) > 0 && !slices.Contains(r.opts.Revise, modern) && check.Era == "modern",
		len(r.opts.Revise) > 0 && !slices.ContainsFunc(r.opts.Revise, func(v string) bool { return v != modern }) && check.Era == "legacy":
		return "not of a revision that --revision names"
	case check.Effects && !r.opts.Effects:
		return "runs tools to their end; --effects allows that"
	case check.Flow && len(r.oracles) == 0:
		return r.noFlow()
	case r.client.over() != nil && !isLast(check):
		return r.client.over().Error()
	case r.gone != "":
		return r.gone
	default:
		return ""
	}
}

// noFlow says why no flow can be judged.
func (r *Review) noFlow() string {
	switch {
	case !r.modern():
		return "the server does not speak revision " + modern + ", and no other has a requestState"
	case len(r.Report.Notes) > 0:
		return r.Report.Notes[0]
	case len(r.unanswered) > 0:
		return fmt.Sprintf("%s asks without a state; --effects answers, and goes on", strings.Join(r.unanswered, ", "))
	case len(r.uncalled) > 0:
		return "no call that may be made was answered by a question" + r.notCalled()
	default:
		return "no call was answered by a question with a state"
	}
}

// unseen returns the tools that may ask and were not called: those that say so, and, if
// the server hands out states elsewhere, those that seem to change something. The user
// who names tools has said which are meant.
func (r *Review) unseen() []string {
	var all []string
	for _, o := range r.Report.Server.Tools {
		changes := !o.readOnly() && (score(o) > 0 || o.destructive() && score(o) == 0)
		if r.opts.Tools == nil && slices.Contains(r.uncalled, o.Name) && (mentions(o.Name+" "+o.Description, asking) || changes && len(r.flows) > 0) {
			all = append(all, o.Name)
		}
	}
	return all
}

// notCalled names the tools that were not called.
func (r *Review) notCalled() string {
	if len(r.uncalled) == 0 {
		return ""
	}
	return fmt.Sprintf("; not called: %s; --tool names a tool that may be called", strings.Join(r.uncalled, ", "))
}

// sort orders the findings by severity.
func (r *Review) sort() {
	rank := map[Severity]int{Critical: 0, Warning: 1, Suggestion: 2}
	slices.SortStableFunc(r.Report.Findings, func(a, b Finding) int { return rank[a.Severity] - rank[b.Severity] })
}

// selected returns the checks with the ids or families that are named.
func selected(names []string) ([]Check, error) {
	if len(names) == 0 {
		return Checks(), nil
	}
	var all []Check
	used := map[string]bool{}
	for _, c := range Checks() {
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
