package transport

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// listChecks are the checks of lists.
var listChecks = []review.Check{
	{
		ID: "H-RESULT", Name: "malformed list results", Era: "modern", Severity: review.Warning, Category: "schema",
		Sent: "each list, server/discover and each listed resource as both users; the check also inspects all " +
			"pages that were read",
		Want: "returns resultType complete, serverInfo in _meta, and a valid ttlMs and cacheScope; uses cacheScope " +
			"public only for results that are equal for all users, and no public Cache-Control for answers to one " +
			"user",
		Source: "revision 2026-07-28, basic and server/utilities/caching",
		Impact: "clients and caches store the list for too long, not at all, or for other users",
		Fix:    "build results with the types of the SDK",
		Run:    checkListResults,
	},
	{
		ID: "H-CURSOR", Name: "unknown cursors and lists without an end", Severity: review.Warning, Category: "schema",
		Sent: "all pages of every list; tools/list with an unknown cursor; if there are pages, also with the " +
			"cursors -1 and 99999999999999999999",
		Want:   "ends every list; answers error -32602 to an unknown cursor, or the whole list if it has one page",
		Source: "revision 2026-07-28, utilities/pagination",
		Impact: "a client reads a page twice, or pages without end",
		Fix:    "answer -32602 to an unknown cursor, and send no nextCursor on the last page",
		Run:    checkUnknownCursor,
	},
	{
		ID: "H-ORDER", Name: "a list whose order changes", Severity: review.Suggestion, Category: "reliability",
		Sent:   "tools/list five times",
		Want:   "returns the tools in the same order each time",
		Source: "revision 2026-07-28, server/tools",
		Impact: "prompt caches miss",
		Fix:    "sort the list",
		Run:    checkListOrder,
	},
}

// responseChecks are the checks of all answers of a review. They run last.
var responseChecks = []review.Check{
	{
		ID: "H-CODES", Name: "undefined error codes and malformed responses", Last: true, Severity: review.Warning, Category: "schema",
		Sent: "nothing; the check inspects every response of the review",
		Want: "uses no undefined error code from -32020 to -32099, and none from -32000 to -32019; sends one " +
			"response to each request, as one JSON document of type application/json or one message event of " +
			"text/event-stream, in UTF-8, with the id of the request and either a result with resultType or an " +
			"error",
		Source: "revision 2026-07-28, basic, error codes, and basic/transports/streamable-http; RFC 8259, section 2",
		Impact: "clients misinterpret an error or cannot read the response",
		Fix:    "use the codes of the protocol or codes outside its range, and the types of the SDK",
		Run:    checkErrorCodes,
	},
	{
		ID: "H-TRACE", Name: "errors that reveal internals, and answers that reveal credentials", Last: true, Severity: review.Critical, Category: "security",
		Sent: "resources/read of missing resources; with --effects calls of read-only tools, with each value of " +
			"booleans and enums; all prompts and resources; the check searches every error of the review, and every result and question for " +
			"the credential of its request and for the environment of the server",
		Want: "reveals no stack trace, file path, URL with a password, secret setting, environment variable, or " +
			"credential of the request; lists no environment with a secret, and over HTTP no URL with a password " +
			"of the server",
		Source: "CWE-209; CWE-522; CWE-526",
		Impact: "the error shows files, versions, secrets and the structure of the code; or the model reads the " +
			"credential of its user",
		Fix: "answer with a fixed text, and log the details; keep credentials out of results and questions",
		Run: checkErrorTexts,
	},
	{
		ID: "H-NOTICE", Name: "notifications that the client did not request", Last: true, Era: "modern", Severity: review.Warning, Category: "transport",
		Sent:   "nothing; the check inspects the messages before every answer of the review",
		Want:   "sends no log without logLevel in the request, and no progress without progressToken",
		Source: "revision 2026-07-28, server/utilities/logging, basic/patterns/progress",
		Impact: "the client receives messages that it cannot match, and logs reach users who should not see them",
		Fix:    "send logs and progress only if _meta of the request asks for them",
		Run:    checkNotices,
	},
}

