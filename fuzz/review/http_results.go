package review

import (
	"encoding/json"
	"fmt"
	"mime"
	"slices"
	"strings"
)

// results are the checks of lists.
var results = []Check{
	{ID: "H-RESULT", Name: "the form of results", Over: "", Era: "modern", Severity: Warning, Category: "schema",
		Sent: "each list as the second user; the lists that were read are checked", Want: "resultType, serverInfo in _meta, ttlMs and cacheScope on lists, and no public Cache-Control on answers of one user", Source: "revision 2026-07-28, basic and server/utilities/caching",
		Impact: "clients cache wrongly, or not at all", Fix: "build results with the types of the SDK", Run: resultForm},
	{ID: "H-CURSOR", Name: "a cursor that no page has", Over: "", Severity: Warning, Category: "schema",
		Sent: "tools/list with an unknown cursor; if there are pages, with -1 and a large number", Want: "error -32602, or the list of a server with one page", Source: "revision 2026-07-28, utilities/pagination", Impact: "a client reads a page twice", Fix: "answer -32602", Run: badCursor},
	{ID: "H-ORDER", Name: "a list in changing order", Over: "", Severity: Suggestion, Category: "reliability",
		Sent: "tools/list five times", Want: "the same order", Source: "revision 2026-07-28, server/tools", Impact: "caches of prompts miss", Fix: "sort the list", Run: listOrder},
}

// seen are the checks of all answers of a review. They come last.
var seen = []Check{
	{ID: "H-CODES", Name: "error codes and responses of another form", Over: "", Severity: Warning, Category: "schema",
		Sent: "nothing; every error and every response that was seen is checked", Want: "no undefined code from -32020 to -32099, none of -32000 to -32019; one document of the type application/json, or one event of text/event-stream, with a result or an error and the id of its request, in UTF-8; one response to each request", Source: "revision 2026-07-28, basic, error codes, and basic/transports/streamable-http; RFC 8259, section 2",
		Impact: "clients take an error for another one, or cannot read it", Fix: "use the codes of the protocol, or codes outside its range, and the types of the SDK", Run: errorCodes},
	{ID: "H-TRACE", Name: "errors with a stack trace, a path, a secret or a credential", Over: "", Severity: Warning, Category: "security",
		Sent: "resources/read of missing resources; every error that was seen is searched", Want: "no stack trace, no path of a file of the server, no URL with a password, no secret setting, no variable of the environment, and no credential of the request", Source: "CWE-209",
		Impact: "an error shows files, versions and the course of the code", Fix: "answer by a fixed text, and log the trace", Run: traces},
	{ID: "H-NOTICE", Name: "notifications that were not asked for", Over: "", Era: "modern", Severity: Warning, Category: "transport",
		Sent: "nothing; the messages before every answer are checked", Want: "no log without a logLevel, no progress without a progressToken", Source: "revision 2026-07-28, server/utilities/logging, basic/patterns/progress",
		Impact: "a client reads messages that it cannot place, and logs reach users that they are not meant for", Fix: "send them if _meta of the request asks for them", Run: notices},
}

func resultForm(t *T) {
	for _, method := range sortedKeys(t.r.Report.Server.lists) {
		a := t.r.Report.Server.lists[method]
		if capability, _, _ := strings.Cut(method, "/"); a.Kind == failed && a.Code == -32601 && t.r.Report.Server.has(capability) && method != "resources/templates/list" {
			t.form(method, Warning, capability+" are declared, and "+method+" is unknown", a)
		}
		if a.Kind != completed {
			continue
		}
		t.trials++
		if media, _, _ := mime.ParseMediaType(a.Exchange.Header("Content-Type")); t.r.client.http != nil && media != "application/json" && media != "text/event-stream" {
			t.form(method, Warning, "a response of the type "+short(media, 40), a)
			continue
		}
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
	if c := t.r.client; c.shared.Kind != "" {
		t.form(c.sharedBy, Warning, "Cache-Control gives an answer of one user to shared caches: "+short(c.shared.Exchange.Header("Cache-Control"), 60), c.shared)
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
	for _, x := range []struct {
		name, issue string
		severity    Severity
	}{{"result and error", bothMembers, Warning}, {"more data", followed, Warning}, {"several events", inPieces, Warning}, {"another id", misnamed, Warning}, {"two answers", answeredTwice, Warning}, {"no number", noNumbers, Warning}, {"not UTF-8", otherCoding, Warning}, {"another type", typedAsOther, Suggestion}} {
		if evidence := t.r.client.odd[x.issue]; evidence != "" {
			t.refute(Finding{Case: x.name, Severity: x.severity, Issue: x.issue, Evidence: evidence, Want: "one response of JSON", Got: x.name})
		}
	}
	codes := t.r.client.codes
	for _, code := range sortedCodes(codes) {
		t.trials++
		switch {
		case !t.r.modern(): // other revisions reserve no codes
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
	if s := t.r.Report.Server; s.has("resources") {
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
		t.refute(Finding{Case: "errors", Severity: Warning, Issue: "an error carries a stack trace, a path, a secret or a credential", Evidence: trace, Want: "none of them", Got: "one of them"})
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
	if paged {
		t.cursorsBeyond()
	}
	switch {
	case len(t.findings) > 0:
	case a.Kind == completed && paged:
		t.form("tools/list", Suggestion, "an unknown cursor is answered by a page", a)
	case a.Kind == failed && a.Code != -32602:
		t.refute(Finding{Case: "tools/list", Severity: Suggestion, Issue: fmt.Sprintf("an unknown cursor is refused with %d", a.Code), Evidence: a.String(), Want: "-32602", Got: fmt.Sprint(a.Code)})
	}
}

// cursorsBeyond asks for pages before the first one and behind the last one, as cursors
// that are numbers have them.
func (t *T) cursorsBeyond() {
	for _, cursor := range []string{"-1", "99999999999999999999"} {
		call := Call{Method: "tools/list", Cursor: cursor}
		a := t.r.client.call(t.ctx, call)
		if t.trials++; a.Kind != throttled && (a.Status >= 500 || a.Code == -32603) {
			t.form("tools/list", Warning, "the cursor "+cursor+" is answered by a fault of the server", a)
			return
		}
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
