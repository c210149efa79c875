package isolation

import (
	"fmt"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/internal/rawmcp"
)

// A userList is a list as one user sees it, with the cursors of its pages.
type userList struct {
	offers  []client.Offer
	cursors []string
	last    client.Answer // the last page
}

// listsOf reads all pages of a list as each user.
func listsOf(t *review.T, method, member string) map[client.User]userList {
	lists := map[client.User]userList{}
	for _, as := range client.BothUsers {
		var all userList
		all.offers, all.cursors = allPages(func(cursor string) ([]client.Offer, string) {
			all.last = t.Tried(t.Call(client.Call{Method: method, Cursor: cursor, As: as}))
			return client.OffersIn(all.last, member)
		})
		lists[as] = all
	}
	return lists
}

// allPages returns the entries of all pages and the cursors between them. It stops at a cursor that
// repeats an earlier one.
func allPages[E any](page func(cursor string) (entries []E, next string)) (entries []E, cursors []string) {
	for cursor := ""; len(cursors) < review.MaxPages; {
		more, next := page(cursor)
		if entries = append(entries, more...); next == "" || slices.Contains(cursors, next) {
			break
		}
		cursor, cursors = next, append(cursors, next)
	}
	return entries, cursors
}

// onlyInFirst returns the offers of one list that are missing from another.
func onlyInFirst(one, other []client.Offer) []client.Offer {
	return slices.DeleteFunc(slices.Clone(one), func(o client.Offer) bool {
		return slices.ContainsFunc(other, func(x client.Offer) bool { return x.URI == o.URI && (x.URI != "" || x.Name == o.Name) })
	})
}

// aloneIn returns the offers that only the list of the first of two users has, also if the lists are read
// again: some lists change between two calls.
func aloneIn(t *review.T, method, member string, lists map[client.User]userList, pair [2]client.User) []client.Offer {
	alone := onlyInFirst(lists[pair[0]].offers, lists[pair[1]].offers)
	if len(alone) == 0 {
		return nil
	}
	again := listsOf(t, method, member)
	still := onlyInFirst(again[pair[0]].offers, again[pair[1]].offers)
	return slices.DeleteFunc(alone, func(o client.Offer) bool { return len(onlyInFirst([]client.Offer{o}, still)) > 0 })
}

// readOtherUsersPages asks for the pages of each user's list as the other user. It records a
// finding if a page has an offer that only the owner's list has.
func readOtherUsersPages(t *review.T, method, member string, lists map[client.User]userList) bool {
	for _, pair := range review.UserPairs {
		theirs := aloneIn(t, method, member, lists, pair)
		for _, cursor := range lists[pair[0]].cursors[:min(len(lists[pair[0]].cursors), review.MaxTestedCalls)] {
			a := t.Tried(t.Call(client.Call{Method: method, Cursor: cursor, As: pair[1]}))
			page, _ := client.OffersIn(a, member)
			for _, o := range page {
				if len(onlyInFirst([]client.Offer{o}, theirs)) == 0 {
					t.Fault(method, review.Critical, "the cursor of one user gives the other one a page of that user's list, with "+client.Short(o.Name+" "+o.URI, 80), a)
					return true
				}
			}
		}
	}
	return false
}

// subscribesOtherUser subscribes a user to a resource of the other user, and to one that does not
// exist. It records a finding if the server agrees only to the first.
func subscribesOtherUser(t *review.T, uri string, as client.User) bool {
	if !t.Modern() {
		return false // older revisions use another method
	}
	agreed, _, e := subscribes(t, uri, as)
	if !agreed {
		return false
	}
	if _, declined, _ := subscribes(t, client.MissingURI, as); declined {
		t.Refute(review.Finding{Case: uri, Severity: review.Warning,
			Issue:    "a user is subscribed to a resource that the list of the other one has alone",
			Evidence: review.SentText(e) + " -> " + client.Short(string(e.Body), 300), Want: "no subscription, as for unknown resources", Got: "agreed to"})
		return true
	}
	return false
}

// acknowledged is the method of the first message of a subscription.
const acknowledged = "notifications/subscriptions/acknowledged"