func checkListResults(t *review.T) {
	for _, method := range jsondoc.SortedKeys(t.Report.Server.Lists) {
		a := t.Report.Server.Lists[method]
		if capability, _, _ := strings.Cut(method, "/"); a.Kind == client.Failed && a.Code == -32601 && t.Report.Server.Has(capability) && method != "resources/templates/list" {
			t.Form(method, review.Warning, capability+" are declared, and "+method+" is unknown", a)
		}
		if a.Kind != client.Completed {
			continue
		}
		t.Trials++
		if media, _, _ := mime.ParseMediaType(a.Exchange.Header("Content-Type")); t.Client.HTTP != nil && media != "application/json" && media != "text/event-stream" {
			t.Form(method, review.Warning, "a response of the type "+client.Short(media, 40), a)
			continue
		}
		m := jsondoc.Members(a.Result)
		scope, _ := jsondoc.Text(m["cacheScope"])
		fault := pageFault(m)
		for _, later := range t.Report.Server.Later[method] {
			if wrong := pageFault(jsondoc.Members(later.Result)); fault == "" && wrong != "" {
				fault, a = wrong+", on a later page", later
			}
		}
		switch {
		case fault != "":
			t.Form(method, review.Warning, fault, a)
		case scope == "public" && len(t.Options.Target.Second) > 0 && differsBetweenUsers(t, client.Flow{Method: method}):
			t.Form(method, review.Warning, "cacheScope public on a list that differs between two users", a)
		case scope == "public" && len(t.Options.Target.Headers) > 0:
			t.Form(method, review.Suggestion, "cacheScope public on a list that needs credentials", a)
		case jsondoc.Members(m["_meta"])["io.modelcontextprotocol/serverInfo"] == nil:
			t.Form(method, review.Suggestion, "no serverInfo in _meta", a)
		}
	}
	publicReads(t)
	if c := t.Client; c.Uncached.Kind != "" && len(t.Findings) == 0 {
		t.Form(c.UncachedBy, review.Warning, "a ttlMs or cacheScope of another form", c.Uncached)
	}
	if c := t.Client; c.Shared.Kind != "" {
		t.Form(c.SharedBy, review.Warning, "Cache-Control gives an answer of one user to shared caches: "+client.Short(c.Shared.Exchange.Header("Cache-Control"), 60), c.Shared)
	}
}

// pageFault returns the fault in the members of a page for clients and caches, or "".
func pageFault(page map[string]json.RawMessage) string {
	var ttl float64
	kind, _ := jsondoc.Text(page["resultType"])
	scope, _ := jsondoc.Text(page["cacheScope"])
	switch hasTTL := json.Unmarshal(page["ttlMs"], &ttl) == nil && page["ttlMs"] != nil; {
	case kind == "":
		return "no resultType"
	case kind != "complete":
		return "the resultType of a list is " + client.Short(kind, 40)
	case hasTTL && ttl < 0:
		return "a negative ttlMs"
	case !hasTTL || scope != "public" && scope != "private":
		return "no ttlMs and cacheScope"
	}
	return ""
}

// publicReads records a finding if a read is public for some time, and each user gets another result.
func publicReads(t *review.T) {
	reads := []client.Flow{{Method: "server/discover"}}
	for _, f := range slices.Concat(t.Flows, t.Reads()) {
		if f.Method == "resources/read" && len(reads) <= maxReads {
			reads = append(reads, f)
		}
	}
	for _, f := range reads {
		label := strings.TrimSpace(f.Method + " " + f.Target)
		if len(t.Options.Target.Second) == 0 || !t.Selected(label) {
			continue
		}
		for _, as := range client.BothUsers {
			if a := t.Tried(t.Walk(f, as)); isPublic(a) && differsBetweenUsers(t, f) {
				t.Form(label, review.Warning, "cacheScope public for some time on a result that differs between two users", a)
				return
			}
		}
	}
}

// isPublic reports whether caches may give a result to all users for some time.
func isPublic(a client.Answer) bool {
	var ttl float64
	m := jsondoc.Members(a.Result)
	_ = json.Unmarshal(m["ttlMs"], &ttl) // 0 if it is of another type
	return a.Kind == client.Completed && string(m["cacheScope"]) == `"public"` && ttl > 0
}

// maxComparedCalls is the number of calls that must give each user its own result.
const maxComparedCalls = 16

// differsBetweenUsers reports whether a call always gives each user the same result, and the other
// user another one.
func differsBetweenUsers(t *review.T, f client.Flow) bool {
	var results [2]string
	for i := range maxComparedCalls {
		n := review.Turn(i)
		a := t.Walk(f, client.BothUsers[n])
		members := jsondoc.Members(a.Result)
		for _, name := range []string{"_meta", "ttlMs", "nextCursor"} {
			delete(members, name)
		}
		shared := string(jsondoc.Object(members))
		if results[n] = cmp.Or(results[n], shared); a.Kind != client.Completed || results[n] != shared || results[0] == results[1] {
			return false
		}
	}
	return true
}

