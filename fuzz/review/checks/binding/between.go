package binding

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// passingText matches the texts of tools that pass a text on which their question shows.
var passingText = regexp.MustCompile(`(?i)(?:\b|_)(approv|publish|send|sends|sent|sign|submit|releas|post|print|broadcast|announc|deploy)`)

// An editing is a tool that asks about a thing, and another tool that changes a text of that thing.
type editing struct {
	flow     client.Flow // that asks
	edit     client.Flow
	argument string      // the text
	editor   client.User // who changes it
}

// editBetween begins a call whose question shows a text, changes the text with another tool, and answers.
// It records a finding if the result shows the new text, which no question did, twice.
func editBetween(t *review.T) {
	for _, x := range editingsOf(t) {
		label := fmt.Sprintf("%s between the rounds of %s", x.edit.Target, x.flow.Target)
		if len(t.Findings) > 0 || !t.Selected(label) {
			continue
		}
		if evidence := x.replaced(t); evidence != "" && x.replaced(t) != "" {
			t.Refute(review.Finding{Case: label, Severity: review.Warning, Issue: "the question shows one text, and its answer is carried out on another one that came later",
				Evidence: evidence, Want: "a refusal, or a new question", Got: "carried out", Flow: &x.flow})
		}
	}
}

// editingsOf returns the flows that pass a text on, by the texts of their tools, with the tools that take
// a text beside arguments of these flows, as each user.
func editingsOf(t *review.T) []editing {
	var all []editing
	for _, o := range t.Oracles {
		f := o.Flow
		if !o.Completes() || f.Method != "tools/call" || !passingText.MatchString(f.Offer.About()) || !onlyChooses(t, o) {
			continue
		}
		for _, tool := range t.Changers() {
			arguments, text := editArguments(f, tool)
			if tool.Name == f.Target || text == "" {
				continue
			}
			for _, as := range client.BothUsers {
				if as == client.FirstUser || len(t.Options.Target.Second) > 0 {
					all = append(all, editing{f, t.FlowOf(tool).With(arguments), text, as})
				}
			}
		}
	}
	return all[:min(len(all), review.MaxTestedCalls)]
}

// onlyChooses reports whether the last question of a flow takes no text and no number, as one for a
// consent. A question for a new value may show the old one.
func onlyChooses(t *review.T, o *review.Oracle) bool {
	_, a, err := t.Client.Mint(t.Context, o.Flow, o.User)
	return err == nil && choosesOnly(a)
}

// choosesOnly reports whether a question takes no text and no number.
func choosesOnly(question client.Answer) bool {
	for _, q := range question.Questions {
		for _, s := range jsondoc.Fields(q.Form()) {
			if !s.Listed() && s.TypeOf() != "boolean" {
				return false
			}
		}
	}
	return true
}

// editArguments returns the required arguments of a tool, with the values that a flow has for them, and the
// name of the one that takes any text. That is "" if there is none, or if no other argument is shared.
func editArguments(f client.Flow, tool client.Offer) (arguments json.RawMessage, text string) {
	s, given, all := jsondoc.ParseSchema(tool.Input), jsondoc.Members(f.Arguments), jsondoc.Arguments{}
	for _, name := range s.Required {
		switch v := given[name]; {
		case v != nil && jsondoc.Fits(s.Properties[name], v):
			all[name] = v
		case text == "" && jsondoc.ParseSchema(s.Properties[name]).AnyText():
			text = name
		default:
			return nil, ""
		}
	}
	if len(all) == 0 {
		return nil, ""
	}
	return jsondoc.Object(all), text
}

// writes gives the thing a text.
func (x editing) writes(t *review.T, text string) bool {
	return t.Tried(t.Call(x.edit.WithArgument(x.argument, jsondoc.Quote(text)).Call(x.editor))).Kind == client.Completed
}

// replaced changes the text before and after the question. It returns evidence if the result has the new
// text alone, or "". The question must show the old one, as the result does without a change.
func (x editing) replaced(t *review.T) string {
	old, later := t.Word(), t.Word()
	if !x.writes(t, old) {
		return ""
	}
	if a := t.Tried(t.Walk(x.flow, client.FirstUser)); a.Kind != client.Completed || !strings.Contains(a.Text, old) {
		return ""
	}
	asked := t.Walk(x.flow.WithLast(nil), client.FirstUser)
	if asked.Kind != client.Asked || !strings.Contains(asked.ShownTexts(), old) || !x.writes(t, later) {
		return ""
	}
	a := t.Tried(t.Call(t.Client.Reply(x.flow.Call(client.FirstUser), asked, x.flow.Last)))
	if a.Kind != client.Completed || !strings.Contains(a.Text, later) || strings.Contains(a.Text, old) {
		return ""
	}
	return fmt.Sprintf("the question showed %s; then %s with %s; the call ended: %v", old, x.edit, later, a)
}

