package review

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// crossed are the checks of answers that belong to another user or to another call.
var crossed = []Check{
	{ID: "R-USER", Name: "a resource of another user", Over: "http", Severity: Critical, Category: "security",
		Sent: "all pages of resources/list as both users; a resource that one list has alone is read, and subscribed to, as the other user; each cursor of one user as the other", Want: "refused", Source: "CWE-639; revision 2026-07-28, server/resources, security",
		Impact: "one user reads what belongs to another", Fix: "compare the owner of a resource, and of a cursor, with the user of the request", Run: foreignResources},
	{ID: "T-USER", Name: "a tool or prompt of another user", Over: "http", Severity: Critical, Category: "security",
		Sent: "all pages of tools/list and prompts/list as both users; each cursor of one user as the other; a tool or prompt that one list has alone is called as the other user, if it asks, or with --effects reads only", Want: "refused; no list with the other user's offers", Source: "CWE-639; CWE-862; " + toolsSpec,
		Impact: "one user calls, or sees, what belongs to another", Fix: "find tools in the list of the user of the request, and make the user a part of the key of caches of lists", Run: foreignTools},
	{ID: "T-MIX", Name: "the answer to another call", Severity: Critical, Category: "security",
		Sent: "calls that ask, and with --effects tools that read only, with a new word as an argument each time, as both users in either order and under one id, and four at once; lists under one id; completions of a word that the other user gave a prompt", Want: "an answer with the word of its call, and for its user", Source: "CWE-524; CWE-488",
		Impact: "a cache hands the answer of one call or user to another", Fix: "make the method, the target, all arguments and the user the key of the cache, and keep nothing of a call in variables that all calls share", Run: mixed},
}

// maxCrossed is the number of resources and calls that are tried.
const maxCrossed = 6

func foreignResources(t *T) {
	s := t.r.Report.Server
	if !s.has("resources") || len(t.r.opts.Target.Second) == 0 {
		t.skip("the server has no resources, or one user is known; --second gives another")
		return
	}
	lists := t.listsOf("resources/list", "resources")
	for _, list := range lists {
		if list.last.Kind != completed {
			t.skip("resources/list: %v", list.last)
			return
		}
	}
	if t.foreignPages("resources/list", "resources", lists) {
		return
	}
	for _, pair := range [][2]user{{first, second}, {second, first}} {
		mine := alone(lists[pair[0]].offers, lists[pair[1]].offers)
		for _, o := range mine[:min(len(mine), maxCrossed)] {
			own := t.r.client.call(t.ctx, Call{Method: "resources/read", Target: o.URI, as: pair[0]})
			a := t.r.client.call(t.ctx, Call{Method: "resources/read", Target: o.URI, as: pair[1]})
			t.seen(variant{name: o.URI}, a)
			if own.Kind == completed && a.Kind == completed && own.Text != "" && a.Text == own.Text {
				t.fault(o.URI, Critical, "a resource that one user's list has alone is read by the other user", a)
				return
			}
			if own.Kind == completed && a.refused() && string(members(own.Result)["cacheScope"]) == `"public"` {
				t.fault(o.URI, Warning, "cacheScope public on a resource that the other user may not read", own)
				return
			}
			if t.subscribes(o.URI, pair[1]) {
				return
			}
		}
	}
}

func foreignTools(t *T) {
	if len(t.r.opts.Target.Second) == 0 {
		t.skip("one user is known; --second gives another")
		return
	}
	for _, method := range []string{"tools/list", "prompts/list"} {
		member, _, _ := strings.Cut(method, "/")
		if t.foreignOffers(method, member) || t.othersName(method, member) {
			return
		}
	}
	t.othersName("resources/list", "resources")
}

// foreignOffers calls what the list of one user has alone as the other user. It refutes if
// that is served to both.
func (t *T) foreignOffers(method, member string) bool {
	lists := t.listsOf(method, member)
	if t.foreignPages(method, member, lists) {
		return true
	}
	for _, pair := range [][2]user{{first, second}, {second, first}} {
		for _, o := range alone(lists[pair[0]].offers, lists[pair[1]].offers) {
			if !t.mayCall(member, o) {
				continue
			}
			call := Call{Method: "tools/call", Target: o.Name, Arguments: samples(o.Input, 0)[0], as: pair[0]}
			if member == "prompts" {
				call.Method, call.Arguments = "prompts/get", promptArguments(o)
			}
			own := t.r.client.call(t.ctx, call)
			call.as = pair[1]
			a := t.r.client.call(t.ctx, call)
			t.seen(variant{name: o.Name}, a)
			if own.Kind == a.Kind && (a.Kind == completed || a.Kind == asked) {
				t.fault(o.Name, Critical, fmt.Sprintf("%s, which the list of one user has alone, answers the other user", short(o.Name, 60)), a)
				return true
			}
		}
	}
	return false
}

