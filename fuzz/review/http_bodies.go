package review

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sealab/internal/rawmcp"
)

// bodies are the checks of JSON-RPC over HTTP in revision 2026-07-28.
var bodies = []Check{
	{ID: "H-UNKNOWN", Name: "an unknown method", Era: "modern", Severity: Warning, Category: "transport",
		Sent: "sealab/none, and over HTTP a method with a tag of HTML, and methods of older revisions: ping, logging/setLevel, resources/subscribe, tasks/list", Want: "error -32601, over HTTP with status 404, and no page with the tag", Source: transportSpec,
		Impact: "a client takes a method for supported, or a page runs what stands in its request", Fix: "answer -32601 with status 404", Run: unknownMethods},
	{ID: "H-BATCH", Name: "several requests in one body", Over: "http", Era: "modern", Severity: Warning, Category: "transport",
		Sent: "arrays of one request and of two, of two notifications, an empty array", Want: "refused", Source: transportSpec, Impact: "headers describe one request and others come with it", Fix: "refuse arrays", Run: batches},
	{ID: "H-JSON", Name: "a body that is no request", Over: "http", Era: "modern", Severity: Warning, Category: "reliability",
		Sent: "no JSON, nothing, a number, null, a byte order mark, invalid UTF-8, 10,000 nested arrays", Want: "a JSON-RPC error -32700 or -32600, and the server goes on to answer", Source: "JSON-RPC 2.0, section 5.1",
		Impact: "one request stops the server, or a client cannot read the error", Fix: "answer every body by a JSON-RPC error", Run: noJSON},
	{ID: "H-PARAMS", Name: "params of another type", Era: "modern", Severity: Warning, Category: "schema",
		Sent: "params as an array, in an array, and null; over HTTP arguments as a text and null, no name, a name that is a number", Want: "refused with -32602 or -32600", Source: "revision 2026-07-28, schema",
		Impact: "a client's mistake is answered by an error that names another cause", Fix: "validate params before the request is handled", Run: wrongParams},
	{ID: "H-ID", Name: "an id that is none", Over: "http", Era: "modern", Severity: Suggestion, Category: "schema",
		Sent: "null, 1.5, an object; texts, of digits, of 127 characters and with the end of a line, and a number beyond 32 bits", Want: "an error; an answer with the same id", Source: "revision 2026-07-28, basic", Impact: "a request is taken for a notification, or its answer is lost", Fix: "take strings and integers alone", Run: wrongIDs},
	{ID: "H-202", Name: "the answer to a notification", Over: "http", Era: "modern", Severity: Warning, Category: "transport",
		Sent: "notifications/cancelled of an unknown request; tools/list, a call of an unknown tool and one that asks, without an id", Want: "status 202 without a body, or an error status", Source: transportSpec, Impact: "clients wait for what does not come", Fix: "answer 202 without a body", Run: notification},
	{ID: "A-401", Name: "requests without credentials", Over: "http", Severity: Warning, Category: "security",
		Sent: "a request with no credentials and one with made-up ones", Want: "status 401 with WWW-Authenticate, without the credential of the request", Source: "revision 2026-07-28, basic/authorization; RFC 9110, section 15.5.2; CWE-209, CWE-532",
		Impact: "whoever reaches the server uses its tools; expired credentials stand in logs of errors", Fix: "require credentials on every request, and refuse by a fixed text", Run: unauthorized},
}

func unknownMethods(t *T) {
	if t.r.client.http == nil {
		t.unknownLine()
		return
	}
	var all []wireCase
	for _, m := range []string{"sealab/none", "ping", "logging/setLevel", "resources/subscribe", "tasks/list"} {
		all = append(all, wireCase{name: m, call: Call{Method: m}, alter: func(*wire) {}, judge: func(a Answer) (Severity, string) {
			severity, issue := wantCode(Warning, Warning, -32601)(a)
			if issue == "" && a.Status != 404 {
				return Suggestion, fmt.Sprintf("refused with status %d instead of 404", a.Status)
			}
			return severity, issue
		}})
	}
	all = append(all, wireCase{name: "a tag of HTML", call: Call{Method: "sealab/<sealab>"}, alter: func(*wire) {}, judge: func(a Answer) (Severity, string) {
		if a.Exchange != nil && isPage(a.Exchange, "<sealab>") {
			return Warning, "a page repeats the method as HTML"
		}
		return "", ""
	}})
	t.cases(all...)
}

