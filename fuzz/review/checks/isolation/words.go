package isolation

import (
	"fmt"
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
		if a := t.Call(f.With(jsondoc.WithText(f.Arguments, f.Offer.InputSchema(), word)).Call(client.FirstUser)); a.Kind != client.Asked {
			continue // the effects of a finished call may be public
		}
		for _, o := range resources[:min(len(resources), review.MaxTestedCalls)] {
			if a := t.Tried(t.Call(client.Call{Method: "resources/read", Target: o.URI, As: client.SecondUser})); strings.Contains(string(a.Result), word) {
				t.Refute(review.Finding{Case: label, Severity: review.Warning,
					Issue:    fmt.Sprintf("%s reveals to a user the arguments of another user's call that waits for an answer", client.Short(o.URI, 80)),
					Evidence: fmt.Sprintf("the first user gave %s to %s; then, to the second: %s", word, f, review.ExchangeText(a)), Want: "no argument of another user", Got: "told"})
				return
			}
		}
	}
}

// A completedArgument is an argument with completions and the call that uses its value.
type completedArgument struct {
	name, argument string
	ref            map[string]string
	use            func(value string) client.Call
}

// withCompletions returns the arguments of prompts and the parameters of templates.
func withCompletions(t *review.T) []completedArgument {
	var all []completedArgument
	for _, p := range t.Report.Server.Prompts {
		for _, x := range p.Arguments {
			all = append(all, completedArgument{p.Name + " " + x.Name, x.Name, map[string]string{"type": "ref/prompt", "name": p.Name}, func(value string) client.Call {
				given, _ := t.PromptArguments(p)
				return client.Call{Method: "prompts/get", Target: p.Name, Arguments: jsondoc.WithMember(given, x.Name, jsondoc.Quote(value))}
			}})
		}
	}
	for _, x := range t.Report.Server.Templates {
		parameters := review.TemplateParameter.FindAllString(x.URI, -1)
		if len(parameters) != 1 {
			continue // a template of several parameters needs other values
		}
		all = append(all, completedArgument{x.URI, strings.Trim(parameters[0], "{}+"), map[string]string{"type": "ref/resource", "uri": x.URI}, func(value string) client.Call {
			return client.Call{Method: "resources/read", Target: strings.Replace(x.URI, parameters[0], value, 1)}
		}})
	}
	return all[:min(len(all), review.MaxTestedCalls)]
}

// testOthersCompletions asks for completions as each user. It records a finding if one gets a value
// that only the other may use.
func testOthersCompletions(t *review.T) {
	if !t.Report.Server.Has("completions") || len(t.Options.Target.Second) == 0 {
		return
	}
	for _, c := range withCompletions(t) {
		label := "completions of " + c.name
		if !t.Selected(label) {
			continue
		}
		for _, pair := range userPairs {
			a, ok := t.Completion(pair[0], c.ref, c.argument, "")
			if !ok {
				return
			}
			values := a.Completions()
			for _, v := range values[:min(len(values), review.MaxTestedCalls)] {
				own, other := c.use(v), c.use(v)
				own.As, other.As = pair[0], pair[1]
				if v != "" && t.Tried(t.Call(own)).Refused() && t.Call(other).Kind == client.Completed && t.Call(own).Refused() {
					t.Fault(label, review.Warning, "completions give a user "+client.Short(v, 60)+", which only the other one may use", a)
					return
				}
			}
		}
	}
}
