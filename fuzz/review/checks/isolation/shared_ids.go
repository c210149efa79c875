package isolation

import (
	"fmt"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
)

// A sharedID is the outcome of calls of two users under one ID.
type sharedID int

const (
	sameTexts  sharedID = iota // both users get the same answer anyway
	ownAnswers                 // each user gets his own answer
	ended                      // there is a finding, or the server left a call without an answer
)

// mixesSharedIDs makes calls that ask, and those that only read, as both users at the same time and under
// one ID, because clients draw their IDs apart from each other. It records a finding if a user gets the
// answer of the other one.
func mixesSharedIDs(t *review.T) bool {
	if t.Client.HTTP == nil || !t.Modern() || len(t.Options.Target.Second) == 0 {
		return false
	}
	for _, f := range sharedCalls(t) {
		label := "one id for both users: " + f.String()
		outcome := sameTexts
		for _, second := range []client.Flow{f, f.With(f.Other)} {
			if outcome == sameTexts && t.Selected(label) && (second.Arguments != nil || f.Arguments == nil) {
				outcome = sharesID(t, f, second, label)
			}
		}
		if outcome == ended {
			return len(t.Findings) > 0
		}
	}
	return false
}

// sharedCalls returns the calls that ask and those that only read, once each.
func sharedCalls(t *review.T) []client.Flow {
	all := slices.Clone(t.Flows)
	for _, tool := range t.Readers() {
		all = append(all, t.FlowOf(tool))
	}
	var once []client.Flow
	for _, f := range append(all, t.Reads()...) {
		if !slices.ContainsFunc(once, func(known client.Flow) bool { return known.String() == f.String() }) {
			once = append(once, f)
		}
	}
	return once[:min(len(once), review.MaxTestedCalls)]
}

// sharesID makes the first call of a flow as the first user and that of another flow as the second. The
// evidence must show twice, each time with calls under different IDs that are answered to their own users.
func sharesID(t *review.T, first, second client.Flow, label string) sharedID {
	var calls []client.Call
	for range concurrentCalls / 2 {
		calls = append(calls, first.Call(client.FirstUser), second.Call(client.SecondUser))
	}
	for _, told := range []func(client.Answer) string{shownTexts, blankTexts} {
		own, steady := toldInTurn(t, calls, told)
		if !steady {
			continue // parts of the texts vary
		}
		if own[0] == own[1] {
			return sameTexts
		}
		var a client.Answer
		for range 2 {
			mixed, outcome := mixedUnderOneID(t, calls, own, told)
			if outcome != sameTexts {
				return outcome
			}
			if a = mixed; !tellsApartByID(t, calls, own, told) {
				return ownAnswers
			}
		}
		if later, steady := toldInTurn(t, slices.Concat(calls, calls, calls)[:confirmingCalls], told); !steady || later != own {
			return ownAnswers // the texts vary by chance
		}
		t.Fault(label, review.Critical, fmt.Sprintf("of two users who send %s at once under the same id, one gets the answer of the other: %s",
			client.Short(first.String(), 60), client.Short(told(a), 80)), a)
		return ended
	}
	return sameTexts
}

func shownTexts(a client.Answer) string { return strings.TrimSpace(a.ShownTexts()) }

func blankTexts(a client.Answer) string { return client.Blank(shownTexts(a)) }

// toldInTurn makes calls of two users in turn and returns the texts of each. It returns false if those of
// a user vary or are empty.
func toldInTurn(t *review.T, calls []client.Call, told func(client.Answer) string) (own [2]string, steady bool) {
	for i, call := range calls {
		a := t.Call(call)
		text := told(a)
		if !a.Succeeded() || text == "" || i > 1 && text != own[i%2] {
			return own, false
		}
		own[i%2] = text
	}
	return own, true
}

// mixedUnderOneID makes calls of two users at once under one ID, several times. It returns an answer that
// has the text of the other user, with sameTexts, or the outcome without one.
func mixedUnderOneID(t *review.T, calls []client.Call, own [2]string, told func(client.Answer) string) (client.Answer, sharedID) {
	for range concurrentTries {
		outcome := ownAnswers
		for i, a := range t.TogetherUnderOneID(calls) {
			if t.Trials++; a.Succeeded() && told(a) == own[1-i%2] {
				return a, sameTexts
			}
			if !a.Conclusive() {
				outcome = ended
			}
		}
		if outcome == ended {
			return client.Answer{}, ended
		}
	}
	return client.Answer{}, ownAnswers
}

// tellsApartByID reports whether users who make the same calls at once under different IDs get their own
// answers.
func tellsApartByID(t *review.T, calls []client.Call, own [2]string, told func(client.Answer) string) bool {
	for i, a := range t.Together(calls) {
		if !a.Succeeded() || told(a) != own[i%2] {
			return false
		}
	}
	return true
}