// addingText matches the names of tools that add things.
var addingText = regexp.MustCompile(`(?i)^(add|create|new|insert|import|append|put|register|save|upload)`)

// A series adds things with one tool, and calls a tool that asks about one of them.
type series struct {
	flow     client.Flow // that asks
	add      client.Flow
	argument string // that both have
}

// changeBetween adds things, begins a call about one of them, changes the others, and answers. It
// records a finding if the result names another thing in its place, twice, and names the right one if
// the same change came before the call. The state then holds a place in a list.
func changeBetween(t *review.T) {
	for _, x := range seriesOf(t) {
		label := fmt.Sprintf("%s between the rounds of %s", x.add.Target, x.flow.Target)
		for _, change := range []func(series, *review.T, things) bool{series.addLast, series.endFirst, series.endThird} {
			if len(t.Findings) > 0 || !t.Selected(label) {
				return
			}
			at := x.place(t, change)
			if at < 0 {
				continue
			}
			if evidence := x.misplaced(t, change, at); evidence != "" && x.misplaced(t, change, at) != "" {
				t.Refute(review.Finding{Case: label, Severity: review.Warning, Issue: "a call that a change interrupts is carried out on another thing than the one that it names",
					Evidence: evidence, Want: "the result of the call", Got: "that of another", Flow: &x.flow})
			}
		}
	}
}

// seriesOf returns the flows whose arguments include a text that a tool which adds things also takes.
func seriesOf(t *review.T) []series {
	var all []series
	for _, f := range t.Flows {
		for _, tool := range t.Changers() {
			g := t.FlowOf(tool)
			for _, name := range jsondoc.SortedKeys(jsondoc.Members(g.Arguments)) {
				x := series{f, g, name}
				if f.Method == "tools/call" && f.Last != nil && f.Target != tool.Name && addingText.MatchString(tool.Name) && jsondoc.Members(f.Arguments)[name] != nil && takesFreshText(f, name) && takesFreshText(g, name) {
					all = append(all, x)
				}
			}
		}
	}
	return all[:min(len(all), 3)]
}

// takesFreshText reports whether an argument of a flow takes a fresh text.
func takesFreshText(f client.Flow, name string) bool {
	return jsondoc.Fits(jsondoc.ParseSchema(f.Offer.InputSchema()).Properties[name], jsondoc.Quote("sealabsealabseal"))
}

// things are the names of four things of which the last does not exist at first.
type things [4]string

// begin adds three things. It returns the flow that asks about the second.
func (x series) begin(t *review.T) (things, client.Flow, bool) {
	var all things
	for i := range all {
		all[i] = t.Word()
		if i < 3 && !x.adds(t, all[i]) {
			return all, x.flow, false
		}
	}
	return all, x.flow.WithArgument(x.argument, jsondoc.Quote(all[1])), true
}

func (x series) adds(t *review.T, name string) bool {
	return t.Tried(t.Call(x.add.WithArgument(x.argument, jsondoc.Quote(name)).Call(client.FirstUser))).Kind == client.Completed
}

func (x series) ends(t *review.T, name string) bool {
	return t.Tried(t.Walk(x.flow.WithArgument(x.argument, jsondoc.Quote(name)), client.FirstUser)).Kind == client.Completed
}

func (x series) addLast(t *review.T, all things) bool  { return x.adds(t, all[3]) }
func (x series) endFirst(t *review.T, all things) bool { return x.ends(t, all[0]) }
func (x series) endThird(t *review.T, all things) bool { return x.ends(t, all[2]) }

// place returns the number of the word of a result that names the thing, if the change comes before the
// call, or -1. It is the same twice.
func (x series) place(t *review.T, change func(series, *review.T, things) bool) int {
	at := -1
	for i := range 2 {
		all, f, ok := x.begin(t)
		if !ok || !change(x, t, all) {
			return -1
		}
		a := t.Tried(t.Walk(f, client.FirstUser))
		now := slices.Index(client.Words(a.Text), all[1])
		if a.Kind != client.Completed || now < 0 || i > 0 && now != at {
			return -1
		}
		at = now
	}
	return at
}

// misplaced makes the change between the rounds. It returns evidence if the result names another thing at
// a place, or "".
func (x series) misplaced(t *review.T, change func(series, *review.T, things) bool, at int) string {
	all, f, ok := x.begin(t)
	if !ok {
		return ""
	}
	question := t.Walk(f.WithLast(nil), client.FirstUser)
	if question.Kind != client.Asked || !change(x, t, all) {
		return ""
	}
	a := t.Tried(t.Call(t.Client.Reply(f.Call(client.FirstUser), question, f.Last)))
	words := client.Words(a.Text)
	if a.Kind != client.Completed || at >= len(words) || words[at] == all[1] || !slices.Contains(all[:], words[at]) {
		return ""
	}
	return fmt.Sprintf("%s %s; then a change of others; the call ended: %v", f, f.Arguments, a)
}