// definedCodes are the codes that the protocol defines in its own range.
var definedCodes = []int{-32020, -32021, -32022}

func checkErrorCodes(t *review.T) {
	for _, x := range []struct {
		name, issue string
		severity    review.Severity
	}{{"result and error", client.BothMembers, review.Warning}, {"more data", client.Followed, review.Warning},
		{"several events", client.InPieces, review.Warning}, {"another id", client.Misnamed, review.Warning},
		{"two answers", client.AnsweredTwice, review.Warning}, {"no number", client.NoNumbers, review.Warning},
		{"not UTF-8", client.OtherCoding, review.Warning}, {"another event", client.NamedEvent, review.Warning},
		{"no kind", client.Untyped, review.Warning}, {"no id", client.Unnamed, review.Warning}, {"another type", client.TypedAsOther, review.Suggestion}} {
		if evidence := t.Client.Odd[x.issue]; evidence != "" {
			t.Refute(review.Finding{Case: x.name, Severity: x.severity, Issue: x.issue, Evidence: evidence, Want: "one response of JSON", Got: x.name})
		}
	}
	codes := t.Client.Codes
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		t.Trials++
		switch {
		case !t.Modern(): // other revisions reserve no codes
		case code <= -32020 && code >= -32099 && !slices.Contains(definedCodes, code):
			t.Refute(review.Finding{Case: fmt.Sprint(code), Severity: review.Warning, Issue: fmt.Sprintf("error code %d is reserved and not defined", code),
				Evidence: codes[code], Want: "a defined code", Got: fmt.Sprint(code)})
		case code <= -32000 && code > -32020:
			t.Refute(review.Finding{Case: fmt.Sprint(code), Severity: review.Suggestion, Issue: fmt.Sprintf("error code %d should not be used", code),
				Evidence: codes[code], Want: "another code", Got: fmt.Sprint(code)})
		}
	}
	t.SkipUntried("no error was seen")
}

// checkErrorTexts reads missing resources, because the errors may reveal files, and calls tools,
// because a replay has no other results.
func checkErrorTexts(t *review.T) {
	if s := t.Report.Server; s.Has("resources") {
		uris := []string{client.MissingURI}
		for _, x := range s.Templates {
			uris = append(uris, review.TemplateParameter.ReplaceAllString(x.URI, "sealab-none"))
		}
		for _, uri := range uris[:min(len(uris), 4)] {
			t.Call(client.ReadResource(uri))
		}
	}
	readers := t.Readers()
	for _, o := range readers[:min(len(readers), maxTracedTools)] {
		for _, arguments := range optionsOf(o, t.Sample(o)) {
			t.Call(t.FlowOf(o).With(arguments).Call(client.FirstUser))
		}
	}
	findPasswords(t)
	if t.Trials += len(t.Client.Codes); t.Trials == 0 {
		t.Skip("no error was seen")
	}
	for _, f := range []review.Finding{
		{Case: "environment", Severity: review.Critical, Issue: "an answer shows the environment of the server with a secret",
			Evidence: t.Client.Environment, Want: "no environment", Got: "a secret"},
		{Case: "results", Severity: review.Warning, Issue: "a result or a question has the credential of its request",
			Evidence: t.Client.Repeats, Want: "no credential", Got: "the credential"},
		{Case: "errors", Severity: review.Warning, Issue: "an error carries a stack trace, a path, a secret or a credential",
			Evidence: t.Client.Trace, Want: "none of them", Got: "one of them"},
	} {
		if f.Evidence != "" {
			t.Refute(f)
		}
	}
}

// connectionWords are parts of texts of offers that are meant to give their user a password.
var connectionWords = []string{"connection", "credential", "dsn", "password", "secret", "login"}