// subscribes asks for a subscription to a resource and reports whether the server agrees to it or declines
// it. If no answer arrives in time, it does neither.
func subscribes(t *review.T, uri string, as client.User) (agreed, declined bool, _ *rawmcp.Exchange) {
	c := t.Client
	body, err := c.ListenBody(map[string][]string{"resourceSubscriptions": {uri}})
	if err != nil {
		return false, false, nil
	}
	answers := client.IsAnswer(c.ID)
	decides := func(m []byte) bool { return strings.Contains(string(m), acknowledged) || answers(m) }
	e := c.Raw(t.Context, rawmcp.Request{Verb: "POST", Path: c.HTTP.Path(), Headers: c.Headers(t.Context, client.Listen.By(as)), Body: body, Done: decides})
	i := slices.IndexFunc(e.Messages, decides)
	if i < 0 {
		return false, false, e
	}
	agreed = !answers(e.Messages[i]) && strings.Contains(string(e.Messages[i]), uri)
	return agreed, !agreed, e
}

// completeLearnedWords gives words to the arguments of prompts as one user and asks for completions
// of them as the other. It records a finding if a word is completed.
func completeLearnedWords(t *review.T) {
	s := t.Report.Server
	if !s.Has("completions") || len(t.Options.Target.Second) == 0 || t.Client.HTTP == nil {
		return
	}
	for _, p := range s.Prompts[:min(len(s.Prompts), review.MaxTestedCalls)] {
		for _, argument := range p.Arguments {
			word, ref := t.Word(), client.PromptRef(p.Name)
			given, _ := t.PromptArguments(p)
			t.Call(client.Call{Method: "prompts/get", Target: p.Name, Arguments: jsondoc.WithMember(given, argument.Name, jsondoc.Quote(word)), As: client.FirstUser})
			a, ok := t.Completion(client.SecondUser, ref, argument.Name, word[:len(word)-4])
			if ok && slices.Contains(a.Completions(), word) {
				t.Refute(review.Finding{Case: "completions", Severity: review.Critical, Issue: "completions give one user what the other one gave to " + client.Short(p.Name+" "+argument.Name, 60),
					Evidence: fmt.Sprintf("the first user gave %s; then, to the second: %s -> %s", word, review.SentText(a.Exchange),
						client.Short(string(a.Result), 300)), Want: "no value of another user", Got: "completed"})
				return
			}
		}
	}
}

// readsOtherSpelling reads a resource that a user may not read at other spellings of its URI. It
// records a finding if one gives the text of the resource, twice, while the URI itself is refused
// and one that is longer does not give that text.
func readsOtherSpelling(t *review.T, uri, text string, as client.User) bool {
	shows := func(spelled string) (client.Answer, bool) {
		a := t.Tried(t.Call(client.ReadResource(spelled).By(as)))
		return a, a.Kind == client.Completed && strings.ReplaceAll(a.Text, spelled, uri) == text
	}
	for _, spelled := range uriSpellings(uri) {
		if _, does := shows(spelled); !does {
			continue
		}
		if a, _ := shows(uri); !a.Refused() {
			return false
		}
		if _, any := shows(uri + "-" + t.Word()); any {
			return false
		}
		if a, again := shows(spelled); again {
			t.Fault(uri, review.Critical, "a user who is refused a resource reads it at "+client.Short(spelled, 100), a)
			return true
		}
	}
	return false
}

// uriSpellings returns spellings of a URI that a server may find under the same name.
func uriSpellings(uri string) []string {
	scheme, rest, ok := strings.Cut(strings.TrimRight(uri, "/"), "://")
	at := strings.LastIndexByte(rest, '/') + 1
	folder, name := scheme+"://"+rest[:at], rest[at:]
	if !ok || name == "" {
		return nil
	}
	encoded := ""
	for _, b := range []byte(name) {
		encoded += fmt.Sprintf("%%%02x", b)
	}
	return slices.DeleteFunc([]string{
		folder + strings.ToUpper(name[:1]) + name[1:], folder + strings.ToUpper(name), folder + strings.ToLower(name),
		strings.ToUpper(scheme) + "://" + rest, uri + "/", uri + "//", uri + "/.", folder + "/" + name, folder + "./" + name, folder + "sealab/../" + name,
		folder + "%2e/" + name, folder + encoded[:3] + name[1:], folder + encoded, scheme + "://" + strings.ReplaceAll(rest, "/", "%2F"),
		uri + "%20", uri + " ", uri + ".", uri + "?", uri + "?sealab", uri + "#", uri + ";sealab", uri + "%00",
	}, func(spelled string) bool { return spelled == uri })
}
