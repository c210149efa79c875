package isolation

import (
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
)

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
