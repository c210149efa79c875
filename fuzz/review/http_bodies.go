package review

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// bodies are the checks of JSON-RPC over HTTP in revision 2026-07-28.
var bodies = []Check{
	{ID: "H-UNKNOWN", Name: "an unknown method", Over: "http", Era: "modern", Severity: Warning, Category: "transport",
		Sent: "sealab/none, and methods of older revisions: ping, logging/setLevel, resources/subscribe, tasks/list", Want: "error -32601 with status 404", Source: transportSpec,
		Impact: "a client takes a method for supported", Fix: "answer -32601 with status 404", Run: unknownMethods},
	{ID: "H-BATCH", Name: "several requests in one body", Over: "http", Era: "modern", Severity: Warning, Category: "transport",
		Sent: "an array of two requests, an empty array", Want: "refused", Source: transportSpec, Impact: "headers describe one request and others come with it", Fix: "refuse arrays", Run: batches},
	{ID: "H-JSON", Name: "a body that is no request", Over: "http", Era: "modern", Severity: Warning, Category: "reliability",
		Sent: "no JSON, nothing, a number, null, a byte order mark, invalid UTF-8, 10,000 nested arrays", Want: "a JSON-RPC error -32700 or -32600, and the server goes on to answer", Source: "JSON-RPC 2.0, section 5.1",
		Impact: "one request stops the server, or a client cannot read the error", Fix: "answer every body by a JSON-RPC error", Run: noJSON},
	{ID: "H-PARAMS", Name: "params of another type", Over: "http", Era: "modern", Severity: Suggestion, Category: "schema",
		Sent: "params as an array and null, arguments as a text and null, a name that is a number", Want: "refused with -32602 or -32600", Source: "revision 2026-07-28, schema",
		Impact: "a client's mistake is answered by an error that names another cause", Fix: "validate params before the request is handled", Run: wrongParams},
	{ID: "H-ID", Name: "an id that is none", Over: "http", Era: "modern", Severity: Suggestion, Category: "schema",
		Sent: "null, 1.5, an object; texts, of digits, of 127 characters and with the end of a line, and a number beyond 32 bits", Want: "an error; an answer with the same id", Source: "revision 2026-07-28, basic", Impact: "a request is taken for a notification, or its answer is lost", Fix: "take strings and integers alone", Run: wrongIDs},
	{ID: "H-202", Name: "the answer to a notification", Over: "http", Era: "modern", Severity: Warning, Category: "transport",
		Sent: "notifications/cancelled of an unknown request; tools/list, a call of an unknown tool and one that asks, without an id", Want: "status 202 without a body, or an error status", Source: transportSpec, Impact: "clients wait for what does not come", Fix: "answer 202 without a body", Run: notification},
	{ID: "H-RESULT", Name: "the form of results", Over: "", Era: "modern", Severity: Warning, Category: "schema",
		Sent: "each list as the second user; the lists that were read are checked", Want: "resultType, serverInfo in _meta, ttlMs and cacheScope on lists", Source: "revision 2026-07-28, basic and server/utilities/caching",
		Impact: "clients cache wrongly, or not at all", Fix: "build results with the types of the SDK", Run: resultForm},
	{ID: "H-CODES", Name: "error codes that the protocol does not define", Over: "", Era: "modern", Severity: Warning, Category: "schema",
		Sent: "nothing; every error that was seen is checked", Want: "no undefined code from -32020 to -32099, none of -32000 to -32019", Source: "revision 2026-07-28, basic, error codes",
		Impact: "clients take an error for another one", Fix: "use the codes of the protocol, or codes outside its range", Run: errorCodes},
	{ID: "H-TRACE", Name: "errors with a stack trace, a path or a password", Over: "", Severity: Warning, Category: "security",
		Sent: "resources/read of missing resources; every error that was seen is searched", Want: "no stack trace, no path of a file of the server, and no URL with a password", Source: "CWE-209",
		Impact: "an error shows files, versions and the course of the code", Fix: "answer by a fixed text, and log the trace", Run: traces},
	{ID: "H-NOTICE", Name: "notifications that were not asked for", Over: "", Era: "modern", Severity: Warning, Category: "transport",
		Sent: "nothing; the messages before every answer are checked", Want: "no log without a logLevel, no progress without a progressToken", Source: "revision 2026-07-28, server/utilities/logging, basic/patterns/progress",
		Impact: "a client reads messages that it cannot place, and logs reach users that they are not meant for", Fix: "send them if _meta of the request asks for them", Run: notices},
	{ID: "H-CURSOR", Name: "a cursor that no page has", Over: "", Era: "modern", Severity: Suggestion, Category: "schema",
		Sent: "tools/list with an unknown cursor", Want: "error -32602, or the list of a server with one page", Source: "revision 2026-07-28, utilities/pagination", Impact: "a client reads a page twice", Fix: "answer -32602", Run: badCursor},
	{ID: "H-ORDER", Name: "a list in changing order", Over: "", Era: "modern", Severity: Suggestion, Category: "reliability",
		Sent: "tools/list five times", Want: "the same order", Source: "revision 2026-07-28, server/tools", Impact: "caches of prompts miss", Fix: "sort the list", Run: listOrder},
	{ID: "A-401", Name: "requests without credentials", Over: "http", Severity: Warning, Category: "security",
		Sent: "a request with no credentials and one with made-up ones", Want: "status 401 with WWW-Authenticate", Source: "revision 2026-07-28, basic/authorization",
		Impact: "whoever reaches the server uses its tools", Fix: "require credentials on every request", Run: unauthorized},
}

