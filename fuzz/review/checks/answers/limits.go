package answers

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// limitChecks are checks that use limits up, and run after the others.
var limitChecks = []review.Check{
	{
		ID: "RS-LIMIT", Name: "open calls that pass a limit together", Flow: true, Effects: true, Locks: true, Severity: review.Warning, Category: "security",
		Sent: "calls with larger and larger numbers, until one is refused; four open calls with a number that fits the " +
			"limit once, answered in turn, and a new call after each",
		Want:   "refuses open calls once it refuses new ones with the same number",
		Source: "CWE-367; CWE-841",
		Impact: "a user passes a limit, a balance or a stock by opening several calls before the first one is carried out",
		Fix:    "look at the limit and count in the round that acts, in one transaction",
		Run:    checkLimits,
	},
}

// reservingText matches texts of calls that keep what a call asks for until its last answer.
var reservingText = regexp.MustCompile(`(?i)\b(reserv|held\b|holds?\b|guarant|honou?r|set aside)`)

// checkLimits looks for a number with a limit in each branch of each flow.
func checkLimits(t *review.T) {
	for _, o := range t.Oracles {
		if !o.Completes() || o.Flow.Method != "tools/call" || o.Flow.Offer.IsReadOnly() || reservingText.MatchString(o.Flow.Offer.About()) {
			continue
		}
		for _, f := range t.Branches(t.Context, o) {
			for _, n := range limitedNumbers(t, f) {
				if t.Selected(n.label) && n.passesLimit() {
					return
				}
			}
		}
	}
	t.SkipUntried("no call has a number%s", t.NotCalled())
}

// A limitedNumber is a number in the arguments of a flow, or in an answer before the last one, that a limit may hold for.
type limitedNumber struct {
	*review.T
	label  string
	user   client.User
	schema json.RawMessage
	given  float64
	class  string // of the last question
	with   func(v json.RawMessage) client.Flow
}

// limitedNumbers returns the numbers of a flow whose schemas list no values. The second user makes the calls, if there
// is one who can: other checks may have used up the limit of the first one.
func limitedNumbers(t *review.T, f client.Flow) (all []limitedNumber) {
	user := client.FirstUser
	if len(t.Options.Target.Second) > 0 {
		if _, _, err := t.Client.Mint(t.Context, f, client.SecondUser); err == nil {
			user = client.SecondUser
		}
	}
	_, last, err := t.Client.Mint(t.Context, f, user)
	if err != nil {
		return nil
	}
	add := func(schema json.RawMessage, given map[string]json.RawMessage, with func(name string, v json.RawMessage) client.Flow) {
		for name, s := range jsondoc.Fields(schema) {
			var n float64
			if number := s.TypeOf() == "integer" || s.TypeOf() == "number"; number && !s.Listed() && json.Unmarshal(given[name], &n) == nil && n > 0 {
				all = append(all, limitedNumber{t, fmt.Sprintf("%s of %s", name, f), user, s.Raw, n, last.Class(), func(v json.RawMessage) client.Flow { return with(name, v) }})
			}
		}
	}
	add(f.Offer.InputSchema(), jsondoc.Members(f.Arguments), f.WithArgument)
	for i, stage := range f.Stages()[1:] {
		_, question, err := t.Client.Mint(t.Context, stage, user)
		for key, q := range jsondoc.InOrder(question.Questions) {
			if err == nil {
				add(q.Form(), f.Content(i, key), func(name string, v json.RawMessage) client.Flow { return f.WithAnswer(i, key, name, v) })
			}
		}
	}
	return all
}

// open makes a call with a number up to its last question. It returns the state, and whether the call is refused.
func (n limitedNumber) open(v float64) (state string, refused bool) {
	raw := json.RawMessage(numberText(v))
	if !jsondoc.Fits(n.schema, raw) {
		return "", true
	}
	n.Trials++
	state, a, err := n.Client.Mint(n.Context, n.with(raw), n.user)
	if err != nil || a.Class() != n.class {
		return "", a.Refused()
	}
	return state, false
}

// maxDoublings is the number of times that a number is doubled until a call is refused.
const maxDoublings = 24

// limit returns the largest number that opens a call, to a tenth, or 0 if there is none.
func (n limitedNumber) limit() float64 {
	low, high := n.given, 0.0
	for range maxDoublings {
		v := 2 * low
		if high > 0 {
			v = math.Floor((low + high) / 2)
		}
		if high > 0 && (v <= low || high <= 1.1*low) {
			return low
		}
		switch state, refused := n.open(v); {
		case state != "":
			low = v
		case refused:
			high = v
		default:
			return 0 // another question, or no answer
		}
	}
	return 0
}

// openCalls is the number of calls that are open at once.
const openCalls = 4

// passesLimit answers calls that are open at once, until new ones are refused. It records a finding if one of the
// open calls is carried out after that, and then a new call is refused even with a small number that fitted before.
func (n limitedNumber) passesLimit() bool {
	most := n.limit()
	amount := math.Ceil(0.6 * most)
	small := math.Min(n.given, math.Floor(most-amount))
	if small <= 0 {
		return false
	}
	f := n.with(json.RawMessage(numberText(amount)))
	var states []string
	for range openCalls {
		if state, _ := n.open(amount); state != "" {
			states = append(states, state)
		}
	}
	for done, state := range states {
		reached := done > 0 && n.refuses(amount) && n.refuses(most) && !n.refuses(small)
		a := n.Client.Present(n.Context, f, jsondoc.Quote(state), n.user)
		if a.Kind != client.Completed || reached && !n.refuses(small) {
			return false
		}
		if !reached {
			continue
		}
		n.Refute(review.Finding{Case: n.label, Severity: review.Warning, Issue: "open calls are carried out beyond a limit that refuses new ones", Flow: &f,
			Evidence: fmt.Sprintf("%d calls with %s were open; after %d of them a new one is refused, and one with %s is not; the next open one -> %v; then one with %s is refused as well",
				len(states), numberText(amount), done, numberText(small), a, numberText(small)), Want: "refused", Got: "carried out"})
		return true
	}
	return false
}

// refuses reports whether a call with a number is refused, twice.
func (n limitedNumber) refuses(v float64) bool {
	_, first := n.open(v)
	_, second := n.open(v)
	return first && second
}
