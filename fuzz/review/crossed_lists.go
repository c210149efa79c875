package review

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sealab/internal/rawmcp"
)

// A userList is a list as one user has it, with the cursors of its pages.
type userList struct {
	offers  []Offer
	cursors []string
	last    Answer // to the last page
}

// listsOf reads all pages of a list as both users.
func (t *T) listsOf(method, member string) map[user]userList {
	lists := map[user]userList{}
	for _, as := range []user{first, second} {
		var all userList
		for call := (Call{Method: method, as: as}); len(all.cursors) < maxPages; {
			all.last = t.r.client.call(t.ctx, call)
			t.seen(variant{name: method}, all.last)
			page, next := pageOf(all.last, member)
			if all.offers = append(all.offers, page...); next == "" || next == call.Cursor {
				break
			}
			call.Cursor = next
			all.cursors = append(all.cursors, next)
		}
		lists[as] = all
	}
	return lists
}

// pageOf returns the offers of a page, and the cursor of the next one.
func pageOf(a Answer, member string) (page []Offer, next string) {
	m := members(a.Result)
	_ = json.Unmarshal(m[member], &page) // of another form: none
	_ = json.Unmarshal(m["nextCursor"], &next)
	return page, next
}

// alone are the offers of one list that another has not.
func alone(one, other []Offer) []Offer {
	return slices.DeleteFunc(slices.Clone(one), func(o Offer) bool {
		return slices.ContainsFunc(other, func(x Offer) bool { return x.URI == o.URI && (x.URI != "" || x.Name == o.Name) })
	})
}

// foreignPages asks for the pages of each user's list as the other one. It refutes if a page
// has what the list of its owner has alone.
func (t *T) foreignPages(method, member string, lists map[user]userList) bool {
	for _, pair := range [][2]user{{first, second}, {second, first}} {
		theirs := alone(lists[pair[0]].offers, lists[pair[1]].offers)
		for _, cursor := range lists[pair[0]].cursors[:min(len(lists[pair[0]].cursors), maxCrossed)] {
			a := t.r.client.call(t.ctx, Call{Method: method, Cursor: cursor, as: pair[1]})
			t.seen(variant{name: method}, a)
			page, _ := pageOf(a, member)
			for _, o := range page {
				if len(alone([]Offer{o}, theirs)) == 0 {
					t.fault(method, Critical, "the cursor of one user gives the other one a page of that user's list, with "+short(o.Name+" "+o.URI, 80), a)
					return true
				}
			}
		}
	}
	return false
}

// subscribes subscribes a user to a resource of the other one, and to one that nobody has. It
// refutes if the first alone is agreed to.
func (t *T) subscribes(uri string, as user) bool {
	if !t.r.modern() {
		return false // the older revisions subscribe otherwise
	}
	if agreed, e := t.agreedTo(uri, as); agreed {
		if none, _ := t.agreedTo(missingURI, as); !none {
			t.refute(Finding{Case: uri, Severity: Warning, Issue: "a user is subscribed to a resource that the list of the other one has alone", Evidence: sent(e) + " -> " + short(string(e.Body), 300), Want: "no subscription, as for unknown resources", Got: "agreed to"})
			return true
		}
	}
	return false
}

// agreedTo reports whether a subscription to a resource is acknowledged with it.
func (t *T) agreedTo(uri string, as user) (bool, *rawmcp.Exchange) {
	c := t.r.client
	call := Call{Method: "subscriptions/listen", as: as}
	c.id++
	body, err := json.Marshal(message{"2.0", c.id, call.Method, map[string]any{"_meta": call.meta(), "notifications": map[string][]string{"resourceSubscriptions": {uri}}}})
	if err != nil {
		return false, nil
	}
	const acknowledged = "notifications/subscriptions/acknowledged"
	named := func(m []byte) bool { return strings.Contains(string(m), acknowledged) }
	e := c.raw(t.ctx, rawmcp.Request{Verb: "POST", Path: c.http.Path(), Headers: c.callHeaders(t.ctx, call), Body: body, Done: func(m []byte) bool { return named(m) || isAnswer(c.id)(m) }})
	i := slices.IndexFunc(e.Messages, named)
	return i >= 0 && strings.Contains(string(e.Messages[i]), uri), e
}

// learned gives words to the arguments of prompts as one user and asks for completions of
// them as the other. It refutes if a word is completed.
func (t *T) learned() {
	s := t.r.Report.Server
	if !s.has("completions") || len(t.r.opts.Target.Second) == 0 || t.r.client.http == nil {
		return
	}
	for _, p := range s.Prompts[:min(len(s.Prompts), maxCrossed)] {
		for _, argument := range p.Arguments {
			word, ref := t.word(), map[string]string{"type": "ref/prompt", "name": p.Name}
			given := members(promptArguments(p))
			t.r.client.call(t.ctx, Call{Method: "prompts/get", Target: p.Name, Arguments: object(with(given, argument.Name, quote(word))), as: first})
			a, ok := t.completion(second, ref, argument.Name, word[:len(word)-4])
			if ok && slices.Contains(completionValues(a), word) {
				t.refute(Finding{Case: "completions", Severity: Critical, Issue: "completions give one user what the other one gave to " + short(p.Name+" "+argument.Name, 60),
					Evidence: fmt.Sprintf("the first user gave %s; then, to the second: %s -> %s", word, sent(a.Exchange), short(string(a.Result), 300)), Want: "no value of another user", Got: "completed"})
				return
			}
		}
	}
}

// cursorsAsStates presents the cursors of lists as states: a server may seal both alike.
func (t *T) cursorsAsStates() {
	for _, method := range sortedKeys(t.r.Report.Server.lists) {
		if _, cursor := pageOf(t.r.Report.Server.lists[method], ""); cursor == "" || len(t.findings) > 0 {
			continue
		}
		t.otherText("a cursor of "+method, func() string {
			_, cursor := pageOf(t.r.client.call(t.ctx, Call{Method: method}), "")
			return cursor
		})
	}
}
