// Package isolation has the checks of calls that affect each other: answers, lists and cursors that
// belong to another user or call, and read-only tools that change other answers.
package isolation

import (
	"fmt"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// Checks returns the checks of isolation, in the order in which they run.
func Checks() []review.Check {
	return slices.Concat(isolationChecks, cursorChecks, flowCursorChecks, hintChecks, raceChecks, abandonedChecks)
}

// isolationChecks are the checks of answers that belong to another user or another call.
var isolationChecks = []review.Check{
	{
		ID: "R-USER", Name: "a resource of another user", Over: "http", Severity: review.Critical, Category: "security",
		Sent: "all pages of resources/list as both users; each cursor of one user as the other; a resource that " +
			"only one user's list contains, read, also at other spellings of its URI, and subscribed to as the " +
			"other user; the listed resources as the second user, while a call of the first waits for an answer; " +
			"with --effects subscriptions/listen to a resource of one user and its folder as the other one, while " +
			"the first carries out its calls",
		Want: "refuses the request; reveals no argument of the other user's call; tells a user of no change to " +
			"resources that it may not read; marks no resource of one user as cacheScope public",
		Source: "CWE-639; revision 2026-07-28, server/resources, security",
		Impact: "a user reads data that belongs to another",
		Fix: "look up the resource first, and compare its owner, and that of the cursor, with the user of the " +
			"request",
		Run: checkOtherUsersResources,
	},
	{
		ID: "T-USER", Name: "a tool or prompt of another user", Over: "http", Severity: review.Critical, Category: "security",
		Sent: "all pages of tools/list and prompts/list as both users; each cursor of one user as the other; a " +
			"prompt or a tool that only one user's list contains, called as the other user, if the tool asks or, " +
			"with --effects, is read-only; with --effects read-only tools as both users, also at once and with " +
			"identifiers from the texts of the other user, also in lists beside own ones, with those in the results of calls that the other user carries out (also to named tools that only read by their names), and with each listed value if the tool keeps one for some users; completions as each user, also beside values that only the " +
			"other one's completions have, and calls with the completed values",
		Want: "refuses the call; lists and completes only what belongs to the user; gives each user the answer that " +
			"it gets when alone",
		Source: "CWE-639; CWE-862; " + review.SourceTools,
		Impact: "a user calls or sees what belongs to another",
		Fix:    "look up tools in the list of the user of the request, and make the user a part of every cache key",
		Run:    checkOtherUsersTools,
	},
	{
		ID: "T-MIX", Name: "the answer to another call or user", Severity: review.Critical, Category: "security",
		Sent: "calls that ask and, with --effects, read-only tools, with a new word as an argument each time: one " +
			"after the other, as both users in either order, under one id, and four at once; the same calls, prompts and " +
			"resources as both users at once under one id; with --effects " +
			"tools that only read as both users in either order, with new values of any argument, " +
			"whole flows as both users in either order, also with new words in all answers or in one argument, the calls " +
			"that only read as the other user before and after the last answer of such a flow, and " +
			"tools that may change something as both users with one reference or idempotency key, also with another " +
			"value of an argument that only the first can read; " +
			"lists under one id; with --effects, flows whose last requests have one progressToken; completions as one user of a word that the other gave a prompt",
		Want: "answers each call with its own word, and for its own user; shows no text of a call to another user only " +
			"until the call is completed",
		Source: "CWE-524; CWE-488",
		Impact: "a user receives the answer to another call or another user",
		Fix: "use the method, the target, all arguments and the user as the cache key, keep no data of a call " +
			"in shared variables, and answer each request on its own connection, without a look at its id",
		Run: checkMixedAnswers,
	},
}

func checkOtherUsersResources(t *review.T) {
	s := t.Report.Server
	if !s.Has("resources") || len(t.Options.Target.Second) == 0 {
		t.Skip("the server has no resources, or one user is known; --second gives another")
		return
	}
	lists := listsOf(t, "resources/list", "resources")
	for _, list := range lists {
		if list.last.Kind != client.Completed {
			t.Skip("resources/list: %v", list.last)
			return
		}
	}
	if readOtherUsersPages(t, "resources/list", "resources", lists) || listsUnreadable(t, lists) {
		return
	}
	for _, pair := range review.UserPairs {
		mine := aloneIn(t, "resources/list", "resources", lists, pair)
		for _, o := range mine[:min(len(mine), review.MaxTestedCalls)] {
			own := t.Call(client.ReadResource(o.URI).By(pair[0]))
			a := t.Tried(t.Call(client.ReadResource(o.URI).By(pair[1])))
			if own.Kind == client.Completed && a.Kind == client.Completed && own.Text != "" && a.Text == own.Text {
				t.Fault(o.URI, review.Critical, "a resource that one user's list has alone is read by the other user", a)
				return
			}
			if own.Kind == client.Completed && a.Refused() && string(jsondoc.Members(own.Result)["cacheScope"]) == `"public"` {
				t.Fault(o.URI, review.Warning, "cacheScope public on a resource that the other user may not read", own)
				return
			}
			if own.Kind == client.Completed && own.Text != "" && a.Refused() && readsOtherSpelling(t, o.URI, own.Text, pair[1]) {
				return
			}
			if subscribesOtherUser(t, o.URI, pair[1]) {
				return
			}
		}
	}
	readOtherUsersWords(t)
	hearOthersUpdates(t, lists)
}

// maxReadResources is the number of resources of a list that listsUnreadable reads.
const maxReadResources = 24

// listsUnreadable reads the resources of each user's list. It records a finding if a list has a
// resource that its user may not read and the other user may. Servers that list everything to
// everyone may be intended to.
func listsUnreadable(t *review.T, lists map[client.User]userList) bool {
	for _, pair := range review.UserPairs {
		list := lists[pair[0]].offers
		for _, o := range list[:min(len(list), maxReadResources)] {
			own := t.Call(client.ReadResource(o.URI).By(pair[0]))
			if !own.Refused() {
				continue
			}
			other := t.Tried(t.Call(client.ReadResource(o.URI).By(pair[1])))
			if other.Kind != client.Completed || other.Text == "" {
				continue
			}
			severity := review.Suggestion
			if len(onlyInFirst(list, lists[pair[1]].offers))+len(onlyInFirst(lists[pair[1]].offers, list)) > 0 {
				severity = review.Warning
			}
			t.Fault("resources/list", severity, "the list of one user has "+client.Short(o.URI, 80)+", which only the other user may read", own)
			return true
		}
	}
	return false
}

func checkOtherUsersTools(t *review.T) {
	if len(t.Options.Target.Second) == 0 {
		t.Skip("one user is known; --second gives another")
		return
	}
	for _, method := range []string{"tools/list", "prompts/list"} {
		if member, _, _ := strings.Cut(method, "/"); callOtherUsersOffers(t, method, member) || listsOthersName(t, method, member) {
			return
		}
	}
	if listsOthersName(t, "resources/list", "resources"); len(t.Findings) == 0 {
		readConcurrently(t)
		readOwnAnswers(t)
	}
	testOthersCompletions(t)
}

// callOtherUsersOffers calls the offers that only one user's list has as the other user. It records
// a finding if the server serves both users.
func callOtherUsersOffers(t *review.T, method, member string) bool {
	lists := listsOf(t, method, member)
	if readOtherUsersPages(t, method, member, lists) {
		return true
	}
	for _, pair := range review.UserPairs {
		for _, o := range aloneIn(t, method, member, lists, pair) {
			if !mayCall(t, member, o) {
				continue
			}
			call := t.FlowOf(o).Call(pair[0])
			if member == "prompts" {
				call.Method = "prompts/get"
				call.Arguments, _ = t.PromptArguments(o)
			}
			own := t.Call(call)
			if a := t.Tried(t.Call(call.By(pair[1]))); own.Kind == a.Kind && a.Succeeded() {
				t.Fault(o.Name, review.Critical, fmt.Sprintf("%s, which the list of one user has alone, answers the other user", client.Short(o.Name, 60)), a)
				return true
			}
		}
	}
	return false
}

// mayCall reports whether an offer may be called: prompts, tools that ask and, with effects,
// read-only tools.
func mayCall(t *review.T, member string, o client.Offer) bool {
	asked := slices.ContainsFunc(t.Flows, func(f client.Flow) bool { return f.Method == "tools/call" && f.Target == o.Name })
	asks := asked || client.Mentions(o.Name+" "+o.Description, review.AskingWords) && !o.IsDestructive()
	return member == "prompts" || asks || t.Options.Effects && o.IsReadOnly()
}

// listsOthersName searches the list of each user for the name of the other. It records a finding if
// the offer with one user's name is also in the other user's list, which lacks one with its own
// user's name.
func listsOthersName(t *review.T, method, member string) bool {
	names := [2]string{client.NameOf(t.Options.Target, client.FirstUser), client.NameOf(t.Options.Target, client.SecondUser)}
	if names[0] == "" || names[1] == "" || names[0] == names[1] {
		return false
	}
	both := listsOf(t, method, member)
	lists := [2][]client.Offer{both[client.FirstUser].offers, both[client.SecondUser].offers}
	for i, reader := range []int{1, 0} {
		find := func(list []client.Offer, name string) int {
			return slices.IndexFunc(list, func(o client.Offer) bool {
				return client.HasWord(strings.ToLower(o.Name+" "+o.URI), strings.ToLower(name))
			})
		}
		own, other := find(lists[i], names[i]), find(lists[reader], names[i])
		if own >= 0 && other >= 0 && find(lists[reader], names[reader]) < 0 {
			o := lists[reader][other]
			t.Refute(review.Finding{Case: method, Severity: review.Warning,
				Issue:    fmt.Sprintf("%s shows one user what the other one is named in: %s", method, client.Short(strings.TrimSpace(o.Name+" "+o.URI), 100)),
				Evidence: fmt.Sprintf("%d offers of the one, %d of the other", len(lists[i]), len(lists[reader])), Want: "a list without the other user's offers", Got: "listed"})
			return true
		}
	}
	return false
}

func checkMixedAnswers(t *review.T) {
	if mixesLists(t) {
		return
	}
	for i, f := range t.Wordy() {
		if i == review.MaxTestedCalls || !t.Selected(f.String()) {
			continue
		}
		if answersEarlierCall(t, f) || len(t.Options.Target.Second) > 0 && (dependsOnUserOrder(t, f) || mixesEqualIDs(t, f) || leaksWord(t, f)) {
			return
		}
	}
	if mixesSharedIDs(t) || t.Options.Effects && mixesByProgressToken(t) {
		return
	}
	completeLearnedWords(t)
	effectsOfTwo := t.Options.Effects && len(t.Options.Target.Second) > 0
	if len(t.Findings) == 0 && !(effectsOfTwo && (mixesResults(t) || mixesReadings(t) || leaksWordsOfRounds(t) || showsOpenAnswers(t) || leaksWordOfConflict(t) || leaksReceipt(t))) {
		testConcurrentCalls(t)
	}
	t.SkipUntried("no call that may be made takes a text; --effects allows tools that read only")
}

// callWithWord makes a call with a word and returns the texts of its answer, or "".
func callWithWord(t *review.T, f client.Flow, word string, as client.User) (string, client.Answer) {
	a := t.Tried(t.Call(f.With(f.ArgumentsWith(word)).Call(as)))
	if a.Kind == client.Asked {
		return a.QuestionTexts(), a
	}
	return a.Text, a // "" for other kinds
}

// replacedText returns the argument text that a word replaces. It returns "" if another argument or
// the offer contains this text as well.
func replacedText(f client.Flow) string {
	rest := string(f.ArgumentsWith(review.MarkerA)) + strings.ToLower(f.Target+f.Offer.Description)
	for _, raw := range jsondoc.InOrder(jsondoc.Members(f.Arguments)) {
		if text, ok := jsondoc.Text(raw); ok && len(text) > 3 && !strings.Contains(rest, text) {
			return text
		}
	}
	return ""
}

// answersEarlierCall reports whether two later calls are answered with the word of an earlier one.
// That is a new word, or the text of the review's earlier calls.
func answersEarlierCall(t *review.T, f client.Flow) bool {
	earlier := t.Word()
	text, _ := callWithWord(t, f, earlier, client.FirstUser)
	if !strings.Contains(text, earlier) {
		if earlier = replacedText(f); earlier == "" || !strings.Contains(text, earlier) {
			return false
		}
	}
	var a client.Answer
	for range 2 {
		word := t.Word()
		text, later := callWithWord(t, f, word, client.FirstUser)
		if a = later; !strings.Contains(text, earlier) || strings.Contains(text, word) {
			return false
		}
	}
	if other, ok := withNewReferences(t, f); ok {
		if text, _ := callWithWord(t, other, t.Word(), client.FirstUser); !strings.Contains(text, earlier) {
			return false // the result of a call may be kept for its reference
		}
	}
	t.Fault(f.String(), review.Critical, "a call is answered with the argument of an earlier one", a)
	return true
}

// dependsOnUserOrder makes a call as both users in either order. It records a finding if both get
// the same answer and the answer depends on the order.
func dependsOnUserOrder(t *review.T, f client.Flow) bool {
	var texts [4]string
	var a client.Answer
	for i := range texts {
		word := t.Word()
		users := review.UserPairs[i%2]
		one, _ := callWithWord(t, f, word, users[0])
		two, later := callWithWord(t, f, word, users[1])
		if a = later; one == "" || one != two {
			return false
		}
		texts[i] = strings.ReplaceAll(one, word, "")
	}
	if texts[0] != texts[2] || texts[1] != texts[3] || texts[0] == texts[1] {
		return false
	}
	t.Fault(f.String(), review.Critical, fmt.Sprintf("a user gets the answer of the other one, if that one asked first: %s or %s", client.Short(texts[0], 80), client.Short(texts[1], 80)), a)
	return true
}

// mixesEqualIDs makes a call as each user under one ID, because clients may use the same IDs. It
// records a finding if the second user gets the word of the first, twice.
func mixesEqualIDs(t *review.T, f client.Flow) bool {
	var a client.Answer
	for range 2 {
		one, two := t.Word(), t.Word()
		own, _ := callWithWord(t, f, one, client.FirstUser)
		t.Client.ID--
		text, later := callWithWord(t, f, two, client.SecondUser)
		if a = later; !strings.Contains(own, one) || !strings.Contains(text, one) || strings.Contains(text, two) {
			return false
		}
	}
	t.Fault(f.String(), review.Critical, "a user gets the answer that another user got under the same id", a)
	return true
}

// leaksWord makes a call as the first user and then as the second. It records a finding if
// the second answer contains the first user's word, twice.
func leaksWord(t *review.T, f client.Flow) bool {
	var a client.Answer
	for range 2 {
		one, two := t.Word(), t.Word()
		callWithWord(t, f, one, client.FirstUser)
		text, later := callWithWord(t, f, two, client.SecondUser)
		if a = later; !strings.Contains(text, one) {
			return false
		}
	}
	t.Fault(f.String(), review.Critical, "the answer to one user has the argument of another", a)
	return true
}

// mixesLists asks for lists under one ID: two lists as one user, and one list as each user. It
// records a finding if the second answer is that to the first request, twice. Sessions do not allow
// an ID to be reused.
func mixesLists(t *review.T) bool {
	if t.Client.HTTP == nil || !t.Modern() || !t.Selected("lists") {
		return false
	}
	one, two := client.Call{Method: "tools/list", As: client.FirstUser}, client.Call{Method: "prompts/list", As: client.FirstUser}
	if s := t.Report.Server; s.Has("tools") && s.Has("prompts") && repeatsUnderID(t, one, two) {
		return true
	}
	for _, method := range []string{"tools/list", "prompts/list", "resources/list"} {
		if one := (client.Call{Method: method, As: client.FirstUser}); len(t.Options.Target.Second) > 0 && repeatsUnderID(t, one, client.Call{Method: method, As: client.SecondUser}) {
			return true
		}
	}
	return false
}

// repeatsUnderID makes two calls under different IDs and under one. It records a finding if the
// second call gets the answer of the first only under one ID, twice.
func repeatsUnderID(t *review.T, one, two client.Call) bool {
	ask := func(c client.Call) client.Answer { return t.Tried(t.Call(c)) }
	var a client.Answer
	for range 2 {
		own, apart := ask(one), ask(two)
		again := ask(one)
		t.Client.ID--
		a = ask(two)
		if own.Kind != client.Completed || a.Kind != client.Completed || string(again.Result) != string(own.Result) || string(a.Result) != string(own.Result) || string(apart.Result) == string(own.Result) {
			return false
		}
	}
	t.Fault("lists", review.Critical, fmt.Sprintf("%s gets the answer to an earlier request with the same id", two.Method), a)
	return true
}
