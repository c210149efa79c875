package offers

import (
	"encoding/json"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/inputs"
	"sealab/fuzz/review/jsondoc"
	"sealab/internal/rawmcp"
)

// resourceChecks are the checks of resources, prompts, completion and subscriptions.
var resourceChecks = []review.Check{
	{
		ID: "R-PATH", Name: "a file outside the resources", Severity: review.Critical, Category: "security",
		Sent: "resources/read of file:///etc/passwd, and of paths with .. in several encodings below listed " +
			"resources and in templates; files with the extension of a listed resource that many machines or " +
			"projects have, by such paths; completion/complete of the beginnings of such paths",
		Want:   "refuses the URI; completes no such path",
		Source: "CWE-22",
		Impact: "a client reads any file of the machine",
		Fix:    "resolve the path, and compare it with the allowed folders",
		Run:    checkTraversal,
	},
	{
		ID: "R-MISSING", Name: "an unknown resource", Severity: review.Warning, Category: "schema",
		Sent:   "resources/read of an unknown URI",
		Want:   "answers error -32602; never returns empty contents",
		Source: "revision 2026-07-28, server/resources",
		Impact: "a client takes a missing resource for an empty one",
		Fix:    "answer -32602",
		Run:    checkMissingResource,
	},
	{
		ID: "P-UNKNOWN", Name: "an unknown prompt", Severity: review.Suggestion, Category: "schema",
		Sent:   "prompts/get of an unknown prompt",
		Want:   "answers error -32602",
		Source: "revision 2026-07-28, server/prompts",
		Impact: "a mistake of a client looks like a failure of the server",
		Fix:    "answer -32602",
		Run:    checkUnknownPrompt,
	},
	{
		ID: "C-COMP", Name: "invalid completions", Severity: review.Warning, Category: "schema",
		Sent:   "completion/complete for each argument of each prompt, and for each parameter of each template",
		Want:   "returns at most 100 values, and no more than total says",
		Source: "revision 2026-07-28, server/utilities/completion",
		Impact: "clients refuse the result",
		Fix:    "shorten the list to 100 values, and state the total",
		Run:    checkCompletions,
	},
	{
		ID: "L-LISTEN", Name: "a subscription without or beyond its filter", Over: "http", Era: "modern", Severity: review.Warning, Category: "transport",
		Sent:   "subscriptions/listen without a filter; the same with a filter for changes of the list of tools",
		Want:   "answers error -32602 to the former; sends only notifications that the filter names to the latter",
		Source: "revision 2026-07-28, basic/patterns/subscriptions",
		Impact: "the server keeps a stream open that no client reads, or sends notifications that the client did not " +
			"request",
		Fix: "require the filter, and apply it",
		Run: checkSubscription,
	},
}

func checkTraversal(t *review.T) {
	s := t.Report.Server
	if !s.Has("resources") && len(s.Resources)+len(s.Templates) == 0 {
		t.Skip("the server has no resources")
		return
	}
	uris := []string{"file:///etc/passwd", "file:///../../../../etc/passwd"}
	climb := inputs.ClimbingPath
	for _, r := range s.Resources {
		if scheme, _, ok := strings.Cut(r.URI, "://"); ok && len(uris) < 12 {
			base := r.URI[:strings.LastIndexByte(r.URI, '/')+1]
			uris = append(uris, scheme+"://"+climb, base+climb, base+strings.ReplaceAll(climb, "/", "%2f"), base+strings.ReplaceAll(climb, "..", "%2e%2e"))
		}
	}
	for _, x := range s.Templates[:min(len(s.Templates), 4)] {
		for _, path := range inputs.PathSpellings(climb) {
			uris = append(uris, review.TemplateParameter.ReplaceAllLiteralString(x.URI, path))
		}
	}
	for _, uri := range uris {
		a, ok := t.Ask(uri, client.ReadResource(uri))
		if !ok {
			return
		}
		if a.Kind == client.Completed && inputs.PasswdLine.Match(a.Result) {
			t.Fault(uri, review.Critical, "a file outside of the resources is returned", a)
			return
		}
	}
	if !readsOutsideFile(t) {
		completeOutsidePaths(t)
	}
}

// readsOutsideFile reports whether a path that climbs from the folder of a listed resource gives another
// file with its extension.
func readsOutsideFile(t *review.T) bool {
	tested := map[string]bool{}
	for _, r := range t.Report.Server.Resources {
		base, extension := r.URI[:strings.LastIndexByte(r.URI, '/')+1], path.Ext(r.URI)
		if extension == "" || tested[extension] {
			continue
		}
		tested[extension] = true
		var a client.Answer
		outside := inputs.OutsideFile(extension, func(path string) bool {
			a, _ = t.Ask(base+path, client.ReadResource(base+path))
			return a.Kind == client.Completed
		})
		if outside != "" {
			t.Fault(base+outside, review.Critical, "a file outside of the resources is returned", a)
			return true
		}
	}
	return false
}

// completeOutsidePaths asks for names of outside files as completions of a template.
func completeOutsidePaths(t *review.T) {
	s := t.Report.Server
	if !s.Has("completions") {
		return
	}
	for _, x := range s.Templates[:min(len(s.Templates), 4)] {
		parameter := review.ParameterOf(x.URI)
		if parameter == "" {
			continue
		}
		for _, folder := range []string{"/etc/", "../../../../../../../../etc/"} {
			if completesName(t, x.URI, parameter, folder, "passwd") && completesName(t, x.URI, parameter, folder, "group") {
				t.Refute(review.Finding{Case: x.URI, Severity: review.Critical, Issue: "completions name the files of " + folder,
					Evidence: fmt.Sprintf("%s of %s: %spassw is completed to passwd", parameter, client.Short(x.URI, 100), folder), Want: "no values", Got: "files"})
				return
			}
		}
	}
}