// findPasswords records a finding if a read over HTTP shows a URL with a password to all users,
// twice. Over standard streams, the password belongs to the user of the server.
func findPasswords(t *review.T) {
	reads, users := t.Reads(), []client.User{client.FirstUser, client.FirstUser}
	if len(t.Options.Target.Second) > 0 {
		users[1] = client.SecondUser
	}
	for _, tool := range t.Readers() {
		reads = append(reads, t.FlowOf(tool))
	}
	for _, f := range reads[:min(len(reads), maxReads)] {
		about := f.Target + " " + f.Offer.Name + " " + f.Offer.Description
		if t.Client.HTTP == nil || client.Mentions(about, connectionWords) {
			continue
		}
		if a, shown := showsPassword(t, f, users); shown != "" {
			t.Refute(review.Finding{Case: "passwords", Severity: review.Warning, Issue: client.Short(f.Target, 60) + " shows a URL with a password",
				Evidence: review.SentText(a.Exchange) + " -> " + client.Short(shown, 100), Want: "no password", Got: "a password"})
			return
		}
	}
}

// showsPassword returns the URL with a password that a read shows to each of users, or "".
func showsPassword(t *review.T, f client.Flow, users []client.User) (a client.Answer, shown string) {
	for i, as := range users {
		a = t.Tried(t.Call(f.Call(as)))
		found := client.ShownPassword(a.Text)
		if a.Kind != client.Completed || found == "" || i > 0 && found != shown {
			return a, ""
		}
		shown = found
	}
	return a, shown
}

const (
	maxTracedTools = 8  // tools that checkErrorTexts calls
	maxOptions     = 8  // arguments of each
	maxReads       = 24 // calls of findPasswords
)

// optionsOf returns a sample and the sample with each value of each boolean and enum, which may show
// more.
func optionsOf(o client.Offer, sample json.RawMessage) []json.RawMessage {
	all := []json.RawMessage{sample}
	for name, s := range jsondoc.Fields(o.Input) {
		if s.TypeOf() != "boolean" && s.Enum == nil {
			continue
		}
		for _, v := range jsondoc.Samples(s.Raw, 0) {
			all = append(all, jsondoc.WithMember(sample, name, v))
		}
	}
	return all[:min(len(all), maxOptions)]
}

func checkNotices(t *review.T) {
	t.Trials = t.Client.Sent
	if notice := t.Client.Notice; notice != "" {
		t.Refute(review.Finding{Case: "notifications", Severity: review.Warning, Issue: "a log or a progress is sent that was not asked for",
			Evidence: notice, Want: "no notification", Got: "a notification"})
	}
}

func checkUnknownCursor(t *review.T) {
	endless := t.Report.Server.Endless
	for _, method := range jsondoc.SortedKeys(endless) {
		t.Form(method, review.Warning, fmt.Sprintf("a page leads back to an earlier one, or %d empty pages follow one another: the list has no end", review.MaxEmptyPages), endless[method])
	}
	method := t.Client.Listing.Method
	if method == "server/discover" {
		t.Skip("the server has no lists")
		return
	}
	a := t.Call(client.Call{Method: method, Cursor: "sealab-no-such-page"})
	if !t.Counted(a) {
		return
	}
	paged := jsondoc.Members(t.Report.Server.Lists[method].Result)["nextCursor"] != nil
	if paged {
		requestNumericCursors(t, method)
	}
	switch {
	case len(t.Findings) > 0:
	case a.Kind == client.Completed && paged:
		t.Form(method, review.Suggestion, "an unknown cursor is answered by a page", a)
	case a.Kind == client.Failed && a.Code != -32602:
		t.Refute(review.Finding{Case: method, Severity: review.Suggestion, Issue: fmt.Sprintf("an unknown cursor is refused with %d", a.Code),
			Evidence: a.String(), Want: "-32602", Got: fmt.Sprint(a.Code)})
	}
}

// requestNumericCursors asks for numeric cursors before the first and after the last page.
func requestNumericCursors(t *review.T, method string) {
	for _, cursor := range []string{"-1", "99999999999999999999"} {
		call := client.Call{Method: method, Cursor: cursor}
		if a := t.Tried(t.Call(call)); a.Kind != client.Throttled && (a.Status >= 500 || a.Code == -32603) {
			t.Form(method, review.Warning, "the cursor "+cursor+" is answered by a fault of the server", a)
			return
		}
	}
}

func checkListOrder(t *review.T) {
	var order string
	for i := range 5 {
		a := t.Call(client.ListTools)
		if a.Kind != client.Completed {
			t.Skip("tools/list: %v", a)
			return
		}
		t.Trials++
		var r struct{ Tools []struct{ Name string } }
		_ = json.Unmarshal(a.Result, &r)
		if names := fmt.Sprint(r.Tools); i == 0 {
			order = names
		} else if names != order {
			t.Form("tools/list", review.Suggestion, "the order changes", a)
			return
		}
	}
}
