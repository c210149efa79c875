package forgery

import (
	"fmt"
	"regexp"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
)

// A pairText is a readable state of name=value pairs.
type pairText struct {
	separator string
	names     []string
	numbers   map[string]bool // the names whose value is a number
	write     func(change func(string) string) string
}

var (
	pairName   = regexp.MustCompile(`^\s*([A-Za-z_][\w.-]*)=(.*)$`)
	pairNumber = regexp.MustCompile(`^-?\d+(\.\d+)?$`)
)

// maxPairs is the number of names of a state that are tried.
const maxPairs = 12

// pairNumberMark is a number that honest answers do not have.
const pairNumberMark = "48151"

// pairsOf returns the pairs of a token that consists of two of them at least, as it is or in base64.
func pairsOf(token string) (pairText, bool) {
	if p, ok := splitPairs(token); ok {
		p.write = func(change func(string) string) string { return change(token) }
		return p, true
	}
	all := tokens.Segments(token)
	if len(all) != 1 || len(tokens.CodedSegments(all)) != 1 {
		return pairText{}, false
	}
	p, ok := splitPairs(string(all[0].Raw()))
	p.write = func(change func(string) string) string { return all[0].Write([]byte(change(string(all[0].Raw())))) }
	return p, ok
}

// splitPairs splits a text at the separators of pairs.
func splitPairs(text string) (pairText, bool) {
	for _, separator := range []string{"&", ";"} {
		p := pairText{separator: separator, numbers: map[string]bool{}}
		for _, part := range strings.Split(text, separator) {
			m := pairName.FindStringSubmatch(part)
			if m == nil || len(p.names) == maxPairs {
				continue
			}
			p.names, p.numbers[m[1]] = append(p.names, m[1]), pairNumber.MatchString(m[2])
		}
		if len(p.names) > 1 {
			return p, true
		}
	}
	return pairText{}, false
}

// presentPairs presents states of name=value pairs with one more pair behind them or in front of them,
// whose name the state has already. It records a finding if the value of the added pair counts: it comes
// back in the next text or state, twice, and does not under a name that the state lacks. A server that
// ignores the pair accepts only another spelling of its state.
func presentPairs(t *review.T) {
	if t.Oracle.Presence || len(t.Findings) > 0 {
		return
	}
	t.ForEachFlow(func(o *review.Oracle) {
		for _, f := range o.Flow.Stages() {
			token, _, err := t.Client.Mint(t.Context, f, o.User)
			if err != nil {
				continue
			}
			p, _ := pairsOf(token)
			for _, name := range p.names {
				if presentPair(t, f, o.User, name, p.numbers[name], false) || presentPair(t, f, o.User, name, p.numbers[name], true) {
					return
				}
			}
		}
	})
}

// presentPair adds one pair, and reports whether its value counts.
func presentPair(t *review.T, f client.Flow, as client.User, name string, number, front bool) bool {
	place, mark := "at the end", pairNumberMark
	if front {
		place = "in front"
	}
	if !number {
		mark = t.Word()
	}
	label := fmt.Sprintf("a second %s %s of the state of round %d of %s", name, place, len(f.Rounds)+1, f.Target)
	if !t.Selected(label) {
		return false
	}
	shows := func(name string) (shown bool, state string, a client.Answer) {
		token, _, err := t.Client.Mint(t.Context, f, as)
		p, ok := pairsOf(token)
		if err != nil || !ok {
			return false, "", client.Answer{}
		}
		state = p.write(func(text string) string {
			if front {
				return name + "=" + mark + p.separator + text
			}
			return text + p.separator + name + "=" + mark
		})
		a = t.Tried(t.Client.Present(t.Context, f, jsondoc.Quote(state), as))
		return showsMark(a, mark), state, a
	}
	shown, state, a := shows(name)
	if !shown {
		return false
	}
	if other, _, control := shows("sealab_" + name); other || !control.Conclusive() {
		return false
	}
	if again, _, _ := shows(name); !again {
		return false
	}
	t.Refute(review.Finding{Case: label, Severity: review.Critical, Issue: "a pair that is added to a signed state replaces the value of " + client.Short(name, 40),
		Evidence: fmt.Sprintf("%s -> %v %s; the same value under another name is not shown", client.Short(state, 300), a, client.Short(a.ShownTexts(), 160)),
		Want:     "refused", Got: a.Class(), Flow: &f})
	return true
}