// completesName reports whether the beginning of a path is completed to the name of a file.
func completesName(t *review.T, uri, parameter, folder, name string) bool {
	a, ok := t.Completion(client.FirstUser, client.TemplateRef(uri), parameter, folder+name[:len(name)-1])
	return ok && slices.ContainsFunc(a.Completions(), func(v string) bool { return v == name || strings.HasSuffix(v, "/"+name) })
}

// resourceNotFoundCode is the code of older revisions for an unknown resource.
const resourceNotFoundCode = -32002

func checkMissingResource(t *review.T) {
	if s := t.Report.Server; !s.Has("resources") {
		t.Skip("the server has no resources")
		return
	}
	uri := client.MissingURI
	a, ok := t.Ask(uri, client.ReadResource(uri))
	switch {
	case !ok:
	case a.Kind == client.Completed && string(jsondoc.Members(a.Result)["contents"]) == "[]":
		t.Fault(uri, review.Warning, "an unknown resource is answered by empty contents", a)
	case a.Kind == client.Failed && a.Code != -32602 && (t.Modern() || a.Code != resourceNotFoundCode):
		t.Fault(uri, review.Suggestion, fmt.Sprintf("an unknown resource is refused with %d", a.Code), a)
	}
}

func checkUnknownPrompt(t *review.T) {
	if !t.Report.Server.Has("prompts") {
		t.Skip("the server has no prompts")
		return
	}
	if a, ok := t.Ask("unknown", client.Call{Method: "prompts/get", Target: client.NoSuchPrompt}); ok && (a.Kind != client.Failed || a.Code != -32602) {
		t.Fault("unknown", review.Suggestion, "an unknown prompt is not refused with -32602", a)
	}
}

func checkCompletions(t *review.T) {
	s := t.Report.Server
	if !s.Has("completions") {
		t.Skip("the server does not declare completions")
		return
	}
	for _, p := range s.Prompts {
		for _, argument := range p.Arguments {
			if !isCompleted(t, p.Name, client.PromptRef(p.Name), argument.Name) {
				return
			}
		}
	}
	for _, x := range s.Templates {
		for _, parameter := range review.TemplateParameter.FindAllString(x.URI, -1) {
			if !isCompleted(t, x.URI, client.TemplateRef(x.URI), strings.Trim(parameter, "{}+")) {
				return
			}
		}
	}
	t.SkipUntried("no prompt has arguments, and no template has parameters")
}

// maxCompletions is the number of values that a completion may have. Clients of the TypeScript SDK refuse
// a result with more.
const maxCompletions = 100

// isCompleted asks for the values of an argument, and records a finding if they are invalid. It reports
// whether the check goes on.
func isCompleted(t *review.T, offer string, ref map[string]string, argument string) bool {
	a, ok := t.Completion(client.FirstUser, ref, argument, "")
	label := offer + " " + argument
	switch n, total := len(a.Completions()), completionTotal(a); {
	case !ok:
		return false
	case a.Kind == client.Failed && a.Code == -32601:
		t.Fault(label, review.Warning, "completions are declared, and completion/complete is unknown", a)
		return false
	case n > total:
		t.Fault(label, review.Warning, fmt.Sprintf("%d values of %d in total", n, total), a)
	case n > maxCompletions:
		t.Fault(label, review.Warning, fmt.Sprintf("%d values, want at most %d", n, maxCompletions), a)
	}
	return true
}

// completionTotal returns the total number of values that a completion states, or math.MaxInt if it
// states none.
func completionTotal(a client.Answer) int {
	var total float64
	if raw := jsondoc.At(a.Result, "completion", "total"); raw == nil || json.Unmarshal(raw, &total) != nil {
		return math.MaxInt
	}
	return int(total)
}

func checkSubscription(t *review.T) {
	t.Cases(review.Case{Name: "no filter", Call: client.Listen, Alter: func(w *client.Request) { w.Start = true }, Judge: func(a client.Answer) (review.Severity, string) {
		switch {
		case a.Kind == client.Failed && (a.Code == -32602 || a.Code == -32601):
			return "", ""
		case a.Exchange != nil && a.Exchange.Stream:
			return review.Suggestion, "a stream is opened"
		}
		return "", ""
	}})
	if len(t.Findings) == 0 {
		testSubscriptionFilter(t)
	}
}

// testSubscriptionFilter subscribes only to changes of the list of tools and reads for a short
// time.
func testSubscriptionFilter(t *review.T) {
	c := t.Client
	body, err := c.ListenBody(map[string]bool{"toolsListChanged": true})
	if t.SkipOn(err) {
		return
	}
	http := *c.HTTP
	http.Limits.Time = min(http.Limits.Time, client.ListenFor, t.Options.Hang)
	e := http.Do(t.Context, rawmcp.Request{Verb: "POST", Path: http.Path(), Headers: c.Headers(t.Context, client.Listen), Body: body, Done: client.IsAnswer(c.ID)})
	t.Trials++
	for _, m := range e.Messages {
		method, _ := jsondoc.Text(jsondoc.Members(m)["method"]) // a response has no method
		switch method {
		case "", "notifications/subscriptions/acknowledged", "notifications/tools/list_changed", "notifications/cancelled":
		default:
			t.Refute(review.Finding{Case: "another notification", Severity: review.Warning,
				Issue:    "a subscription to the list of tools gives " + client.Short(method, 60),
				Evidence: client.Short(string(body), 300) + " -> " + client.Short(string(m), 300), Want: "notifications that the filter names", Got: method})
			return
		}
	}
}
