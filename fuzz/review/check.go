package review

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"sealab/fuzz/review/client"
)

// A Severity orders findings.
type Severity string

// The severities, the worst first.
const (
	Critical   Severity = "critical"
	Warning    Severity = "warning"
	Suggestion Severity = "suggestion"
)

// A Check is one test of a server. Its text fields document the check and its findings.
type Check struct {
	ID       string
	Name     string
	Sent     string // the requests that are sent
	Want     string // the behavior of a correct server
	Source   string // the source of Want
	Impact   string // the impact of the fault
	Fix      string
	Severity Severity // of the worst fault
	Category string   // transport, schema, security or reliability
	Effects  bool     // needs --effects
	Flow     bool     // needs a flow with a token
	Over     string   // http or stdio; "" for both
	Era      string   // modern or legacy; "" for both
	Timed    bool     // rests on time or on one refusal: findings must show in three attempts
	Long     bool     // takes hundreds of exchanges
	Last     bool     // judges the answers that other checks received, and runs after them
	Once     bool     // tests the same in every branch of a flow, or waits for long
	Locks    bool     // may leave calls locked or refused, or end the server, and runs after all others
	Run      func(*T)
}

// Family returns the part of the ID before the hyphen.
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
	// Stopped is the error that ended the review before or during this check: [ErrInterrupted],
	// [client.ErrBudget] or [client.ErrTime]. It is nil if the review did not end there.
	Stopped error `json:"-"`
}

// The outcomes of a check.
const (
	Refuted    = "refuted"
	NotRefuted = "not refuted"
	NotTested  = "not tested"
)

// A Finding is one fault that a check found.
type Finding struct {
	Check    string       `json:"check"`
	Case     string       `json:"case"` // the variant that showed it
	Severity Severity     `json:"severity"`
	Issue    string       `json:"issue"`
	Evidence string       `json:"evidence"`
	Curl     string       `json:"curl,omitempty"`
	Flow     *client.Flow `json:"flow,omitempty"`
	Revision string       `json:"revision,omitempty"` // if it differs from the server's newest
	// Want and Got are the answer classes that a replay compares.
	Want string `json:"want"`
	Got  string `json:"got"`
}

// Page returns the documentation of a check in Markdown.
func (c Check) Page() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "\n### %s: %s\n\n", c.ID, c.Name)
	fmt.Fprintf(&b, "- sent: %s\n- a correct server: %s (%s)\n- at worst: %s, %s\n- impact: %s\n- fix: %s\n", c.Sent, c.Want, c.Source, c.Severity, c.Category, c.Impact, c.Fix)
	var needs []string
	if c.Flow {
		needs = append(needs, "a call that is answered by a question with a state")
	}
	if c.Effects {
		needs = append(needs, "`--effects`")
	}
	if c.Over != "" {
		needs = append(needs, c.Over)
	}
	if len(needs) > 0 {
		fmt.Fprintf(&b, "- needs: %s\n", strings.Join(needs, ", "))
	}
	return b.Bytes()
}

// ErrInterrupted is the reason for checks that did not run because the context ended.
var ErrInterrupted = errors.New("the review was interrupted")

// Judge returns the outcome and the findings of a check that sends no requests.
func (c Check) Judge(run func(*T)) (Outcome, []Finding) {
	t := &T{Review: &Review{}, check: c}
	run(t)
	return t.outcome(), t.Findings
}

// Sources that checks of several families cite.
const (
	SourceMRTR  = "revision 2026-07-28, basic/patterns/mrtr"
	SourceStdio = "revision 2026-07-28, basic/transports/stdio"
	SourceTools = "revision 2026-07-28, server/tools"
)

// Fixes to which Server.Fix adds an option of the server's SDK.
const (
	FixSeal = "protect the state with authenticated encryption or a MAC under a key of the server, and verify it before reading any of it"
	FixBind = "put a digest of the arguments, the target, the method and the principal into the authenticated part of the token, and compare it with the request that presents the token"
)