// mayCall reports whether an offer may be called: prompts, tools that ask, and with
// effects tools that read only.
func (t *T) mayCall(member string, o Offer) bool {
	asks := mentions(o.Name+" "+o.Description, asking) && !o.destructive()
	return member == "prompts" || asks || t.r.opts.Effects && o.readOnly()
}

// promptArguments are the required arguments of a prompt.
func promptArguments(o Offer) json.RawMessage {
	args := map[string]json.RawMessage{}
	for _, a := range o.Arguments {
		if a.Required {
			args[a.Name] = quote("probe")
		}
	}
	return object(args)
}

// othersName searches the list of each user for the name of the other. It refutes if an
// offer of both lists has the name of one user, and no offer has that of the other one.
func (t *T) othersName(method, member string) bool {
	names := [2]string{nameOf(t.r.opts.Target, first), nameOf(t.r.opts.Target, second)}
	if names[0] == "" || names[1] == "" || names[0] == names[1] {
		return false
	}
	both := t.listsOf(method, member)
	lists := [2][]Offer{both[first].offers, both[second].offers}
	for i, reader := range []int{1, 0} {
		find := func(list []Offer, name string) int {
			return slices.IndexFunc(list, func(o Offer) bool { return hasWord(o.Name+" "+o.URI, name) })
		}
		own, other := find(lists[i], names[i]), find(lists[reader], names[i])
		if own >= 0 && other >= 0 && find(lists[reader], names[reader]) < 0 {
			o := lists[reader][other]
			t.refute(Finding{Case: method, Severity: Warning, Issue: fmt.Sprintf("%s shows one user what the other one is named in: %s", method, short(strings.TrimSpace(o.Name+" "+o.URI), 100)),
				Evidence: fmt.Sprintf("%d offers of the one, %d of the other", len(lists[i]), len(lists[reader])), Want: "a list without the other user's offers", Got: "listed"})
			return true
		}
	}
	return false
}

// hasWord reports whether a text has a word, between characters that are no letters.
func hasWord(text, word string) bool {
	letter := func(r rune) bool { return r < 'a' || r > 'z' }
	return slices.Contains(strings.FieldsFunc(strings.ToLower(text), letter), strings.ToLower(word))
}

func mixed(t *T) {
	if t.listsMixed() {
		return
	}
	for i, f := range t.wordy() {
		if i == maxCrossed || t.only != "" && t.only != f.String() {
			continue
		}
		if t.ofAnotherCall(f) || len(t.r.opts.Target.Second) > 0 && (t.ofAnotherUser(f) || t.ofTheSameID(f) || t.withAnothersWord(f)) {
			return
		}
	}
	if t.learned(); len(t.findings) == 0 {
		t.mixedAtOnce()
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

// withAnothersWord makes a call as the first user and then as the second. It refutes if the
// second answer has both words: twice.
func (t *T) withAnothersWord(f Flow) bool {
	var a Answer
	for range 2 {
		one, two := t.word(), t.word()
		t.said(f, one, first)
		text, later := t.said(f, two, second)
		if a = later; !strings.Contains(text, one) {
			return false
		}
	}
	t.fault(f.String(), Critical, "the answer to one user has the argument of another", a)
	return true
}

// listsMixed asks for lists under one id: two of one user, and one as each user. It refutes
// if the second answer is that to the first request, twice. Sessions forbid to use an id again.
func (t *T) listsMixed() bool {
	if t.r.client.http == nil || !t.r.modern() || t.only != "" && t.only != "lists" {
		return false
	}
	one, two := Call{Method: "tools/list", as: first}, Call{Method: "prompts/list", as: first}
	if s := t.r.Report.Server; s.has("tools") && s.has("prompts") && t.repeatsUnderID(one, two) {
		return true
	}
	for _, method := range []string{"tools/list", "prompts/list", "resources/list"} {
		if one := (Call{Method: method, as: first}); len(t.r.opts.Target.Second) > 0 && t.repeatsUnderID(one, Call{Method: method, as: second}) {
			return true
		}
	}
	return false
}

// repeatsUnderID makes two calls, under ids of their own and under one, and refutes if the
// second is answered otherwise under one id alone: as the first, twice.
func (t *T) repeatsUnderID(one, two Call) bool {
	ask := func(c Call) Answer {
		a := t.r.client.call(t.ctx, c)
		t.seen(variant{name: "lists"}, a)
		return a
	}
	var a Answer
	for range 2 {
		own, apart := ask(one), ask(two)
		again := ask(one)
		t.r.client.id--
		a = ask(two)
		if own.Kind != completed || a.Kind != completed || string(again.Result) != string(own.Result) || string(a.Result) != string(own.Result) || string(apart.Result) == string(own.Result) {
			return false
		}
	}
	t.fault("lists", Critical, fmt.Sprintf("%s gets the answer to an earlier request with the same id", two.Method), a)
	return true
}
