package inputs

import (
	"net/url"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// maxListed is the number of prompts and of resource templates that a check tests.
const maxListed = 3

// Prompts returns the texts in required arguments of prompts.
func Prompts(t *review.T) []Input {
	var all []Input
	for _, f := range t.Reads() {
		given := jsondoc.Members(f.Arguments)
		for _, name := range jsondoc.SortedKeys(given) {
			x := Argument(t, f, name)
			x.Given, _ = jsondoc.Text(given[name]) // our own value
			all = append(all, x)
		}
	}
	return all[:min(len(all), review.MaxTestedCalls)]
}

// Completions returns the beginnings in completions of prompts and resource templates.
func Completions(t *review.T) []Input {
	var all []Input
	s := t.Report.Server
	if !s.Has("completions") {
		return nil
	}
	add := func(target string, ref map[string]string, name string) {
		send := func(text string) client.Answer {
			return t.Tried(t.Call(client.Complete(ref, name, text)))
		}
		given := append(slices.DeleteFunc(send("").Completions(), func(v string) bool { return v == "" }), "probe")[0]
		all = append(all, Input{Name: "completion of " + name + " in " + target, Given: given, Send: send})
	}
	for _, p := range s.Prompts[:min(len(s.Prompts), maxListed)] {
		for _, a := range p.Arguments {
			add(p.Name, client.PromptRef(p.Name), a.Name)
		}
	}
	for _, x := range s.Templates[:min(len(s.Templates), maxListed)] {
		if name := review.ParameterOf(x.URI); name != "" {
			add(x.URI, client.TemplateRef(x.URI), name)
		}
	}
	return all[:min(len(all), review.MaxTestedCalls)]
}

// Templates returns the texts in place of the parameters of resource templates.
func Templates(t *review.T) []Input {
	var all []Input
	s := t.Report.Server
	for _, x := range s.Templates[:min(len(s.Templates), maxListed)] {
		given := "probe"
		before, _, _ := strings.Cut(x.URI, "{")
		for _, r := range s.Resources {
			if rest, ok := strings.CutPrefix(r.URI, before); ok && rest != "" {
				given, _ = url.PathUnescape(rest)
			}
		}
		all = append(all, Input{Name: x.URI, Given: given, Send: func(text string) client.Answer {
			uri := review.TemplateParameter.ReplaceAllLiteralString(x.URI, url.PathEscape(text))
			return t.Tried(t.Call(client.ReadResource(uri)))
		}})
	}
	return all
}
