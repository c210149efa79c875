// Package verdict defines the results of attacks: one [Result] for each design, property and attack, with
// a [Reproducer] if the property was refuted. The attacks write it, the analysis reads it, and neither
// imports the other.
//
// The JSON form follows the Go types. Bytes are standard base64 (RFC 4648, section 4); times are RFC 3339
// with nanoseconds. The keys in a reproducer are derived from the seed and protect no data.
package verdict

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"sealab/codecs"
)

// Format names the JSON form.
const Format = "sealab-attack/2"

// An Outcome is the outcome of one attack on one property, or of one measurement.
type Outcome string

// The outcomes. No outcome says that a property holds for certain.
const (
	NotRefuted Outcome = "not refuted" // attacked, without success
	Refuted    Outcome = "refuted"     // the evidence shows how
	NotTested  Outcome = "not tested"  // not attacked, or not completely; see the reason
)

// UnmarshalText reads an outcome. It also accepts the values of older files.
func (v *Outcome) UnmarshalText(text []byte) error {
	older := map[string]Outcome{"standing": NotRefuted, "unexercised": NotTested}
	*v = Outcome(text)
	if outcome, ok := older[string(text)]; ok {
		*v = outcome
	}
	return nil
}

// A Claim is a design's claim about a property.
type Claim string

// The claims.
const (
	Stated    Claim = "stated"    // the design claims it
	Disclaims Claim = "disclaims" // the design says that it lacks it
	Silent    Claim = "silent"    // the design does not answer
)

// A Run is one campaign of attacks.
type Run struct {
	Format  string   `json:"format"`
	Seed    uint64   `json:"seed"`
	Designs []Design `json:"subjects"`
}

// A Design is a design or worker under attack, with its results.
type Design struct {
	Name   string      `json:"name"`
	Kind   codecs.Kind `json:"kind"`
	Worker []string    `json:"worker,omitempty"` // the command of a worker
	// Options are the options that were chosen, by name.
	Options map[string]string `json:"options,omitempty"`
	Calls   int               `json:"calls"` // seals and unseals that the attacks made
	Results []Result          `json:"cells"`
}

// A Result is the outcome of one attack on one property of one design.
type Result struct {
	Property codecs.Property `json:"property"`
	Attack   string          `json:"attack"` // ID in the catalog of attacks
	Name     string          `json:"name"`
	Outcome  Outcome         `json:"verdict"`
	Claim    Claim           `json:"word"`
	Trials   int             `json:"trials"`
	Reason   string          `json:"reason,omitempty"` // if not tested
	// Incomplete reports that the attack applies but was skipped or ended early, because time ran out or
	// the design broke.
	Incomplete bool        `json:"incomplete,omitempty"`
	TimeOver   bool        `json:"-"`               // incomplete for lack of time
	Note       string      `json:"note,omitempty"`  // if not refuted: how far the attack went
	Issue      string      `json:"issue,omitempty"` // if refuted: the event
	Gain       string      `json:"gain,omitempty"`  // if refuted: the gain of an attacker
	CWE        int         `json:"cwe,omitempty"`
	Minor      bool        `json:"minor,omitempty"` // a refutation gains an attacker little
	Reproducer *Reproducer `json:"witness,omitempty"`
}

// Accuses reports whether the result contradicts the claim of the design.
func (c Result) Accuses() bool { return c.Outcome == Refuted && c.Claim == Stated }

// A Reproducer holds all that shows a refutation again: the attack, its seed, and the calls that decided
// it.
type Reproducer struct {
	Attack string `json:"attack"`
	Seed   uint64 `json:"seed"`
	Calls  []Call `json:"calls"`
}

// A Tally is the combined outcome of all attacks on one property of a design.
type Tally struct {
	Property codecs.Property
	Claim    Claim
	Outcome  Outcome
	Done, Of int    // attacks completed, and attacks that apply
	Reason   string // if not tested
	TimeOver bool   // an attack was skipped or ended early because time ran out
}

