// Package refusals has the checks of how a server refuses requestState (revision 2026-07-28,
// basic/patterns/mrtr) that is bad, too long or expired.
package refusals

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
)

// Checks returns the checks of the answers to bad states, in the order in which they run.
func Checks() []review.Check { return refusalChecks }

// LaterChecks returns the checks of the length and the expiry of states, which run after those of
// answers.
func LaterChecks() []review.Check { return slices.Concat(sizeChecks, expiryChecks) }

// refusalChecks are the checks of the answers to bad states.
var refusalChecks = []review.Check{
	{
		ID: "RS-UNIFORM", Name: "refusals that differ by cause", Flow: true, Severity: review.Critical, Category: "security",
		Sent: "states that are bad in different ways, and good states of other arguments, targets and users, each " +
			"three times; if their refusals differ, states in which one byte is changed so that blocks in CBC mode " +
			"have a valid or a wrong padding",
		Want:   "refuses all of them with the same status, body and headers",
		Source: "RFC 7516, section 11.5; Bleichenbacher 1998, Vaudenay 2002",
		Impact: "the refusal shows how far the verification came, which helps to forge or decrypt states",
		Fix: "verify the whole state before reading any of it, and answer every bad state with one error that " +
			"names no cause",
		Run: checkUniformRefusals,
	},
	{
		ID: "RS-TEXT", Name: "refusals that reveal internals", Flow: true, Severity: review.Critical, Category: "security",
		Sent: "states that are bad in different ways; texts that parsers fail on; a token with a changed tag; a " +
			"token that contains a marker text, with changed characters; tokens that contain a random word of an argument or " +
			"of an earlier answer, for other arguments and as the second user; with --effects values of other types in the answers of later rounds, " +
			"after two different earlier answers; the check searches the error messages",
		Want:   "reveals no part of the state, no key, no expected tag, no file path and no text of an exception",
		Source: review.SourceMRTR,
		Impact: "the error reveals the construction, the key or the contents of states",
		Fix:    "answer every bad state with one error that names no cause, and log the cause",
		Run:    checkRefusalTexts,
	},
}

// badStates returns states that are bad in different ways. Their names describe the ways.
func badStates(t *review.T, token string) []tokens.Variant {
	all := []tokens.Variant{{Name: "no token", Text: review.GarbageState}, {Name: "no token, longer", Text: "sealab-probe-" + strings.Repeat("z", 60)}}
	add := func(name, text string) {
		if text != "" && text != token {
			all = append(all, tokens.Variant{Name: name, Text: text})
		}
	}
	// Change characters at the start, in the middle and near the end.
	for i, at := range []int{0, len(token) / 3, len(token) - len(token)/8 - 1} {
		add(fmt.Sprintf("changed near %s", []string{"the start", "the middle", "the end"}[i]), token[:at]+string(tokens.Flip(token[at], false))+token[at+1:])
	}
	for at := changedStep; at <= 6*changedStep && at < len(token); at += changedStep { // an initialization vector ends near here
		add(fmt.Sprintf("changed at %d", at), token[:at]+string(tokens.Flip(token[at], false))+token[at+1:])
	}
	add("half of it", token[:len(token)/2])
	add("without its end", token[:max(len(token)-4, 0)])
	for n := 1; n < 4; n++ { // base64 groups end in these ways
		add(fmt.Sprintf("%d characters shorter", n), token[:max(len(token)-n, 0)])
	}
	if text, ok := tokens.Scramble(token, rand.New(rand.NewPCG(t.Options.Seed, 2))); ok {
		add("random content", text)
	}
	add("an empty object", "{}")
	add("the name of a member", "constructor")
	segments := tokens.Segments(token)
	for _, i := range tokens.CodedSegments(segments) {
		for _, text := range []string{"{}", "[]", "sealab"} {
			add(fmt.Sprintf("segment %d %s", i, text), tokens.Replaced(segments, i, segments[i].Write([]byte(text))))
		}
		add(fmt.Sprintf("segment %d scrambled", i), tokens.Replaced(segments, i, tokens.Scrambled(segments[i].Text, rand.New(rand.NewPCG(t.Options.Seed, 3)))))
	}
	return all
}

// changedStep is the distance between the characters that are changed near the start.
const changedStep = 4

// namedAnswer is the name of a variant and the answer to it.
type namedAnswer struct {
	name   string
	answer client.Answer
}