// unknownLine calls an unknown method over standard streams. Other codes are no fault of it.
func (t *T) unknownLine() {
	p := t.processWithin(silence)
	if p == nil {
		return
	}
	defer p.Stop(stopGrace)
	const name = "sealab/none"
	a := t.lineTo(p, func(body []byte) []byte {
		return bytes.Replace(body, []byte(`"`+listCall.Method+`"`), []byte(`"`+name+`"`), 1)
	})
	if _, issue := wantCode(Warning, Warning, -32601)(a); (served(a) || a.Kind == broken) && served(t.lineTo(p, bytes.Clone)) {
		t.refute(Finding{Case: name, Severity: Warning, Issue: name + ": " + issue, Evidence: fmt.Sprintf("%s -> %v; then tools/list: served", sent(a.Exchange), a), Want: "-32601", Got: string(a.Kind)})
	}
}

func batches(t *T) {
	judge := func(a Answer) (Severity, string) {
		if a.Status == 200 && a.contains(`"tools"`) {
			return Warning, "served"
		}
		return "", ""
	}
	t.cases(
		wireCase{name: "two requests", alter: func(w *wire) { w.body = fmt.Appendf(nil, "[%s,%s]", w.body, w.body) }, judge: judge},
		wireCase{name: "one request in an array", alter: func(w *wire) { w.body = fmt.Appendf(nil, "[%s]", w.body) }, judge: judge},
		wireCase{name: "an empty array", alter: func(w *wire) { w.body = []byte("[]") }, judge: func(a Answer) (Severity, string) {
			if a.Status/100 == 2 {
				return Suggestion, "accepted"
			}
			return "", ""
		}},
		wireCase{name: "two notifications", alter: func(w *wire) {
			w.set("Mcp-Method", "notifications/cancelled")
			w.body = fmt.Appendf(nil, "[%s,%s]", cancelNobody, cancelNobody)
		}, judge: func(a Answer) (Severity, string) {
			if a.Status/100 == 2 && a.Kind != failed {
				return Suggestion, "accepted"
			}
			return "", ""
		}},
	)
}

func noJSON(t *T) {
	judge := func(a Answer) (Severity, string) {
		switch {
		case a.Kind == failed:
			return "", ""
		case a.Status >= 500 || a.Status == 0:
			return Warning, fmt.Sprintf("no refusal: status %d", a.Status)
		case served(a):
			return Suggestion, "served"
		}
		return Suggestion, "the refusal is not a JSON-RPC error"
	}
	var all []wireCase
	for name, body := range map[string]string{"no JSON": "{", "an empty body": "", "a number": "1", "null": "null", "10,000 nested arrays": strings.Repeat("[", 10000)} {
		all = append(all, wireCase{name: name, alter: func(w *wire) { w.body = []byte(body) }, judge: judge})
	}
	all = append(all, wireCase{name: "invalid UTF-8", alter: func(w *wire) { w.replace(`"sealab-review"`, "\"\xff\xfe\"") }, judge: judge})
	slices.SortFunc(all, func(a, b wireCase) int { return strings.Compare(a.name, b.name) })
	for _, c := range all {
		if t.only != "" && t.only != c.name {
			continue
		}
		if reason := t.control(); reason != "" {
			t.skip("%s", reason)
			return
		}
		t.oneCase(c)
		if reason := t.unanswered(); reason != "" && t.unanswered() != "" {
			t.findings = nil
			t.refute(Finding{Case: c.name, Severity: Warning, Issue: "the server does not answer after " + c.name, Evidence: reason, Want: "answered", Got: "broken"})
			return
		}
	}
}

// inArrays are params of another type: of JSON-RPC, where positions count, and the right
// ones in an array.
var inArrays = map[string]func(params string) string{
	"params an array":    func(string) string { return "[1]" },
	"params in an array": func(params string) string { return "[" + params + "]" },
}

// arrayed returns a request with other params.
func arrayed(body []byte, params func(string) string) []byte {
	return object(with(members(body), "params", json.RawMessage(params(string(members(body)["params"])))))
}

// wrongLines sends params of another type to processes of their own. No answer is none: some
// servers drop what is no message.
func wrongLines(t *T) {
	for _, name := range sortedKeys(inArrays) {
		if t.only != "" && t.only != name {
			continue
		}
		p := t.processWithin(silence)
		if p == nil {
			return
		}
		a := t.lineTo(p, func(body []byte) []byte { return arrayed(body, inArrays[name]) })
		if served(a) {
			t.refute(Finding{Case: name, Severity: Warning, Issue: name + ": served", Evidence: sent(a.Exchange) + " -> " + a.String(), Want: "-32602 or -32600", Got: "served"})
		}
		p.Stop(stopGrace)
	}
}