// showsMark reports whether a flow goes on with a mark in a text or in the next state.
func showsMark(a client.Answer, mark string) bool {
	if a.Kind != client.Asked && a.Kind != client.Completed {
		return false
	}
	text := a.ShownTexts()
	if a.Kind == client.Asked && a.State != nil {
		text += "\n" + tokens.Readable(*a.State)
	}
	return client.ShowsValue(text, mark)
}

// presentAdded presents readable states with one more member of a known name. It records a finding if the answer
// shows its value, twice. A reader may ignore members that are not verified.
func presentAdded(t *review.T) {
	if len(t.Findings) > 0 {
		return
	}
	t.ForEachFlow(func(o *review.Oracle) {
		token, _ := t.Mint() // "" has no members
		for _, v := range tokens.Added(token, "73019") {
			if !t.Selected(v.Name) {
				continue
			}
			first, shown := showsMember(t, v.Name, "73019")
			if !shown {
				continue
			}
			if second, again := showsMember(t, v.Name, "84027"); again {
				t.Refute(review.Finding{Case: v.Name, Severity: review.Critical, Flow: &o.Flow, Issue: "a member that is added to a state, under a name that it has, changes the call",
					Evidence: fmt.Sprintf("%s: %v; with another value: %v", v.Name, first, second), Want: "refused or ignored", Got: "accepted"})
				return
			}
		}
	})
}

// showsMember presents a fresh state with a member that has some digits. It reports whether the answer shows these,
// and not the usual answer.
func showsMember(t *review.T, name, digits string) (a client.Answer, shown bool) {
	token, reason := t.Mint()
	if reason != "" {
		return a, false
	}
	for _, v := range tokens.Added(token, digits) {
		if v.Name == name {
			a = t.Tried(t.PresentText(v.Text))
		}
	}
	return a, !a.Refused() && strings.Contains(a.ShownTexts(), digits) && !strings.Contains(t.Oracle.Good.ShownTexts(), digits)
}

// memberForms are the forms of the members of a state that a server may join without escapes, with the name for
// %s.
var memberForms = []string{"&%s=1", ";%s=1", "|%s=1", ",%s=1", "\n%s=1", "\n%s: 1", `","%s":"1`}

// memberNames are usual names of members that a server verifies.
var memberNames = []string{"exp", "expires", "sub", "user", "bind", "tool", "step"}

// presentInjected gives texts that hold the members of a state to calls with questions. It records a finding if
// the state after the text is refused, and that after a text with members of other names is not, twice.
func presentInjected(t *review.T) {
	const name = "members in a text"
	if len(t.Findings) > 0 || !t.Selected(name) {
		return
	}
	for _, o := range t.Oracles {
		for _, p := range textPlaces(t, o) {
			for _, form := range memberForms {
				if evidence := injects(t, o, p, form); evidence != "" {
					t.Refute(review.Finding{Case: name, Severity: review.Critical, Flow: &o.Flow, Issue: "the state holds a text without escapes, which can add members such as a user or a time to it",
						Evidence: evidence, Want: "accepted", Got: "refused"})
					return
				}
			}
		}
	}
}

// membersText returns a text with members of usual names, or, of the same length, of others.
func membersText(form string, others bool) string {
	text := "probe"
	for i, name := range memberNames {
		if others {
			name = strings.Repeat("z", len(name)-1) + string(rune('a'+i))
		}
		text += fmt.Sprintf(form, name)
	}
	return text
}

// injects reports how the members of a text in a place of a flow are read from its state, or "".
func injects(t *review.T, o *review.Oracle, p textPlace, form string) (evidence string) {
	for range 2 {
		accepted, _ := presentText(t, o, p, membersText(form, true))
		judged, refused := presentText(t, o, p, membersText(form, false))
		t.Trials++
		if !accepted.Conclusive() || accepted.Refused() || o.Verdict(accepted) != review.Accepted || !refused {
			return ""
		}
		evidence = fmt.Sprintf("text %q: %v; text %q: %v", membersText(form, true), accepted, membersText(form, false), judged)
	}
	return evidence
}

// presentText walks a flow with a text in a place to its end. It reports whether a state after the text is
// refused.
func presentText(t *review.T, o *review.Oracle, p textPlace, text string) (a client.Answer, refused bool) {
	f, ok := p.with(text)
	if !ok {
		return a, false
	}
	stage := f
	stage.Rounds, stage.Last = f.Rounds[:p.after], nil
	_, question, err := t.Client.Mint(t.Context, stage, o.User)
	if err != nil {
		return a, false // the text itself is refused
	}
	a, _ = t.Client.Continue(t.Context, f.Call(o.User), question, f.Answers()[p.after:])
	return a, a.Refused()
}