// refusalsOf presents kinds of states and groups their refusals by class. Each round has its own
// states and starts with a different number of requests. Otherwise the answers of servers that take
// turns could match the kinds. It omits kinds that are accepted or whose refusals vary.
func refusalsOf(t *review.T, kinds func(round int) ([]tokens.Variant, string)) (classes map[string][]namedAnswer, reason string) {
	by := map[string][]namedAnswer{}
	for round := range review.Repetitions {
		all, reason := kinds(round)
		if reason != "" {
			return nil, reason
		}
		for range round {
			t.PresentText(review.GarbageState)
		}
		for _, v := range all {
			a := t.Tried(t.Present(v.State()))
			by[v.Name] = append(by[v.Name], namedAnswer{v.Name, a})
		}
		token, reason := t.Mint()
		if reason != "" {
			return nil, reason
		}
		if a := t.PresentText(token); t.Oracle.Verdict(a) != review.Accepted {
			return nil, fmt.Sprintf("the unchanged token is not accepted afterwards: %v", a)
		}
	}
	for name, all := range by {
		if !refusedAlike(all) {
			delete(by, name)
		}
	}
	classes = map[string][]namedAnswer{}
	exact := exactParts(by)
	for _, name := range jsondoc.SortedKeys(by) {
		class := by[name][0].answer.Refusal()
		for _, part := range exact {
			class += fmt.Sprintf(", %s %s", part, client.Short(responseParts(by[name][0].answer)[part], 200))
		}
		classes[class] = append(classes[class], by[name][0])
	}
	return classes, ""
}

// refusedAlike reports whether all states of a kind are refused alike.
func refusedAlike(all []namedAnswer) bool {
	for _, a := range all {
		if !a.answer.Refused() || a.answer.Refusal() != all[0].answer.Refusal() {
			return false
		}
	}
	return len(all) == review.Repetitions
}

// exactParts returns the parts of refusals that are constant for most kinds of states and differ
// between two kinds of similar length. It deletes kinds for which such a part varies.
func exactParts(by map[string][]namedAnswer) []string {
	values := map[string]map[string]string{} // by part and kind
	for _, all := range by {
		for part := range responseParts(all[0].answer) {
			values[part] = map[string]string{}
		}
	}
	lengths := map[string]int{}
	for name, all := range by {
		lengths[name] = len(sentState(all[0].answer))
		for part := range values {
			value := responseParts(all[0].answer)[part] // "" if absent
			if !slices.ContainsFunc(all, func(a namedAnswer) bool { return responseParts(a.answer)[part] != value }) {
				// A part that repeats the length does not reveal the cause.
				values[part][name] = strings.ReplaceAll(value, fmt.Sprint(lengths[name]), "#")
			}
		}
	}
	var exact []string
	kinds := len(by)
	for _, part := range jsondoc.SortedKeys(values) {
		if len(values[part]) < (3*kinds+3)/4 || !valuesDiffer(values[part], lengths) {
			continue
		}
		exact = append(exact, part)
		maps.DeleteFunc(by, func(name string, _ []namedAnswer) bool { _, ok := values[part][name]; return !ok })
	}
	return exact
}

// valuesDiffer reports whether two kinds of similar length have different values.
func valuesDiffer(values map[string]string, lengths map[string]int) bool {
	for one := range values {
		for two := range values {
			if d := lengths[one] - lengths[two]; d >= 0 && d <= 16 && values[one] != values[two] {
				return true
			}
		}
	}
	return false
}

// responseParts returns the body of a response, without its ID, and its headers.
func responseParts(a client.Answer) map[string]string {
	all := map[string]string{}
	if a.LastMessage() == nil {
		return all
	}
	m := jsondoc.Members(a.LastMessage())
	delete(m, "id")
	all["body"] = string(jsondoc.Object(m))
	for name, value := range a.Exchange.Headers {
		all["header "+name] = strings.Join(value, ", ")
	}
	return all
}

// mintBadStates returns the bad states of a fresh token, and good states of other calls and users.
func mintBadStates(t *review.T) ([]tokens.Variant, string) {
	token, reason := t.Mint()
	if reason != "" {
		return nil, reason
	}
	return append(badStates(t, token), otherGoodStates(t)...), ""
}

// otherGoodStates returns good states of other calls and users. Their names begin with
// goodStatePrefix.
func otherGoodStates(t *review.T) []tokens.Variant {
	var all []tokens.Variant
	add := func(name string, f client.Flow, as client.User) {
		if token, _, err := t.Client.Mint(t.Context, f, as); err == nil && token != "" {
			all = append(all, tokens.Variant{Name: goodStatePrefix + name, Text: token})
		}
	}
	if f := t.Oracle.Flow; f.Other != nil {
		add("other arguments", f.With(f.Other), t.Oracle.User)
	}
	for _, o := range t.Oracles {
		if o.Flow.Method == t.Oracle.Flow.Method && o.Flow.Target != t.Oracle.Flow.Target {
			add("another target", o.Flow, t.Oracle.User)
			break
		}
	}
	if len(t.Options.Target.Second) > 0 {
		add("another user", t.Oracle.Flow, client.SecondUser)
	}
	return all
}

const goodStatePrefix = "a good state of "

