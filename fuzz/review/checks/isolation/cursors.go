package isolation

import (
	"encoding/json"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
)

// cursorChecks are the checks of pagination cursors.
var cursorChecks = []review.Check{
	{
		ID: "R-CURSOR", Name: "a cursor with changed contents", Severity: review.Critical, Category: "security",
		Sent: "cursors of every list and, with --effects, of read-only tools that take one, with other values in " +
			"their readable parts: nearby and negative numbers, usual words, and words from the other user's cursors",
		Want:   "refuses the cursor, or returns a page of the same list",
		Source: "CWE-639; revision 2026-07-28, utilities/pagination",
		Impact: "a client reads entries that its own list does not contain",
		Fix:    "seal cursors, or store in them only a position in the list of the user of the request",
		Run:    checkChangedCursors,
	},
}

// A pager reads a list in pages.
type pager struct {
	name string
	page func(cursor string, as client.User) (entries []string, next string, a client.Answer)
}

// maxChangedCursors is the number of cursors of a list that are changed, and maxVariants the number
// of changes to each.
const maxChangedCursors, maxVariants = 2, 80

func checkChangedCursors(t *review.T) {
	for _, p := range append(listPagers(t), toolPagers(t)...) {
		if t.Selected(p.name) {
			readChangedCursors(t, p)
		}
	}
	t.SkipUntried("no list has a second page")
}

// readChangedCursors reads a list with changed cursors. It records a finding if an entry is missing
// from the user's own list, which must be the same before and after.
func readChangedCursors(t *review.T, p pager) {
	own, named := p.all(client.FirstUser)
	if len(named) == 0 {
		return
	}
	steady := func() bool {
		again, _ := p.all(client.FirstUser)
		return slices.Equal(again, own)
	}
	if !steady() {
		t.Skip("%s: the list changes", p.name)
		return
	}
	var theirs, words []string
	if len(t.Options.Target.Second) > 0 {
		entries, cursors := p.all(client.SecondUser)
		theirs = entries
		for _, c := range cursors {
			words = append(words, tokens.Words(c)...)
		}
	}
	var faulty, strange client.Answer
	var issue string
	for _, cursor := range named[:min(len(named), maxChangedCursors)] {
		variants := tokens.Altered(cursor, slices.Compact(words))
		for _, v := range variants[:min(len(variants), maxVariants)] {
			entries, _, a := p.page(v.Text, client.FirstUser)
			if t.Trials++; a.Kind != client.Throttled && (a.Status >= 500 || a.Code == -32603) {
				faulty = a
			}
			foreign := slices.IndexFunc(entries, func(e string) bool { return !slices.Contains(own, e) })
			if foreign < 0 {
				continue
			}
			gives := "a cursor with " + client.Short(v.Name, 60) + " gives " + client.Short(entries[foreign], 80)
			if slices.Contains(theirs, entries[foreign]) && steady() {
				t.Fault(p.name, review.Critical, gives+", which the list of another user has", a)
				return
			}
			if again, _, _ := p.page(v.Text, client.FirstUser); slices.Contains(again, entries[foreign]) {
				strange, issue = a, gives+", which no page of the list has"
			}
		}
	}
	switch {
	case issue != "" && steady():
		t.Fault(p.name, review.Warning, issue, strange)
	case faulty.Kind != "":
		t.Fault(p.name, review.Warning, "a changed cursor is answered by a fault of the server", faulty)
	}
}

// all returns the entries of all pages for a user, and the cursors between them.
func (p pager) all(as client.User) (entries, cursors []string) {
	return allPages(func(cursor string) ([]string, string) {
		page, next, _ := p.page(cursor, as)
		return page, next
	})
}

// listPagers returns the lists of the protocol.
func listPagers(t *review.T) []pager {
	var all []pager
	for _, method := range jsondoc.SortedKeys(t.Report.Server.Later) {
		member := map[string]string{"tools/list": "tools", "prompts/list": "prompts", "resources/list": "resources", "resources/templates/list": "resourceTemplates"}[method]
		all = append(all, pager{method, func(cursor string, as client.User) (entries []string, next string, a client.Answer) {
			a = t.Call(client.Call{Method: method, Cursor: cursor, As: as})
			offers, next := client.OffersIn(a, member)
			for _, o := range offers {
				entries = append(entries, strings.TrimSpace(o.Name+" "+o.URI))
			}
			return entries, next, a
		}})
	}
	return all
}

// cursorWords are parts of names of arguments and members that hold a cursor.
var cursorWords = []string{"cursor", "continuation", "page_token", "pagetoken", "page-token", "next"}