// Tallies returns the outcome of each property that an attack targets. If an attack was skipped because
// time ran out, the property is not tested, unless it is refuted.
func (s *Design) Tallies() []Tally {
	var all []Tally
	for _, info := range codecs.Properties() {
		t := Tally{Property: info.Property, Outcome: NotTested}
		seen, refuted, incomplete := false, false, false
		for _, c := range s.Results {
			if c.Property != info.Property {
				continue
			}
			seen, t.Claim = true, c.Claim
			refuted = refuted || c.Outcome == Refuted
			incomplete = incomplete || c.Incomplete
			switch {
			case c.Outcome == Refuted || c.Outcome == NotRefuted:
				t.Done++
				t.Of++
			case c.Incomplete:
				t.Of++
				t.Reason, t.TimeOver = c.Reason, c.TimeOver
			case t.Reason == "":
				t.Reason = c.Reason
			}
		}
		switch {
		case !seen:
			continue
		case refuted:
			t.Outcome, t.Reason = Refuted, ""
		case !incomplete && t.Done > 0:
			t.Outcome, t.Reason = NotRefuted, ""
		}
		all = append(all, t)
	}
	return all
}

// Untested returns the tallies of claimed properties that are not tested because attacks were incomplete.
func (s *Design) Untested() []Tally {
	return slices.DeleteFunc(s.Tallies(), func(t Tally) bool { return t.Claim != Stated || t.Outcome != NotTested || t.Done == t.Of })
}

// JSON returns the run as JSON.
func (r *Run) JSON() ([]byte, error) {
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return nil, fmt.Errorf("a run of attacks: %w", err)
	}
	return append(data, '\n'), nil
}

// An Op is the operation of a Call.
type Op string

// The operations.
const (
	OpOpen   Op = "open"   // set up a key ring; the answer says whether it was accepted
	OpSeal   Op = "seal"   // seal a payload or mint a token
	OpUnseal Op = "unseal" // unseal or verify a token
)

// MaxToken is the length in bytes of the longest token that a reproducer carries whole. A longer one is
// cut and its call records the length: the attack makes it again from the seed.
const MaxToken = 1 << 20

// A Call is one call of a design and its answer.
type Call struct {
	Op    Op             `json:"op"`
	Keys  [][]byte       `json:"keys"`
	TTL   *time.Duration `json:"ttl_ns,omitempty"`
	State []byte         `json:"state,omitempty"` // sealed
	Token []byte         `json:"token,omitempty"` // presented
	Cut   int            `json:"cut,omitempty"`   // length of the presented token, if Token is only its head
	// Context is the context of a scheme's call; nil for codecs.
	Context *Context `json:"context,omitempty"`
	Answer  Answer   `json:"answer"`
}

// A Context is the binding and the time of a call.
type Context struct {
	Method    string          `json:"method"`
	Target    string          `json:"target"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Principal *string         `json:"principal,omitempty"`
	Audience  *string         `json:"audience,omitempty"`
	Now       time.Time       `json:"now"`
}

// An AnswerKind is the outcome of a call.
type AnswerKind string

// The answer kinds.
const (
	Done        AnswerKind = "done"
	Refused     AnswerKind = "refused"
	Unsupported AnswerKind = "unsupported"
	Fault       AnswerKind = "fault"
)

// An Answer is the result of a Call.
type Answer struct {
	Outcome AnswerKind `json:"outcome"`
	Out     []byte     `json:"out,omitempty"`    // token or state
	Stage   string     `json:"stage,omitempty"`  // if refused
	Reason  string     `json:"reason,omitempty"` // if refused
	Text    string     `json:"text,omitempty"`   // of the error, as the presenter may see it
}

// ContextOf returns the record of a context.
func ContextOf(c *codecs.Context) *Context {
	return &Context{Method: c.Method, Target: c.Target, Arguments: c.Arguments,
		Principal: c.Principal, Audience: c.Audience, Now: c.Now}
}

// Codecs returns the context for a call. A nil context, which is that of a codec, gives the zero context.
func (c *Context) Codecs() *codecs.Context {
	if c == nil {
		return &codecs.Context{}
	}
	return &codecs.Context{Method: c.Method, Target: c.Target, Arguments: c.Arguments,
		Principal: c.Principal, Audience: c.Audience, Now: c.Now}
}
