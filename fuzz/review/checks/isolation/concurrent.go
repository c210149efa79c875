package isolation

import (
	"fmt"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

const (
	concurrentCalls = 4
	concurrentTries = 3
)

// readConcurrently calls read-only tools as both users, first one after the other and then at the
// same time. It records a finding if a user whose answer is constant alone gets that of the other
// user.
func readConcurrently(t *review.T) {
	if !t.Options.Effects || t.Client.HTTP == nil {
		return
	}
	for _, o := range t.Report.Server.Tools {
		if !o.IsReadOnly() || !t.Selected("at once: "+o.Name) {
			continue
		}
		calls := make([]client.Call, 2*concurrentCalls)
		for i := range calls {
			calls[i] = t.FlowOf(o).Call(client.BothUsers[i%2])
		}
		own, steady := readInTurn(t, calls[:4])
		if !steady || own[0] == own[1] {
			continue
		}
		for range concurrentTries {
			for i, a := range t.Together(calls) {
				if t.Trials++; a.Kind != client.Completed || a.Text != own[1-i%2] {
					continue
				}
				if again, steady := readInTurn(t, slices.Concat(calls, calls)[:confirmingCalls]); !steady || again != own {
					break // the texts vary by chance
				}
				t.Fault("at once: "+o.Name, review.Critical, fmt.Sprintf("of two users who call %s at once, one gets the answer of the other", client.Short(o.Name, 60)), a)
				return
			}
		}
	}
}

// readInTurn makes calls of two users in turn and returns the text of each. It returns false if the
// texts of a user vary.
func readInTurn(t *review.T, calls []client.Call) (own [2]string, steady bool) {
	for i, call := range calls {
		a := t.Tried(t.Call(call))
		if a.Kind != client.Completed || a.Text == "" || i > 1 && a.Text != own[i%2] {
			return own, false
		}
		own[i%2] = a.Text
	}
	return own, true
}

// testConcurrentCalls makes calls at the same time, each with its own word and as alternating
// users. It uses calls that take a text, and the last rounds of flows. It records a finding if an
// answer has the word of another call, or is that to the other user.
func testConcurrentCalls(t *review.T) {
	if t.Client.HTTP == nil && !t.Modern() {
		return
	}
	flows := t.Wordy()
	for i := range flows {
		flows[i].Rounds, flows[i].Last = nil, nil
	}
	flows = flows[:min(len(flows), review.MaxTestedCalls)]
	for _, o := range t.Oracles {
		if o.Completes() && review.TakesText(o.Flow) {
			flows = append(flows, o.Flow)
		}
	}
	for i, f := range flows {
		label := fmt.Sprintf("%d calls at once, %d: %s", concurrentCalls, i, f)
		if !t.Selected(label) {
			continue
		}
		for range concurrentTries {
			if mixesConcurrentCalls(t, f, label) {
				return
			}
		}
	}
}

// mixesConcurrentCalls makes calls of one flow at the same time.
func mixesConcurrentCalls(t *review.T, f client.Flow, label string) bool {
	var calls []client.Call
	var words []string
	for i := range concurrentCalls {
		as := client.FirstUser
		if len(t.Options.Target.Second) > 0 {
			as = client.BothUsers[i%2]
		}
		call, word, ok := wordyCall(t, f, as)
		if !ok {
			return false
		}
		calls, words = append(calls, call), append(words, word)
	}
	answers := t.Together(calls)
	for i, a := range answers {
		if !a.Succeeded() {
			continue
		}
		t.Trials++
		text := a.Text + a.QuestionTexts()
		for j, word := range words {
			if i != j && strings.Contains(text, word) && !strings.Contains(text, words[i]) {
				t.Fault(label, review.Critical, "a call that is made beside others is answered with the argument of another one", a)
				return true
			}
		}
	}
	return len(t.Options.Target.Second) > 0 && answersOtherUser(t, f, label, answers, words)
}

// wordyCall returns a call of a flow with a new word: the last round, or the first one if the flow
// has no answers.
func wordyCall(t *review.T, f client.Flow, as client.User) (client.Call, string, bool) {
	word := t.Word()
	f = f.With(f.ArgumentsWith(word))
	call, _, ok := readyCall(t, f, as)
	return call, word, ok
}

// readyCall returns the call of a flow: the last round with a fresh state, or the first one if the flow
// has no answers. It returns false, with the answer that shows why, if there is no state.
func readyCall(t *review.T, f client.Flow, as client.User) (call client.Call, asked client.Answer, ok bool) {
	if f.Last == nil {
		return f.Call(as), asked, true
	}
	token, asked, err := t.Client.Mint(t.Context, f, as)
	return t.Client.Presenting(f, jsondoc.Quote(token), as), asked, err == nil
}

// answersOtherUser compares answers given at the same time to alternating users with those that
// each user gets alone. It records a finding if one is that of the other user.
func answersOtherUser(t *review.T, f client.Flow, label string, answers []client.Answer, words []string) bool {
	own, ok := answersAlone(t, f, 4)
	if !ok {
		return false
	}
	for i, a := range answers {
		if text := client.Blank(strings.ReplaceAll(a.Text, words[i], "")); own[0] != own[1] && text == own[1-i%2] {
			if again, ok := answersAlone(t, f, confirmingCalls); !ok || again != own {
				return false // the texts vary by chance
			}
			t.Fault(label, review.Critical, fmt.Sprintf("a call that is made beside those of another user is answered as to that one: %s, and alone %s", client.Short(text, 80), client.Short(own[i%2], 80)), a)
			return true
		}
	}
	return false
}

// confirmingCalls is the number of calls alone that rule out equal answers by chance.
const confirmingCalls = 12

// answersAlone makes n calls one after the other, as each user in turn, and returns the answer of
// each without the word of the call. It returns false if the answers of a user vary.
func answersAlone(t *review.T, f client.Flow, n int) (own [2]string, ok bool) {
	for i := range n {
		call, word, ok := wordyCall(t, f, client.BothUsers[i%2])
		if !ok {
			return own, false
		}
		a := t.Call(call)
		text := client.Blank(strings.ReplaceAll(a.Text, word, ""))
		if text == "" || i > 1 && text != own[i%2] {
			return own, false
		}
		own[i%2] = text
	}
	return own, true
}

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
