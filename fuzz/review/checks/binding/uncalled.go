package binding

import (
	"encoding/json"
	"fmt"
	"slices"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// An askedTool is the first call of a tool, and its question.
type askedTool struct {
	flow     client.Flow
	question client.Answer
	known    bool // its tokens are reviewed anyway
}

// maxAsked is the number of tools between which declined states move.
const maxAsked = 6

// askedTools returns the tools whose tokens are reviewed and, with effects, further tools that say that they
// ask. The latter are called with the arguments of the former, and only declined.
func askedTools(t *review.T) (all []askedTool) {
	given := map[string]json.RawMessage{}
	for _, o := range t.Oracles {
		if o.Flow.Method == "tools/call" {
			all = append(all, askedTool{firstRound(o.Flow), o.Fresh, true})
			given = jsondoc.Members(jsondoc.Merged(jsondoc.Object(given), o.Flow.Arguments))
		}
	}
	for _, tool := range t.Report.Server.Tools {
		known := slices.ContainsFunc(all, func(a askedTool) bool { return a.flow.Target == tool.Name })
		if known || len(all) >= maxAsked || !t.Options.Effects || tool.Name == t.Options.Slow || review.EndsRights(tool) || !client.Mentions(tool.Name+" "+tool.Description, review.AskingWords) {
			continue
		}
		f := t.FlowOf(tool)
		for name, v := range jsondoc.InOrder(given) {
			if jsondoc.ParseSchema(tool.InputSchema()).Properties[name] != nil {
				f = f.WithArgument(name, v)
			}
		}
		if a := t.Call(f.Call(t.Oracle.User)); a.Kind == client.Asked && a.HasState() {
			f.Carrier = a.Carrier
			all = append(all, askedTool{f, a, false})
		}
	}
	return all
}

// firstRound returns the first call of a flow, without answers.
func firstRound(f client.Flow) client.Flow {
	f.Rounds, f.Last = nil, nil
	return f
}

// moveToUncalled moves tokens from and to tools that are not reviewed otherwise. It reports whether there are any.
func moveToUncalled(t *review.T) (tried bool) {
	all := askedTools(t)
	for _, one := range all {
		for _, two := range all {
			name := fmt.Sprintf("from %s to %s, declined", one.flow.Target, two.flow.Target)
			if one.known && two.known || one.flow.Target == two.flow.Target || client.AreTwins(one.flow.Offer, two.flow.Offer) ||
				one.question.QuestionTexts() == two.question.QuestionTexts() || !t.Selected(name) {
				continue
			}
			tried = true
			if evidence, is := takesOtherTool(t, one, two, all); is {
				t.Refute(review.Finding{Case: name, Severity: review.Critical, Issue: "a token of one tool is accepted by another",
					Evidence: evidence, Want: "refused", Got: "accepted", Flow: &one.flow})
				return true
			}
		}
	}
	return tried
}

// takesOtherTool reports whether a tool takes tokens of another one, with the same arguments: it asks on, and
// declines end the call. It must take its own tokens, and refuse garbage and a token of another call, both
// times.
func takesOtherTool(t *review.T, one, two askedTool, all []askedTool) (evidence string, is bool) {
	source, target := one.flow, two.flow
	if a, b, ok := withMergedArguments(t, source, target); ok {
		source, target = a, b
	}
	declines := declinesOf(one.question, two.question)
	for range 2 {
		asked, ended := presentDeclined(t, source, target, declines)
		if asked.Kind != client.Asked || ended.Kind != client.Completed {
			return "", false
		}
		if a, b := presentDeclined(t, target, target, declines); a.Kind != client.Asked || b.Kind != client.Completed || !refusesElsewhere(t, target, declines, all) {
			return "", false
		}
		evidence = fmt.Sprintf("token of %s %s: at %s without answers -> %v; declined there -> %v; garbage and tokens of other calls are refused", source, source.Arguments, target, asked, ended)
	}
	return evidence, true
}

// declinesOf returns declines of all questions of some rounds.
func declinesOf(rounds ...client.Answer) json.RawMessage {
	all := map[string]json.RawMessage{}
	for _, a := range rounds {
		for key := range a.Questions {
			all[key] = json.RawMessage(`{"action":"decline"}`)
		}
	}
	return jsondoc.Object(all)
}

// presentDeclined presents tokens of a source at a target: one without answers, and one with declines.
func presentDeclined(t *review.T, source, target client.Flow, declines json.RawMessage) (asked, ended client.Answer) {
	one, _, err := t.Client.Mint(t.Context, source, t.Oracle.User)
	two, _, also := t.Client.Mint(t.Context, source, t.Oracle.User)
	if err != nil || also != nil {
		return asked, ended
	}
	return t.Tried(t.PresentIn(target, jsondoc.Quote(one))), t.Tried(t.PresentIn(target.WithLast(declines), jsondoc.Quote(two)))
}

// refusesElsewhere reports whether a tool refuses garbage and a token of another call, also with declines.
func refusesElsewhere(t *review.T, target client.Flow, declines json.RawMessage, all []askedTool) bool {
	garbage := jsondoc.Quote(review.GarbageState)
	if !t.PresentIn(target, garbage).Refused() || !t.PresentIn(target.WithLast(declines), garbage).Refused() {
		return false
	}
	sources := []client.Flow{target.With(jsondoc.OtherArguments(target.Arguments, target.Offer.InputSchema()))}
	for _, a := range all {
		sources = append(sources, a.flow)
	}
	return slices.ContainsFunc(sources, func(source client.Flow) bool {
		asked, ended := presentDeclined(t, source, target, declines)
		return asked.Refused() && ended.Refused()
	})
}
