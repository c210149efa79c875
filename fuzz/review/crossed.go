package review

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// crossed are the checks of answers that belong to another user or to another call.
var crossed = []Check{
	{ID: "R-USER", Name: "a resource of another user", Over: "http", Era: "modern", Severity: Critical, Category: "security",
		Sent: "resources/list as both users; a resource that one list has alone is read as the other user", Want: "refused", Source: "CWE-639; revision 2026-07-28, server/resources, security",
		Impact: "one user reads what belongs to another", Fix: "compare the owner of a resource with the user of the request", Run: foreignResources},
	{ID: "T-MIX", Name: "the answer to another call", Era: "modern", Severity: Critical, Category: "security",
		Sent: "calls that ask, and with --effects tools that read only, with a new word as an argument each time, and as both users in either order and under one id", Want: "an answer with the word of its call, and for its user", Source: "CWE-524; CWE-488",
		Impact: "a cache hands the answer of one call or user to another", Fix: "make the method, the target, all arguments and the user the key of the cache", Run: mixed},
}

// maxCrossed is the number of resources and calls that are tried.
const maxCrossed = 6

func foreignResources(t *T) {
	s := t.r.Report.Server
	if !s.has("resources") || len(t.r.opts.Target.Second) == 0 {
		t.skip("the server has no resources, or one user is known; --second gives another")
		return
	}
	lists := map[user][]string{}
	for _, as := range []user{first, second} {
		a := t.r.client.call(t.ctx, Call{Method: "resources/list", as: as})
		var r struct{ Resources []Offer }
		if a.Kind != completed || json.Unmarshal(a.Result, &r) != nil {
			t.skip("resources/list: %v", a)
			return
		}
		for _, x := range r.Resources {
			lists[as] = append(lists[as], x.URI)
		}
		t.trials++
	}
	for _, pair := range [][2]user{{first, second}, {second, first}} {
		alone := slices.DeleteFunc(slices.Clone(lists[pair[0]]), func(uri string) bool { return slices.Contains(lists[pair[1]], uri) })
		for _, uri := range alone[:min(len(alone), maxCrossed)] {
			own := t.r.client.call(t.ctx, Call{Method: "resources/read", Target: uri, as: pair[0]})
			a := t.r.client.call(t.ctx, Call{Method: "resources/read", Target: uri, as: pair[1]})
			t.seen(variant{name: uri}, a)
			if own.Kind == completed && a.Kind == completed && own.Text != "" && a.Text == own.Text {
				t.fault(uri, Critical, "a resource that one user's list has alone is read by the other user", a)
				return
			}
			if own.Kind == completed && a.refused() && string(members(own.Result)["cacheScope"]) == `"public"` {
				t.fault(uri, Warning, "cacheScope public on a resource that the other user may not read", own)
				return
			}
		}
	}
}

func mixed(t *T) {
	for i, f := range t.wordy() {
		if i == maxCrossed || t.only != "" && t.only != f.String() {
			continue
		}
		if t.ofAnotherCall(f) || len(t.r.opts.Target.Second) > 0 && (t.ofAnotherUser(f) || t.ofTheSameID(f)) {
			return
		}
	}
	if t.trials == 0 {
		t.skip("no call that may be made takes a text; --effects allows tools that read only")
	}
}

// wordy are the calls that take a text and change nothing: those that ask, prompts, and
// with effects tools that read only.
func (t *T) wordy() []Flow {
	all := slices.Clone(t.r.flows)
	for _, tool := range t.r.Report.Server.Tools {
		if tool.readOnly() && t.r.opts.Effects && tool.Name != t.r.opts.Slow {
			all = append(all, Flow{Method: "tools/call", Target: tool.Name, Arguments: samples(tool.Input, 0)[0], offer: tool})
		}
	}
	for _, f := range t.r.reads() {
		if f.Method == "prompts/get" {
			all = append(all, f)
		}
	}
	slices.SortStableFunc(all, func(a, b Flow) int { return strings.Compare(a.String(), b.String()) })
	all = slices.CompactFunc(all, func(a, b Flow) bool { return a.String() == b.String() })
	return slices.DeleteFunc(all, func(f Flow) bool { return !takesText(f) })
}

// word is a text that no call had before.
func (t *T) word() string {
	t.r.client.id++
	n := uint64(t.r.client.clock.Now().UnixNano()) + uint64(t.r.client.id)
	b := []byte("sealab")
	for range 10 {
		b = append(b, byte('a'+n%26))
		n /= 26
	}
	return string(b)
}

// said makes a call with a word and returns the texts of its answer; "" if there are none.
func (t *T) said(f Flow, word string, as user) (string, Answer) {
	a := t.r.client.call(t.ctx, f.with(withText(f.Arguments, f.offer.input(), word)).call(as))
	if t.seen(variant{name: f.String()}, a); a.Kind == asked {
		return a.questionTexts(), a
	}
	return a.Text, a // of another kind: ""
}

// replacedText is the text that a word takes the place of; "" if another argument or the
// offer has it as well.
func replacedText(f Flow) string {
	rest := string(withText(f.Arguments, f.offer.input(), markerA)) + strings.ToLower(f.Target+f.offer.Description)
	for _, raw := range members(f.Arguments) {
		var text string
		if json.Unmarshal(raw, &text) == nil && len(text) > 3 && !strings.Contains(rest, text) {
			return text
		}
	}
	return ""
}

// ofAnotherCall reports whether two later calls are answered with the word of an earlier
// one: a new word, or the text that the review called with until now.
func (t *T) ofAnotherCall(f Flow) bool {
	earlier := t.word()
	text, _ := t.said(f, earlier, first)
	if !strings.Contains(text, earlier) {
		if earlier = replacedText(f); earlier == "" || !strings.Contains(text, earlier) {
			return false
		}
	}
	var a Answer
	for range 2 {
		word := t.word()
		text, later := t.said(f, word, first)
		if a = later; !strings.Contains(text, earlier) || strings.Contains(text, word) {
			return false
		}
	}
	t.fault(f.String(), Critical, "a call is answered with the argument of an earlier one", a)
	return true
}

// ofAnotherUser makes each call as both users, in either order. It refutes if both get the
// same answer, and the order alone decides which.
func (t *T) ofAnotherUser(f Flow) bool {
	var texts [4]string
	var a Answer
	for i := range texts {
		word := t.word()
		users := []user{first, second}
		if i%2 == 1 {
			slices.Reverse(users)
		}
		one, _ := t.said(f, word, users[0])
		two, later := t.said(f, word, users[1])
		if a = later; one == "" || one != two {
			return false
		}
		texts[i] = strings.ReplaceAll(one, word, "")
	}
	if texts[0] != texts[2] || texts[1] != texts[3] || texts[0] == texts[1] {
		return false
	}
	t.fault(f.String(), Critical, fmt.Sprintf("a user gets the answer of the other one, if that one asked first: %s or %s", short(texts[0], 80), short(texts[1], 80)), a)
	return true
}

// ofTheSameID makes a call as each user under one id: clients count their requests alike. It
// refutes if the second user gets the word of the first, twice.
func (t *T) ofTheSameID(f Flow) bool {
	var a Answer
	for range 2 {
		one, two := t.word(), t.word()
		own, _ := t.said(f, one, first)
		t.r.client.id--
		text, later := t.said(f, two, second)
		if a = later; !strings.Contains(own, one) || !strings.Contains(text, one) || strings.Contains(text, two) {
			return false
		}
	}
	t.fault(f.String(), Critical, "a user gets the answer that another user got under the same id", a)
	return true
}
