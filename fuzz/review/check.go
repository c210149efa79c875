package review

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sealab/internal/rawmcp"
)

// A Severity orders findings.
type Severity string

// The severities of the review contract, the worst first.
const (
	Critical   Severity = "critical"
	Warning    Severity = "warning"
	Suggestion Severity = "suggestion"
)

// A Check is one test of a server. Its prose is the documentation of the check
// and of its findings.
type Check struct {
	ID       string
	Name     string
	Sent     string // the requests that are sent
	Want     string // the behavior of a correct server
	Source   string // of that behavior
	Impact   string // of the fault
	Fix      string
	Severity Severity // the worst
	Category string   // transport, schema, security, reliability
	Effects  bool     // needs --effects
	Flow     bool     // needs a flow with a token
	Over     string   // http or stdio; "" for both
	Era      string   // modern or legacy; "" for both
	Timed    bool     // rests on the time of an answer, or on one good token that is refused: a finding has to show in three attempts
	Long     bool     // takes hundreds of exchanges
	Run      func(*T)
}

// Checks returns every check, in the order in which they are carried out.
func Checks() []Check {
	return slices.Concat(forging, guessing, spelling, binding, instances, refusing, reading, rounds, lasting, header, reaching, negotiating, bodies, results, telling, credentials, impersonating, resourceMetadata, offers, reads, fetching, values, progressing, prompting, crossed, limits, capacity, streams, sessions, pushing, seen)
}

// Family returns the letters of a check's id before the hyphen.
func (c Check) Family() string {
	family, _, _ := strings.Cut(c.ID, "-")
	return family
}

// An Outcome is the result of one check.
type Outcome struct {
	Check   string `json:"check"`
	Outcome string `json:"outcome"` // refuted, not refuted, not tested
	Reason  string `json:"reason,omitempty"`
	Trials  int    `json:"trials,omitempty"`
}

// The outcomes of a check.
const (
	Refuted    = "refuted"
	NotRefuted = "not refuted"
	NotTested  = "not tested"
)

// A Finding is one fault that a check has shown.
type Finding struct {
	Check    string   `json:"check"`
	Case     string   `json:"case"` // the variant that showed it
	Severity Severity `json:"severity"`
	Issue    string   `json:"issue"`
	Evidence string   `json:"evidence"`
	Curl     string   `json:"curl,omitempty"`
	Flow     *Flow    `json:"flow,omitempty"`
	Revision string   `json:"revision,omitempty"` // if it is not the newest of the server
	// Want and Got are the classes of the answers that are compared on replay.
	Want string `json:"want"`
	Got  string `json:"got"`
}

// T is one check at work.
type T struct {
	r      *Review
	ctx    context.Context
	check  Check
	o      *oracle // of a check with a flow
	honest map[string]bool
	only   string // the case that is replayed; "" for all
	places map[string]*oracle

	trials   int
	unclear  int    // answers that do not tell whether the state was accepted
	reason   string // why it is not tested
	findings []Finding
}

// answered is a variant with its answer.
type answered struct {
	name   string
	answer Answer
}

// prefer goes on with the first flow that is fit for a check, if one is.
func (t *T) prefer(fit func(Flow) bool) {
	for _, o := range t.r.oracles {
		if fit(o.flow) {
			t.o = o
			return
		}
	}
}

func (t *T) seen(v variant, a Answer) {
	t.trials++
	t.r.note(v.name, a)
}

// skip records the reason why the check is not tested. Earlier findings stay.
func (t *T) skip(format string, args ...any) {
	if t.reason == "" {
		t.reason = fmt.Sprintf(format, args...)
	}
}

// refute records a finding.
func (t *T) refute(f Finding) {
	if t.only != "" && f.Case != t.only {
		return
	}
	f.Check, f.Evidence = t.check.ID, string(t.r.opts.Target.masked([]byte(f.Evidence)))
	if t.o != nil && f.Flow == nil {
		flow := t.o.flow
		f.Flow = &flow
	}
	t.findings = append(t.findings, f)
}

// outcome sums the check up.
func (t *T) outcome() Outcome {
	o := Outcome{Check: t.check.ID, Trials: t.trials, Outcome: NotRefuted}
	switch {
	case len(t.findings) > 0:
		o.Outcome, o.Reason = Refuted, t.findings[0].Issue
	case t.reason != "":
		o.Outcome, o.Reason = NotTested, t.reason
	case t.trials == 0:
		o.Outcome, o.Reason = NotTested, "the token and the lists of this server give no case"
	}
	return o
}

// sent is the request of an exchange in a line of evidence.
func sent(e *rawmcp.Exchange) string {
	if e == nil {
		return ""
	}
	return short(string(e.Sent), 400)
}