func wrongParams(t *T) {
	if t.r.client.http == nil {
		wrongLines(t)
		return
	}
	want := wantCode(Suggestion, Suggestion, -32602, -32600)
	crash := func(a Answer) (Severity, string) {
		if a.Kind == broken {
			return Warning, fmt.Sprintf("no answer, status %d", a.Status)
		}
		return "", ""
	}
	t.cases(
		wireCase{name: "params null", alter: func(w *wire) {
			w.body = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/list","params":null}`, w.id)
		}, judge: crash},
		wireCase{name: "arguments null", call: unknownCall, alter: func(w *wire) { w.replace(`"arguments":{}`, `"arguments":null`) }, judge: crash},
		wireCase{name: "params an array", alter: func(w *wire) { w.body = arrayed(w.body, inArrays["params an array"]) }, judge: wantCode(Warning, Suggestion, -32602, -32600)},
		wireCase{name: "params in an array", alter: func(w *wire) { w.body = arrayed(w.body, inArrays["params in an array"]) }, judge: wantRefused(Warning)},
		wireCase{name: "arguments a text", call: unknownCall, alter: func(w *wire) { w.replace(`"arguments":{}`, `"arguments":"a"`) }, judge: func(a Answer) (Severity, string) {
			if a.Kind == toolError {
				return "", "" // the tool is unknown anyway
			}
			return want(a)
		}},
		wireCase{name: "no name", call: unknownCall, alter: func(w *wire) {
			w.replace(`"name":"`+noSuchTool+`",`, "")
			w.drop("Mcp-Name")
		}, judge: noFault},
		wireCase{name: "a name that is a number", call: unknownCall, alter: func(w *wire) { w.replace(`"name":"`+noSuchTool+`"`, `"name":5`) }, judge: want},
	)
}

// noFault wants any answer but a fault of the server.
func noFault(a Answer) (Severity, string) {
	if a.Code == -32603 || a.Status >= 500 || a.Kind == broken && a.Status == 0 {
		return Suggestion, fmt.Sprintf("answered by a fault of the server: status %d, code %d", a.Status, a.Code)
	}
	return "", ""
}

// honestIDs are ids that come back as they are.
var honestIDs = []string{"0", `"sealab"`, `"sealab-éü€"`, brokenLine, `"4711"`, `"SeaLab-` + strings.Repeat("0123456789", 12) + `"`, "4294967301"}

// brokenLine is an id that ends the line of an event, if it is written there as it is.
const brokenLine = `"sealab\ndata: 1"`

// sameID reports whether an id came back, however its characters are escaped.
func sameID(got, id string) bool {
	var one, two string
	return got == id || json.Unmarshal([]byte(got), &one) == nil && json.Unmarshal([]byte(id), &two) == nil && one == two
}

func wrongIDs(t *T) {
	var all []wireCase
	for _, id := range []string{"null", "1.5", `{"a":1}`} {
		all = append(all, wireCase{name: "id " + id, alter: func(w *wire) { w.replace(fmt.Sprintf(`"id":%d`, w.id), `"id":`+id) }, judge: func(a Answer) (Severity, string) {
			if a.Status/100 == 2 && a.Kind != failed {
				return Suggestion, fmt.Sprintf("accepted with status %d", a.Status)
			}
			return "", ""
		}})
	}
	for _, id := range honestIDs {
		all = append(all, wireCase{name: "id " + id, alter: func(w *wire) { w.replace(fmt.Sprintf(`"id":%d`, w.id), `"id":`+id) }, judge: func(a Answer) (Severity, string) {
			if a.Exchange == nil || len(a.Exchange.Messages) == 0 {
				if a.Status == 202 {
					return Warning, "taken for a notification"
				}
				return "", ""
			}
			if id == brokenLine && a.Exchange.Stream && !slices.ContainsFunc(a.Exchange.Messages, json.Valid) {
				return Warning, "the answer is no event: the id stands in its lines"
			}
			m := members(a.Exchange.Messages[len(a.Exchange.Messages)-1])
			if got := string(m["id"]); m["result"] != nil && !sameID(got, id) {
				return Warning, "answered with the id " + short(got, 40)
			}
			return "", ""
		}})
	}
	t.cases(all...)
}