func checkUniformRefusals(t *review.T) {
	classes, reason := refusalsOf(t, func(int) ([]tokens.Variant, string) { return mintBadStates(t) })
	if t.SkipFor(reason) {
		return
	}
	if len(classes) == 0 {
		t.Skip("no kind of bad state is refused alike three times")
		return
	}
	var lines []string
	bad, good := map[string]bool{}, map[string]string{} // classes
	for _, class := range jsondoc.SortedKeys(classes) {
		for _, a := range classes[class] {
			if name, ok := strings.CutPrefix(a.name, goodStatePrefix); ok {
				good[class] = name
			} else {
				bad[class] = true
			}
		}
		lines = append(lines, fmt.Sprintf("%s -> %s", classes[class][0].name, class))
	}
	f := review.Finding{Severity: review.Warning, Evidence: strings.Join(lines, "; "), Want: "one class", Got: "several"}
	switch {
	case len(bad) > 1 && findPaddingOracle(t):
	case len(bad) > 1:
		f.Case, f.Issue = "kinds of bad states", fmt.Sprintf("bad states are refused in %d ways", len(bad))
		t.Refute(f)
	case len(bad) == 1 && len(classes) > 1:
		f.Case = "a good state of another call"
		for class, name := range jsondoc.InOrder(good) {
			if !bad[class] {
				f.Issue = goodStatePrefix + name + " is refused in another way than a bad state: whoever holds it learns that it is good"
			}
		}
		t.Refute(f)
	}
}

// compareExpiredRefusal compares the refusal of expired tokens, one for each round, with that of
// changed tokens.
func compareExpiredRefusal(t *review.T, old []string) {
	var classes map[string][]namedAnswer
	reason := "not tried"
	for try := 0; try < review.Repetitions && reason != ""; try++ { // a busy machine may delay an answer
		classes, reason = refusalsOf(t, func(round int) ([]tokens.Variant, string) {
			token, reason := t.Mint()
			if reason != "" {
				return nil, reason
			}
			return append(badStates(t, token), tokens.Variant{Name: expiredState, Text: old[round]}), ""
		})
	}
	if reason != "" {
		t.Report.Notes = append(t.Report.Notes, "the refusal of expired states was not compared: "+reason)
		return
	}
	if len(classes) < 2 {
		return
	}
	var lines []string
	changed, expired := "", "" // classes
	for _, class := range jsondoc.SortedKeys(classes) {
		for _, a := range classes[class] {
			switch {
			case a.name == expiredState:
				expired = class
			case strings.HasPrefix(a.name, "changed near"):
				changed = class
			}
		}
		lines = append(lines, fmt.Sprintf("%s -> %s", classes[class][0].name, class))
	}
	if expired != "" && changed != "" && len(classes[expired]) == 1 {
		t.Refute(review.Finding{Case: "how it is refused", Severity: review.Warning, Issue: "an expired state is refused in another way than a changed one: whoever holds it learns that it was good",
			Evidence: strings.Join(lines, "; "), Want: "one class", Got: "another"})
	}
}

const expiredState = "an expired state"

// sentState returns the state that was sent in the request of an answer, or "" if it is not a
// string.
func sentState(a client.Answer) string {
	var sent struct {
		Params struct {
			State string         `json:"requestState"`
			Meta  map[string]any `json:"_meta"`
		} `json:"params"`
	}
	_ = json.Unmarshal(client.BodyOf(a), &sent) // "" if it is of another type
	if _, state := client.CarriedState(sent.Params.Meta); state != nil {
		return *state
	}
	return sent.Params.State
}

// paddingMasks are the changes of a block under which the same padding must be told apart.
var paddingMasks = []byte{0x55, 0xaa, 0x3c}

// findPaddingOracle presents states with 16 last bytes of the block before the last one. It records a finding
// if one of them is refused in another way than all others, each time the same: that with a valid padding. A
// padding of one byte is not tested, since its block is unchanged and may be a length or a separator.
func findPaddingOracle(t *review.T) bool {
	for _, mint := range []func() (string, string){t.Mint, t.OtherToken} {
		token, reason := mint()
		if reason != "" || tokens.Shows(token) {
			return false
		}
		for i := range tokens.PaddingProbes(token, 0) {
			n, evidence := 0, ""
			for round, mask := range paddingMasks {
				var at int
				if at, evidence = differentRefusal(t, tokens.PaddingProbes(token, mask)[i]); at < 1 || round > 0 && at != n {
					n = 0
					break
				}
				n = at
			}
			if n == 0 {
				continue
			}
			t.Refute(review.Finding{Case: "a padding oracle", Severity: review.Critical,
				Issue:    "a state with a valid padding is refused in another way than one with a wrong padding: a padding oracle, which decrypts and forges states",
				Evidence: fmt.Sprintf("of 16 changed bytes only that of a padding of %d bytes differs, %d times: %s", n+1, len(paddingMasks), evidence), Want: "one class", Got: "two"})
			return true
		}
	}
	return false
}

// differentRefusal returns the index of the only variant that is not refused like all others, or -1.
func differentRefusal(t *review.T, all []tokens.Variant) (at int, evidence string) {
	by := map[string][]int{}
	var answers []client.Answer
	for i, v := range all {
		a := t.Tried(t.Present(v.State()))
		if !a.Refused() {
			return -1, ""
		}
		by[a.Refusal()] = append(by[a.Refusal()], i)
		answers = append(answers, a)
	}
	if len(by) != 2 {
		return -1, ""
	}
	for _, same := range by {
		if len(same) == 1 {
			other := (same[0] + 1) % len(all)
			return same[0], fmt.Sprintf("%s -> %v; %s -> %v", all[same[0]].Name, answers[same[0]], all[other].Name, answers[other])
		}
	}
	return -1, ""
}