func unknownMethods(t *T) {
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
	t.cases(all...)
}

func batches(t *T) {
	t.cases(
		wireCase{name: "two requests", alter: func(w *wire) { w.body = fmt.Appendf(nil, "[%s,%s]", w.body, w.body) }, judge: func(a Answer) (Severity, string) {
			if a.Status == 200 && a.Exchange != nil && strings.Contains(string(a.Exchange.Body), `"tools"`) {
				return Warning, "served"
			}
			return "", ""
		}},
		wireCase{name: "an empty array", alter: func(w *wire) { w.body = []byte("[]") }, judge: func(a Answer) (Severity, string) {
			if a.Status/100 == 2 {
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

func wrongParams(t *T) {
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
		wireCase{name: "params an array", alter: func(w *wire) {
			w.body = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/list","params":[1]}`, w.id)
		}, judge: want},
		wireCase{name: "arguments a text", call: unknownCall, alter: func(w *wire) { w.replace(`"arguments":{}`, `"arguments":"a"`) }, judge: func(a Answer) (Severity, string) {
			if a.Kind == toolError {
				return "", "" // the tool is unknown anyway
			}
			return want(a)
		}},
		wireCase{name: "a name that is a number", call: unknownCall, alter: func(w *wire) { w.replace(`"name":"`+noSuchTool+`"`, `"name":5`) }, judge: want},
	)
}

// honestIDs are ids that come back as they are.
var honestIDs = []string{`"sealab"`, brokenLine, `"4711"`, `"SeaLab-` + strings.Repeat("0123456789", 12) + `"`, "4294967301"}

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

func resultForm(t *T) {
	for _, method := range sortedKeys(t.r.Report.Server.lists) {
		a := t.r.Report.Server.lists[method]
		if a.Kind != completed {
			continue
		}
		t.trials++
		m := members(a.Result)
		var ttl float64
		var scope, kind string
		_ = json.Unmarshal(m["resultType"], &kind)
		_ = json.Unmarshal(m["cacheScope"], &scope)
		switch hasTTL := json.Unmarshal(m["ttlMs"], &ttl) == nil && m["ttlMs"] != nil; {
		case kind == "":
			t.form(method, Warning, "no resultType", a)
		case kind != "complete":
			t.form(method, Warning, "the resultType of a list is "+short(kind, 40), a)
		case hasTTL && ttl < 0:
			t.form(method, Warning, "a negative ttlMs", a)
		case !hasTTL || scope != "public" && scope != "private":
			t.form(method, Warning, "no ttlMs and cacheScope", a)
		case scope == "public" && t.differs(method, m):
			t.form(method, Warning, "cacheScope public on a list that differs between two users", a)
		case scope == "public" && len(t.r.opts.Target.Headers) > 0:
			t.form(method, Suggestion, "cacheScope public on a list that needs credentials", a)
		case members(m["_meta"])["io.modelcontextprotocol/serverInfo"] == nil:
			t.form(method, Suggestion, "no serverInfo in _meta", a)
		}
	}
	if c := t.r.client; c.uncached.Kind != "" && len(t.findings) == 0 {
		t.form(c.uncachedBy, Warning, "a ttlMs or cacheScope of another form", c.uncached)
	}
}

// differs reports whether the second user gets another list than the first: twice, with
// the first user's own list unchanged between them.
func (t *T) differs(method string, own map[string]json.RawMessage) bool {
	if len(t.r.opts.Target.Second) == 0 {
		return false
	}
	for _, member := range []string{"tools", "prompts", "resources", "resourceTemplates"} {
		if own[member] == nil {
			continue
		}
		for _, as := range []user{second, first, second} {
			a := t.r.client.call(t.ctx, Call{Method: method, as: as})
			same := string(members(a.Result)[member]) == string(own[member])
			if a.Kind != completed || same != (as == first) {
				return false
			}
		}
		return true
	}
	return false
}

func (t *T) form(name string, severity Severity, issue string, a Answer) {
	t.refute(Finding{Case: name, Severity: severity, Issue: name + ": " + issue, Evidence: short(string(a.Result), 300), Want: "the schema", Got: issue})
}

// definedCodes are the codes of the protocol in its own range.
var definedCodes = []int{-32020, -32021, -32022}

func errorCodes(t *T) {
	codes := t.r.client.codes
	for _, code := range sortedCodes(codes) {
		t.trials++
		switch {
		case code <= -32020 && code >= -32099 && !slices.Contains(definedCodes, code):
			t.refute(Finding{Case: fmt.Sprint(code), Severity: Warning, Issue: fmt.Sprintf("error code %d is reserved and not defined", code), Evidence: codes[code], Want: "a defined code", Got: fmt.Sprint(code)})
		case code <= -32000 && code > -32020:
			t.refute(Finding{Case: fmt.Sprint(code), Severity: Suggestion, Issue: fmt.Sprintf("error code %d should not be used", code), Evidence: codes[code], Want: "another code", Got: fmt.Sprint(code)})
		}
	}
	if t.trials == 0 {
		t.skip("no error was seen")
	}
}

// traces reads resources that are missing, whose errors may be those of files.
func traces(t *T) {
	if s := t.r.Report.Server; s.has("resources") && t.r.modern() {
		uris := []string{missingURI}
		for _, x := range s.Templates {
			uris = append(uris, templateParameter.ReplaceAllString(x.URI, "sealab-none"))
		}
		for _, uri := range uris[:min(len(uris), 4)] {
			t.r.client.call(t.ctx, Call{Method: "resources/read", Target: uri})
		}
	}
	if t.trials = len(t.r.client.codes); t.trials == 0 {
		t.skip("no error was seen")
	}
	if trace := t.r.client.trace; trace != "" {
		t.refute(Finding{Case: "errors", Severity: Warning, Issue: "an error carries a stack trace, a path or a password", Evidence: trace, Want: "none of them", Got: "one of them"})
	}
}

func notices(t *T) {
	t.trials = t.r.client.sent
	if notice := t.r.client.notice; notice != "" {
		t.refute(Finding{Case: "notifications", Severity: Warning, Issue: "a log or a progress is sent that was not asked for", Evidence: notice, Want: "no notification", Got: "a notification"})
	}
}

func sortedCodes(m map[int]string) []int {
	var all []int
	for code := range m {
		all = append(all, code)
	}
	slices.Sort(all)
	return all
}

func badCursor(t *T) {
	a := t.r.client.call(t.ctx, Call{Method: "tools/list", Cursor: "sealab-no-such-page"})
	if !a.conclusive() {
		t.skip("%v", a)
		return
	}
	t.seen(variant{name: "cursor"}, a)
	paged := members(t.r.Report.Server.lists["tools/list"].Result)["nextCursor"] != nil
	switch {
	case a.Kind == completed && paged:
		t.form("tools/list", Suggestion, "an unknown cursor is answered by a page", a)
	case a.Kind == failed && a.Code != -32602:
		t.refute(Finding{Case: "tools/list", Severity: Suggestion, Issue: fmt.Sprintf("an unknown cursor is refused with %d", a.Code), Evidence: a.String(), Want: "-32602", Got: fmt.Sprint(a.Code)})
	}
}

func listOrder(t *T) {
	var order string
	for i := range 5 {
		a := t.r.client.call(t.ctx, listCall)
		if a.Kind != completed {
			t.skip("tools/list: %v", a)
			return
		}
		t.trials++
		var r struct{ Tools []struct{ Name string } }
		_ = json.Unmarshal(a.Result, &r)
		if names := fmt.Sprint(r.Tools); i == 0 {
			order = names
		} else if names != order {
			t.form("tools/list", Suggestion, "the order changes", a)
			return
		}
	}
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
		if !a.conclusive() {
			t.skip("%v", a)
			return
		}
		t.seen(variant{name: name}, a)
		switch {
		case served(a):
			t.refute(Finding{Case: name, Severity: Suggestion, Issue: name + ": served", Evidence: a.String(), Want: "401", Got: "served"})
		case a.Status == 401 && a.Exchange.Header("Www-Authenticate") == "":
			t.refute(Finding{Case: name, Severity: Suggestion, Issue: name + ": 401 without WWW-Authenticate", Evidence: a.String(), Want: "WWW-Authenticate", Got: "none"})
		}
	}
}
