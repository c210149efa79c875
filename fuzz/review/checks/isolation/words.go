package isolation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// readOtherUsersWords gives words to calls as the first user and reads every listed resource as the
// second. It records a finding if a resource has a word.
func readOtherUsersWords(t *review.T) {
	resources := t.Report.Server.Resources
	for i, f := range t.Wordy() {
		label := "resources after " + f.String()
		if i == review.MaxTestedCalls || !t.Selected(label) {
			continue
		}
		word := t.Word()
		if a := t.Call(f.With(f.ArgumentsWith(word)).Call(client.FirstUser)); a.Kind != client.Asked {
			continue // the effects of a finished call may be public
		}
		for _, o := range resources[:min(len(resources), review.MaxTestedCalls)] {
			if a := t.Tried(t.Call(client.ReadResource(o.URI).By(client.SecondUser))); strings.Contains(string(a.Result), word) {
				t.Refute(review.Finding{Case: label, Severity: review.Warning,
					Issue:    fmt.Sprintf("%s reveals to a user the arguments of another user's call that waits for an answer", client.Short(o.URI, 80)),
					Evidence: fmt.Sprintf("the first user gave %s to %s; then, to the second: %s", word, f, review.ExchangeText(a)), Want: "no argument of another user", Got: "told"})
				return
			}
		}
	}
}

// A completedOffer is a prompt or a template with completions, and the call that uses values of its
// arguments.
type completedOffer struct {
	name      string
	ref       map[string]string
	arguments []string
	use       func(values map[string]string) client.Call
}

// withCompletions returns the prompts and templates that have arguments.
func withCompletions(t *review.T) []completedOffer {
	var all []completedOffer
	for _, p := range t.Report.Server.Prompts {
		var names []string
		for _, x := range p.Arguments {
			names = append(names, x.Name)
		}
		all = append(all, completedOffer{p.Name, client.PromptRef(p.Name), names, func(values map[string]string) client.Call {
			given, _ := t.PromptArguments(p)
			for name, value := range values {
				given = jsondoc.WithMember(given, name, jsondoc.Quote(value))
			}
			return client.Call{Method: "prompts/get", Target: p.Name, Arguments: given}
		}})
	}
	for _, x := range t.Report.Server.Templates {
		var names []string
		for _, parameter := range review.TemplateParameter.FindAllString(x.URI, -1) {
			names = append(names, strings.Trim(parameter, "{}+"))
		}
		all = append(all, completedOffer{x.URI, client.TemplateRef(x.URI), names, func(values map[string]string) client.Call {
			uri := review.TemplateParameter.ReplaceAllStringFunc(x.URI, func(parameter string) string { return values[strings.Trim(parameter, "{}+")] })
			return client.ReadResource(uri)
		}})
	}
	all = slices.DeleteFunc(all, func(o completedOffer) bool { return len(o.arguments) == 0 })
	return all[:min(len(all), review.MaxTestedCalls)]
}

// values returns the completions of an argument for a user, given values of other arguments.
func (o completedOffer) values(t *review.T, argument string, given map[string]string, as client.User) ([]string, client.Answer) {
	call := client.Complete(o.ref, argument, "").By(as)
	call.Context = given
	a := t.Tried(t.Call(call))
	return a.Completions(), a
}

// servesFirstAlone reports whether the server serves a call of the first user of a pair and refuses that
// of the second, twice.
func servesFirstAlone(t *review.T, call client.Call, pair [2]client.User) bool {
	for range 2 {
		if !t.Call(call.By(pair[0])).Succeeded() || !t.Call(call.By(pair[1])).Refused() {
			return false
		}
	}
	return true
}

// testOthersCompletions asks for completions as each user. It records a finding if one gets a value
// that only the other may use.
func testOthersCompletions(t *review.T) {
	if !t.Report.Server.Has("completions") || len(t.Options.Target.Second) == 0 {
		return
	}
	for _, o := range withCompletions(t) {
		for _, argument := range o.arguments {
			for _, pair := range review.UserPairs {
				if completesOthersValue(t, o, argument, pair) || completesInContext(t, o, argument, pair) {
					return
				}
			}
		}
	}
}

// completesOthersValue completes an argument as the second user of a pair. It records a finding if a
// value is for the first alone.
func completesOthersValue(t *review.T, o completedOffer, argument string, pair [2]client.User) bool {
	label := "completions of " + o.name + " " + argument
	if !t.Selected(label) || o.ref["uri"] != "" && len(o.arguments) > 1 {
		return false // a template of several parameters needs other values
	}
	values, a := o.values(t, argument, nil, pair[1])
	for _, v := range values[:min(len(values), review.MaxTestedCalls)] {
		if v != "" && servesFirstAlone(t, o.use(map[string]string{argument: v}), pair) {
			t.Fault(label, review.Warning, "completions give a user "+client.Short(v, 60)+", which only the other one may use", a)
			return true
		}
	}
	return false
}

// completesInContext completes the arguments beside one that has a value of the first user of a pair,
// as the second. It records a finding if a value is for the first alone, and is not completed beside
// an unknown value or none.
func completesInContext(t *review.T, o completedOffer, argument string, pair [2]client.User) bool {
	label := "completions of " + o.name + " beside " + argument
	if !t.Selected(label) || len(o.arguments) < 2 {
		return false
	}
	theirs, _ := o.values(t, argument, nil, pair[0])
	own, _ := o.values(t, argument, nil, pair[1])
	theirs = slices.DeleteFunc(theirs, func(v string) bool { return v == "" || slices.Contains(own, v) })
	for _, v := range theirs[:min(len(theirs), review.MaxTestedCalls)] {
		given := map[string]string{argument: v}
		for _, other := range slices.DeleteFunc(slices.Clone(o.arguments), func(name string) bool { return name == argument }) {
			told, a := o.values(t, other, given, pair[1])
			unknown := maps.Clone(given)
			unknown[argument] = t.Word()
			usual, _ := o.values(t, other, unknown, pair[1])
			plain, _ := o.values(t, other, nil, pair[1])
			for _, value := range told[:min(len(told), review.MaxTestedCalls)] {
				used := maps.Clone(given)
				if used[other] = value; value != "" && !slices.Contains(append(usual, plain...), value) && servesFirstAlone(t, o.use(used), pair) {
					t.Fault(label, review.Warning, fmt.Sprintf("beside a %s that only the other user has, completions give a user %s, which only the other one may use",
						client.Short(argument, 40), client.Short(value, 60)), a)
					return true
				}
			}
			if known, _ := o.values(t, other, given, pair[0]); len(known) > 0 {
				given[other] = known[0]
			}
		}
	}
	return false
}
