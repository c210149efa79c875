package review

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// maxFilled is the number of resource templates that are filled, and maxFillings that of the values tried for each.
const (
	maxFilled   = 4
	maxFillings = 6
)

// fill reads resources by the templates of the server with values that are known for their parameters: those of
// arguments of the same name, completions, the user's name, and usual ones. Up to two for each template that the
// server gives, or asks about, count as reads.
func (r *Review) fill(ctx context.Context) {
	templates := r.Report.Server.Templates
	for _, x := range templates[:min(len(templates), maxFilled)] {
		given := 0
		for _, uri := range r.filled(ctx, x) {
			f := client.Flow{Method: "resources/read", Target: uri, Offer: client.Offer{URI: uri, Name: x.Name, Description: x.Description}}
			if a := r.Client.Call(ctx, f.Call(client.FirstUser)); a.Kind != client.Completed && a.Kind != client.Asked {
				continue
			}
			r.filledReads = append(r.filledReads, f)
			if given++; given == 2 {
				break
			}
		}
	}
}

// filled returns URIs by a template.
func (r *Review) filled(ctx context.Context, x Template) (all []string) {
	values := map[string][]json.RawMessage{}
	for i := range maxFillings {
		uri := TemplateParameter.ReplaceAllStringFunc(x.URI, func(parameter string) string {
			name := ParameterOf(parameter)
			if values[name] == nil {
				values[name] = r.fillings(ctx, x, name)
			}
			text, _ := jsondoc.Text(values[name][min(i, len(values[name])-1)])
			return url.PathEscape(text)
		})
		if !slices.Contains(all, uri) {
			all = append(all, uri)
		}
	}
	return all
}

// fillings returns values for a parameter of a template, the last of which is a usual text.
func (r *Review) fillings(ctx context.Context, x Template, name string) []json.RawMessage {
	r.recordDescribed(name, x.Description, x.Description)
	if r.Report.Server.Has("completions") {
		for _, text := range r.Client.Call(ctx, client.Complete(client.TemplateRef(x.URI), name, "")).Completions() {
			r.record(name, jsondoc.Quote(text))
		}
	}
	if user := client.NameOf(r.Options.Target, client.FirstUser); userName.MatchString(name) {
		r.record(name, jsondoc.Quote(user))
	}
	return append(slices.Clone(r.values[name]), textsFor(name)...)
}

// ParameterOf returns the name of the first parameter of a URI template, or "".
func ParameterOf(template string) string {
	return strings.Trim(TemplateParameter.FindString(template), "{}+#./;?&*")
}