// cancelNobody cancels a request that was not sent.
const cancelNobody = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"sealab-none","_meta":{"` + metaVersion + `":"` + modern + `"}}}`

// withoutID makes a notification of a request.
func withoutID(w *wire) { w.replace(fmt.Sprintf(`"id":%d,`, w.id), "") }

func notification(t *T) {
	silent := func(a Answer) (Severity, string) {
		switch {
		case a.Status >= 400:
			return "", ""
		case a.Status != 202:
			return Warning, fmt.Sprintf("status %d instead of 202", a.Status)
		case a.Exchange != nil && len(strings.TrimSpace(string(a.Exchange.Body))) > 0:
			return Warning, "status 202 with a body"
		}
		return "", ""
	}
	t.cases(wireCase{name: "notifications/cancelled", alter: func(w *wire) {
		w.set("Mcp-Method", "notifications/cancelled")
		w.body = []byte(cancelNobody)
	}, judge: silent}, wireCase{name: "a call of an unknown tool without an id", call: unknownCall, alter: withoutID, judge: silent})
	if len(t.r.oracles) > 0 {
		t.cases(wireCase{name: "a call that asks, without an id", call: t.r.oracles[0].flow.call(first), alter: withoutID, judge: silent})
	}
	t.cases(wireCase{name: "tools/list without an id", alter: withoutID, judge: func(a Answer) (Severity, string) {
		if a.Exchange != nil && strings.Contains(string(a.Exchange.Body), `"tools"`) {
			return Warning, "answered by a result"
		}
		return "", ""
	}})
}

func unauthorized(t *T) {
	if len(t.r.opts.Target.Headers) == 0 {
		if t.r.onLoopback() {
			t.skip("no credentials are known, and the server is on this machine; its risk profile is %s", t.r.Report.Server.Risk)
			return
		}
		t.trials++
		if t.r.Report.Server.Risk != "R0" && len(t.r.Report.Server.Tools) > 0 {
			t.refute(Finding{Case: "no credentials", Severity: Warning, Issue: "a server of risk profile " + t.r.Report.Server.Risk + " beyond this machine answers without credentials", Evidence: "tools/list was answered", Want: "401", Got: "served"})
		}
		return
	}
	call := listCall
	for name, as := range map[string]user{"no credentials": nobody, "made-up credentials": stranger} {
		call.as = as
		if as == stranger && len(t.r.opts.Target.Second) == 0 {
			continue
		}
		a := t.r.client.call(t.ctx, call)
		if redirected := a.Status >= 300 && a.Status < 400; !a.conclusive() && !redirected {
			t.skip("%v", a)
			return
		}
		t.seen(variant{name: name}, a)
		switch {
		case served(a):
			t.refute(Finding{Case: name, Severity: Suggestion, Issue: name + ": served", Evidence: a.String(), Want: "401", Got: "served"})
		case a.Kind == failed && a.Status/100 == 2:
			t.refute(Finding{Case: name, Severity: Warning, Issue: fmt.Sprintf("%s: refused with status %d instead of 401", name, a.Status), Evidence: a.String(), Want: "401", Got: fmt.Sprint(a.Status)})
		case a.Status >= 300 && a.Status < 400:
			t.refute(Finding{Case: name, Severity: Suggestion, Issue: fmt.Sprintf("%s: status %d instead of 401", name, a.Status), Evidence: a.String(), Want: "401", Got: fmt.Sprint(a.Status)})
		case a.Status == 401 && a.Exchange.Header("Www-Authenticate") == "":
			t.refute(Finding{Case: name, Severity: Warning, Issue: name + ": 401 without WWW-Authenticate", Evidence: a.String(), Want: "WWW-Authenticate", Got: "none"})
		}
	}
	t.repeatedCredential()
}

// repeatedCredential sends made-up credentials. It refutes if the refusal repeats them.
func (t *T) repeatedCredential() {
	var headers []rawmcp.Header
	for _, h := range t.r.opts.Target.Headers {
		headers = append(headers, rawmcp.Header{Name: h.Name, Value: madeUp(h.Value)})
	}
	a := t.listedAs(headers)
	if a.Exchange == nil || !a.refused() {
		return
	}
	if t.trials++; bytes.Contains(a.Exchange.Received, []byte(unknownCredential)) {
		t.fault("a repeated credential", Warning, "the refusal of a credential repeats it", a)
	}
}