// toolPagers returns the read-only tools that take a cursor and may run.
func toolPagers(t *review.T) []pager {
	var all []pager
	for _, tool := range t.Readers() {
		properties := jsondoc.ParseSchema(tool.Input).Properties
		names := jsondoc.SortedKeys(properties)
		argument := slices.IndexFunc(names, func(name string) bool {
			return client.Mentions(name, cursorWords) && jsondoc.ParseSchema(properties[name]).TypeOf() == "string"
		})
		if argument < 0 {
			continue
		}
		name := names[argument]
		given := jsondoc.Without(jsondoc.Members(t.Sample(tool)), name)
		all = append(all, pager{"tools/call " + tool.Name, func(cursor string, as client.User) ([]string, string, client.Answer) {
			arguments := given
			if cursor != "" {
				arguments = jsondoc.With(given, name, jsondoc.Quote(cursor))
			}
			a := t.Call(t.FlowOf(tool).With(jsondoc.Object(arguments)).Call(as))
			entries, next := entriesOf(a)
			return entries, next, a
		}})
	}
	return all
}

// entriesOf returns the strings in arrays of a result, and the cursor in it.
func entriesOf(a client.Answer) (entries []string, next string) {
	result := jsondoc.Members(a.Result)
	if a.Kind != client.Completed || string(result["isError"]) == "true" {
		return nil, ""
	}
	documents := []json.RawMessage{result["structuredContent"]}
	var content []struct{ Text string }
	_ = json.Unmarshal(result["content"], &content) // empty if it is of another type
	for _, c := range content {
		documents = append(documents, json.RawMessage(c.Text))
	}
	var read func(value any, name string, listed bool)
	read = func(value any, name string, listed bool) {
		switch x := value.(type) {
		case map[string]any:
			for _, member := range jsondoc.SortedKeys(x) {
				read(x[member], member, listed)
			}
		case []any:
			for _, item := range x {
				read(item, name, true)
			}
		case string:
			if !listed && client.Mentions(name, cursorWords) {
				next = x
			} else if listed {
				entries = append(entries, x)
			}
		}
	}
	for _, d := range documents {
		var value any
		if json.Unmarshal(d, &value) == nil {
			read(value, "", false)
		}
	}
	return entries, next
}

var flowCursorChecks = []review.Check{
	{
		ID: "RS-CURSOR", Name: "a cursor in a result that another user follows", Flow: true, Effects: true, Severity: review.Warning, Category: "security",
		Sent: "each flow to its end, as both users; if its result has a cursor, the later pages, by read-only tools that " +
			"take a cursor; the cursors of each user, as the other one",
		Want:   "refuses the cursor of another user, or gives pages that the own result has as well",
		Source: "CWE-639; CWE-862",
		Impact: "a user who obtains a cursor reads the result of its owner",
		Fix:    "bind a cursor to the user, as a state",
		Run:    checkFlowCursors,
	},
}

func checkFlowCursors(t *review.T) {
	if len(t.Options.Target.Second) == 0 {
		t.Skip("one user is known; --second gives another")
		return
	}
	for _, o := range t.Oracles {
		for _, later := range toolPagers(t) {
			if p := (flowPager{t, o, later}); o.Completes() && t.Selected(p.label()) && len(t.Findings) == 0 {
				p.followOthers()
			}
		}
	}
	t.SkipUntried("no result of a flow has a cursor that a read-only tool takes")
}

// A flowPager reads the result of a flow and its later pages.
type flowPager struct {
	*review.T
	of    *review.Oracle
	later pager
}

func (p flowPager) label() string { return p.of.Flow.Target + ", " + p.later.name }

// all returns the entries of a new result of a user, and its cursors.
func (p flowPager) all(as client.User) (entries, cursors []string) {
	return allPages(func(cursor string) ([]string, string) {
		if cursor != "" {
			page, next, a := p.later.page(cursor, as)
			return append(page, linesOf(a)...), next
		}
		a := p.Walk(p.of.Flow, as)
		page, next := entriesOf(a)
		return append(page, linesOf(a)...), next
	})
}

// linesOf returns the lines of the text of a completion.
func linesOf(a client.Answer) []string {
	if a.Kind != client.Completed {
		return nil
	}
	return strings.Split(a.Text, "\n")
}

// followOthers follows the cursors of each user as the other one, twice. It records a finding if both read an
// entry of the other's result that their own result has not. If only one does, he may be an administrator.
func (p flowPager) followOthers() {
	var last client.Answer
	entry := ""
	for _, pair := range slices.Repeat(review.UserPairs, 2) {
		theirs, cursors := p.all(pair[0])
		own, _ := p.all(pair[1])
		if len(cursors) == 0 {
			return
		}
		p.Trials++
		entries, _, a := p.later.page(cursors[0], pair[1])
		entries, last = append(entries, linesOf(a)...), a
		again, _ := p.all(pair[1]) // a list of what happened is longer now
		at := slices.IndexFunc(entries, func(e string) bool {
			return slices.Contains(theirs, e) && !slices.Contains(own, e) && !slices.Contains(again, e)
		})
		if at < 0 {
			return
		}
		entry = entries[at]
	}
	p.Fault(p.label(), review.Warning, "the cursor in a result of one user gives another user an entry that the own result has not: "+client.Short(entry, 80), last)
}
