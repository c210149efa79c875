package review

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"sealab/internal/rawmcp"
)

// reads are the checks of resources, prompts, completion and subscriptions.
var reads = []Check{
	{ID: "R-PATH", Name: "a resource outside", Severity: Critical, Category: "security", Sent: "file:///etc/passwd, and paths with .. of listed resources and templates in several spellings, and as the beginning of a completion", Want: "refused", Source: "CWE-22",
		Impact: "any file of the machine can be read", Fix: "resolve the path and compare it with the allowed roots", Run: traversal},
	{ID: "R-MISSING", Name: "an unknown resource", Severity: Warning, Category: "schema", Sent: "resources/read of an unknown URI", Want: "error -32602, never empty contents", Source: "revision 2026-07-28, server/resources",
		Impact: "a client takes a missing resource for an empty one", Fix: "answer -32602", Run: missingResource},
	{ID: "P-UNKNOWN", Name: "an unknown prompt", Severity: Suggestion, Category: "schema", Sent: "prompts/get of an unknown prompt", Want: "error -32602", Source: "revision 2026-07-28, server/prompts",
		Impact: "a client's mistake looks like a fault of the server", Fix: "answer -32602", Run: unknownPrompt},
	{ID: "C-COMP", Name: "completions", Severity: Warning, Category: "schema", Sent: "completion/complete for each argument of a prompt", Want: "at most 100 values, and no more than in total", Source: "revision 2026-07-28, server/utilities/completion",
		Impact: "clients refuse the result", Fix: "cut the list", Run: completions},
	{ID: "L-LISTEN", Name: "a subscription", Over: "http", Era: "modern", Severity: Warning, Category: "transport", Sent: "subscriptions/listen without a filter, and with one", Want: "error -32602; the notifications that the filter names", Source: "revision 2026-07-28, basic/patterns/subscriptions",
		Impact: "a stream is kept open that nobody reads", Fix: "require the filter", Run: listen},
}

// passwd recognizes the file /etc/passwd, whose first line is of root.
var passwd = regexp.MustCompile(`root:[^:\n]*:0:0:`)

// templateParameter is a parameter of a URI template (RFC 6570).
var templateParameter = regexp.MustCompile(`\{[^}]*\}`)

func traversal(t *T) {
	s := t.r.Report.Server
	if !s.has("resources") && len(s.Resources)+len(s.Templates) == 0 {
		t.skip("the server has no resources")
		return
	}
	uris := []string{"file:///etc/passwd", "file:///../../../../etc/passwd"}
	climb := "../../../../../../../../etc/passwd"
	for _, r := range s.Resources {
		if scheme, _, ok := strings.Cut(r.URI, "://"); ok && len(uris) < 12 {
			base := r.URI[:strings.LastIndexByte(r.URI, '/')+1]
			uris = append(uris, scheme+"://"+climb, base+climb, base+strings.ReplaceAll(climb, "/", "%2f"), base+strings.ReplaceAll(climb, "..", "%2e%2e"))
		}
	}
	for _, x := range s.Templates[:min(len(s.Templates), 4)] {
		for _, path := range climbs(climb) {
			uris = append(uris, templateParameter.ReplaceAllLiteralString(x.URI, path))
		}
	}
	for _, uri := range uris {
		a, ok := t.ask(uri, Call{Method: "resources/read", Target: uri})
		if !ok {
			return
		}
		if a.Kind == completed && passwd.Match(a.Result) {
			t.fault(uri, Critical, "a file outside of the resources is returned", a)
			return
		}
	}
	t.completedPaths()
}

