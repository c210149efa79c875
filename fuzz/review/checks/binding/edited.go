package binding

import (
	"encoding/json"
	"fmt"
	"regexp"
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