// climbs are spellings of a path that filters of paths pass on.
func climbs(path string) []string {
	encoded := strings.NewReplacer("/", "%2F", ".", "%2e").Replace(path)
	return []string{path, strings.ReplaceAll(path, "/", "%2F"), "/etc/passwd", encoded, strings.ReplaceAll(encoded, "%", "%25"),
		strings.ReplaceAll(path, "../", "....//"), strings.ReplaceAll(path, "../", `..\`), "sealab/../" + path}
}

// completedPaths asks for the names of files outside as completions of a template.
func (t *T) completedPaths() {
	s := t.r.Report.Server
	if !s.has("completions") {
		return
	}
	for _, x := range s.Templates[:min(len(s.Templates), 4)] {
		parameter := strings.Trim(templateParameter.FindString(x.URI), "{}+#./;?&*")
		if parameter == "" {
			continue
		}
		for _, folder := range []string{"/etc/", "../../../../../../../../etc/"} {
			if t.completes(x.URI, parameter, folder, "passwd") && t.completes(x.URI, parameter, folder, "group") {
				t.refute(Finding{Case: x.URI, Severity: Critical, Issue: "completions name the files of " + folder, Evidence: fmt.Sprintf("%s of %s: %spassw is completed to passwd", parameter, short(x.URI, 100), folder), Want: "no values", Got: "files"})
				return
			}
		}
	}
}

// completes reports whether the beginning of a path is completed to the name of a file.
func (t *T) completes(uri, parameter, folder, name string) bool {
	a, ok := t.completion(first, map[string]string{"type": "ref/resource", "uri": uri}, parameter, folder+name[:len(name)-1])
	return ok && slices.ContainsFunc(completionValues(a), func(v string) bool { return v == name || strings.HasSuffix(v, "/"+name) })
}

// missingURI is of a resource that no server has.
const missingURI = "sealab-none://no-such-resource"

// notFound is the code of the older revisions for an unknown resource.
const notFound = -32002

func missingResource(t *T) {
	s := t.r.Report.Server
	if !s.has("resources") {
		t.skip("the server has no resources")
		return
	}
	uri := missingURI
	a, ok := t.ask(uri, Call{Method: "resources/read", Target: uri})
	switch {
	case !ok:
	case a.Kind == completed && string(members(a.Result)["contents"]) == "[]":
		t.fault(uri, Warning, "an unknown resource is answered by empty contents", a)
	case a.Kind == failed && a.Code != -32602 && (t.r.modern() || a.Code != notFound):
		t.fault(uri, Suggestion, fmt.Sprintf("an unknown resource is refused with %d", a.Code), a)
	}
}

// noSuchPrompt is the name of a prompt that no server has.
const noSuchPrompt = "sealab-no-such-prompt"

func unknownPrompt(t *T) {
	if !t.r.Report.Server.has("prompts") {
		t.skip("the server has no prompts")
		return
	}
	if a, ok := t.ask("unknown", Call{Method: "prompts/get", Target: noSuchPrompt}); ok && (a.Kind != failed || a.Code != -32602) {
		t.fault("unknown", Suggestion, "an unknown prompt is not refused with -32602", a)
	}
}

func completions(t *T) {
	s := t.r.Report.Server
	if !s.has("completions") {
		t.skip("the server does not declare completions")
		return
	}
	for _, p := range s.Prompts {
		for _, argument := range p.Arguments {
			a, ok := t.completion(first, map[string]string{"type": "ref/prompt", "name": p.Name}, argument.Name, "")
			switch n, total := len(completionValues(a)), completionTotal(a); {
			case !ok:
				return
			case a.Kind == failed && a.Code == -32601:
				t.fault(p.Name+" "+argument.Name, Warning, "completions are declared, and completion/complete is unknown", a)
				return
			case n > total:
				t.fault(p.Name+" "+argument.Name, Warning, fmt.Sprintf("%d values of %d in total", n, total), a)
			case n > 100:
				t.fault(p.Name+" "+argument.Name, Suggestion, fmt.Sprintf("%d values", n), a)
			}
		}
	}
	if t.trials == 0 {
		t.skip("no prompt has arguments")
	}
}

// completionValues are the values of a completion.
func completionValues(a Answer) []string {
	var r struct {
		Completion struct{ Values []string }
	}
	_ = json.Unmarshal(a.Result, &r) // another form has none
	return r.Completion.Values
}

// completionTotal is the number of values that a completion names; if it names none, no
// number is too small.
func completionTotal(a Answer) int {
	var total float64
	if raw := members(members(a.Result)["completion"])["total"]; raw == nil || json.Unmarshal(raw, &total) != nil {
		return math.MaxInt
	}
	return int(total)
}

// completion asks as a user for the values of an argument that begins with a text.
func (t *T) completion(as user, ref map[string]string, argument, begun string) (Answer, bool) {
	a := t.r.client.call(t.ctx, Call{Method: "completion/complete", Ref: ref, Argument: map[string]string{"name": argument, "value": begun}, as: as})
	if !a.conclusive() {
		t.skip("%v", a)
		return a, false
	}
	t.seen(variant{name: ref["type"] + " " + argument}, a)
	return a, true
}

func listen(t *T) {
	t.cases(wireCase{name: "no filter", call: Call{Method: "subscriptions/listen"}, alter: func(w *wire) { w.start = true }, judge: func(a Answer) (Severity, string) {
		switch {
		case a.Kind == failed && (a.Code == -32602 || a.Code == -32601):
			return "", ""
		case a.Exchange != nil && a.Exchange.Stream:
			return Suggestion, "a stream is opened"
		}
		return "", ""
	}})
	if len(t.findings) == 0 {
		t.unfiltered()
	}
}

// unfiltered subscribes to changes of the list of tools alone and reads for a short time.
func (t *T) unfiltered() {
	c := t.r.client
	call := Call{Method: "subscriptions/listen"}
	c.id++
	body, err := json.Marshal(message{"2.0", c.id, call.Method, map[string]any{"_meta": call.meta(), "notifications": map[string]bool{"toolsListChanged": true}}})
	if err != nil {
		t.skip("%v", err)
		return
	}
	http := *c.http
	http.Limits.Time = min(http.Limits.Time, listening, t.r.opts.Hang)
	e := http.Do(t.ctx, rawmcp.Request{Verb: "POST", Path: http.Path(), Headers: c.callHeaders(t.ctx, call), Body: body, Done: isAnswer(c.id)})
	t.trials++
	for _, m := range e.Messages {
		var method string
		_ = json.Unmarshal(members(m)["method"], &method) // a response has none
		switch method {
		case "", "notifications/subscriptions/acknowledged", "notifications/tools/list_changed", "notifications/cancelled":
		default:
			t.refute(Finding{Case: "another notification", Severity: Warning, Issue: "a subscription to the list of tools gives " + short(method, 60), Evidence: short(string(body), 300) + " -> " + short(string(m), 300), Want: "notifications that the filter names", Got: method})
			return
		}
	}
}
