package isolation

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/internal/rawmcp"
)

// maxPrivateUpdates is the number of resources of a user that the other one listens to.
const maxPrivateUpdates = 2

// hearOthersUpdates carries out the flows as each user, while the user itself and then the other one
// listens. It records a finding if the other one hears, twice, of a resource that it may not read.
func hearOthersUpdates(t *review.T, lists map[client.User]userList) {
	if !t.Options.Effects || !t.Modern() || len(t.Findings) > 0 || !t.Selected("updates") {
		return
	}
	for _, pair := range review.UserPairs {
		named := namedByCalls(t, pair, lists)
		change := func() { carryOut(t, pair[0]) }
		private := func(uri string) bool {
			return servesFirstAlone(t, client.ReadResource(uri), pair)
		}
		own := slices.DeleteFunc(updatesDuring(t, named, pair[0], change), func(uri string) bool { return !private(uri) })
		for _, uri := range own[:min(len(own), maxPrivateUpdates)] {
			for _, filter := range []string{uri, folderOf(uri)} {
				first, second := updatesDuring(t, []string{filter}, pair[1], change), updatesDuring(t, []string{filter}, pair[1], change)
				if i := slices.IndexFunc(first, func(told string) bool { return slices.Contains(second, told) && private(told) }); i >= 0 {
					t.Refute(review.Finding{Case: "updates", Severity: review.Warning, Issue: "a user hears of changes to a resource that only the other one may read",
						Evidence: fmt.Sprintf("subscriptions/listen to %s as one user, then calls of the other -> notifications/resources/updated of %s", client.Short(filter, 100), client.Short(first[i], 100)),
						Want:     "no notification", Got: "a notification"})
					return
				}
			}
		}
	}
}

// namedByCalls returns URIs that may name resources which the calls of the first user change.
func namedByCalls(t *review.T, pair [2]client.User, lists map[client.User]userList) []string {
	var texts [2]string
	for i, as := range pair {
		texts[i] = strings.Join(carryOut(t, as), "\n")
	}
	if texts[0] == "" {
		return nil
	}
	named := namedURIs(t, slices.DeleteFunc(wordsIn(texts[0]), func(word string) bool { return slices.Contains(wordsIn(texts[1]), word) }))
	for _, o := range lists[pair[0]].offers {
		named = append(named, o.URI)
	}
	return named
}

// carryOut walks the flows of tools to their ends and returns the texts of their results.
func carryOut(t *review.T, as client.User) []string {
	var all []string
	for _, o := range t.Oracles[:min(len(t.Oracles), review.MaxTestedCalls)] {
		if o.Flow.Method == "tools/call" && o.Flow.Last != nil {
			all = append(all, t.Walk(o.Flow, as).Text)
		}
	}
	return all
}

// wordsIn returns the words of a text.
func wordsIn(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_' })
}

// maxNamedURIs is the number of URIs that namedURIs returns.
const maxNamedURIs = 18

// namedURIs returns URIs that templates give with words and with the texts of arguments, each with its
// folder.
func namedURIs(t *review.T, words []string) []string {
	words = words[:min(len(words), review.MaxTestedCalls)]
	for _, o := range t.Oracles {
		for _, raw := range jsondoc.InOrder(jsondoc.Members(o.Flow.Arguments)) {
			if text, ok := jsondoc.Text(raw); ok && !slices.Contains(words, text) {
				words = append(words, text)
			}
		}
	}
	var all []string
	var fill func(uri string)
	fill = func(uri string) {
		at := review.TemplateParameter.FindStringIndex(uri)
		if at == nil && !slices.Contains(all, folderOf(uri)) {
			all = append(all, folderOf(uri))
		}
		if at == nil {
			all = append(all, uri)
			return
		}
		for _, word := range words {
			fill(uri[:at[0]] + word + uri[at[1]:])
		}
	}
	for _, x := range t.Report.Server.Templates[:min(len(t.Report.Server.Templates), 2)] {
		fill(x.URI)
	}
	return all[:min(len(all), maxNamedURIs)]
}

// folderOf returns a URI up to its last slash.
func folderOf(uri string) string { return uri[:strings.LastIndexByte(uri, '/')+1] }

// A resourceNotice is a message of a subscription to resources.
type resourceNotice struct {
	Method string
	Params struct {
		URI           string
		Notifications struct {
			URIs []string `json:"resourceSubscriptions"`
		}
	}
}

// updatesDuring listens to URIs as a user while change runs, and for a short time after it. It returns
// the URIs of resources that the server says were updated.
func updatesDuring(t *review.T, uris []string, as client.User, change func()) []string {
	c := t.Client
	body, err := c.ListenBody(map[string][]string{"resourceSubscriptions": uris})
	if len(uris) == 0 || err != nil || c.Take(t.Context) != nil {
		return nil
	}
	ctx, cancel := context.WithCancel(t.Context)
	defer cancel()
	opened, ended := make(chan bool, 1), make(chan []string, 1)
	http, isAnswer := *c.HTTP, client.IsAnswer(c.ID)
	http.Limits.Time = t.Options.Hang
	request := rawmcp.Request{Verb: "POST", Path: http.Path(), Headers: c.Headers(t.Context, client.Listen.By(as)), Body: body}
	go func() {
		var updated []string
		request.Done = func(m []byte) bool {
			var n resourceNotice
			_ = json.Unmarshal(m, &n) // a message of another form has no method
			switch n.Method {
			case "notifications/resources/updated":
				updated = append(updated, n.Params.URI)
			case acknowledged:
				select {
				case opened <- len(n.Params.Notifications.URIs) > 0:
				default: // acknowledged before
				}
			}
			return isAnswer(m)
		}
		http.Do(ctx, request)
		ended <- updated
	}()
	select {
	case agreed := <-opened:
		if !agreed {
			return nil
		}
	case <-ended:
		return nil
	}
	change()
	t.Trials++
	defer time.AfterFunc(client.ListenFor, cancel).Stop()
	return <-ended
}

// LastChecks returns the check that takes rights away. It runs after the checks of other families.
func LastChecks() []review.Check { return endedRightChecks }

var endedRightChecks = []review.Check{
	{
		ID: "R-REVOKE", Name: "a subscription that outlives its right", Over: "http", Era: "modern", Effects: true, Locks: true, Severity: review.Warning, Category: "security",
		Sent: "subscriptions/listen to a resource of one user as the other one, who may read it; then a tool that takes " +
			"the right away, and the calls of the first user; all again after a tool that gives the right back",
		Want:   "tells a user of no change to resources that it may not read any more",
		Source: "CWE-613; revision 2026-07-28, server/resources, security",
		Impact: "a user who has lost a right still learns of every change",
		Fix:    "look the right up before each notification, or end the subscription with it",
		Run:    checkFollowedRights,
	},
}

// A follower is a user who may read a resource of another one, until the latter takes the right away.
type follower struct {
	pair       [2]client.User // the owner and the follower
	uri        string
	give, take client.Flow
}

func checkFollowedRights(t *review.T) {
	if !t.Report.Server.Has("resources") || len(t.Options.Target.Second) == 0 {
		t.Skip("the server has no resources, or one user is known; --second gives another")
		return
	}
	if skipsUncalled(t) {
		return
	}
	lists := listsOf(t, "resources/list", "resources")
	for _, pair := range review.UserPairs {
		change := func() { carryOut(t, pair[0]) }
		heard := updatesDuring(t, namedByCalls(t, pair, lists), pair[0], change)
		for _, uri := range heard[:min(len(heard), maxPrivateUpdates)] {
			f := follower{pair: pair, uri: uri}
			readable := f.reads(t)
			if f.finds(t) && f.outlivesRight(t, change) {
				return
			}
			if readable != f.reads(t) && f.give.Target != "" {
				f.changeRight(t, readable)
			}
		}
	}
	t.SkipUntried("no tool was found that gives and takes the right to read a resource that the calls change")
}

// skipsUncalled skips the check if no tool takes rights away, or if it may not be called.
func skipsUncalled(t *review.T) bool {
	i := slices.IndexFunc(t.Report.Server.Tools, func(o client.Offer) bool { return !o.IsReadOnly() && review.TakesRights(o) })
	switch {
	case i < 0:
		t.Skip("no tool takes a right away")
	case len(t.RightCalls(client.SecondUser, true, client.Flow{})) == 0:
		t.Skip("%[1]s may take a right away, and was not called; --tool %[1]s allows it", t.Report.Server.Tools[i].Name)
	}
	return t.Reason != ""
}

func (f *follower) reads(t *review.T) bool {
	a := t.Call(client.ReadResource(f.uri).By(f.pair[1]))
	return a.Kind == client.Completed && a.Text != ""
}

// changeRight gives or takes the right, and reports whether it did.
func (f *follower) changeRight(t *review.T, give bool) bool {
	flow := f.take
	if give {
		flow = f.give
	}
	t.Walk(flow, f.pair[0])
	return f.reads(t) == give
}

// finds looks for the calls that give and take the right. It leaves the follower without the right, or with
// it if it could not be taken and given.
func (f *follower) finds(t *review.T) bool {
	find := func(give bool) bool {
		return slices.ContainsFunc(t.RightCalls(f.pair[1], !give, client.Flow{}), func(call client.Flow) bool {
			if give {
				f.give = call
			} else {
				f.take = call
			}
			return f.changeRight(t, give)
		})
	}
	if f.reads(t) {
		return find(false) && find(true) && f.changeRight(t, false)
	}
	return find(true) && find(false)
}

// outlivesRight records a finding if the follower hears of changes to a resource that it may not read any
// more, twice, and of none while nothing changes.
func (f *follower) outlivesRight(t *review.T, change func()) bool {
	folder := folderOf(f.uri)
	filter := []string{f.uri, folder, strings.TrimSuffix(folder, "/")}
	hears := func(change func()) (told []string, ended bool) {
		if !f.changeRight(t, true) {
			return nil, false
		}
		told = updatesDuring(t, filter, f.pair[1], func() {
			ended = f.changeRight(t, false)
			_ = t.Client.Clock.Sleep(t.Context, client.ListenFor) // an interruption ends the wait early
			change()
		})
		return told, ended
	}
	quiet, calm := hears(func() {})
	first, one := hears(change)
	second, two := hears(change)
	if !calm || !one || !two {
		return false
	}
	i := slices.IndexFunc(first, func(uri string) bool {
		return slices.Contains(second, uri) && !slices.Contains(quiet, uri) && servesFirstAlone(t, client.ReadResource(uri), f.pair)
	})
	if i < 0 {
		return false
	}
	t.Refute(review.Finding{Case: f.take.Target, Severity: review.Warning, Issue: fmt.Sprintf("after %s a user hears of changes to a resource that it may not read any more", f.take.Target),
		Evidence: fmt.Sprintf("subscriptions/listen to %s, then %s %s and calls of the other user -> notifications/resources/updated of %s; resources/read -> refused", client.Short(f.uri, 100), f.take.Target, f.take.Arguments, client.Short(first[i], 100)),
		Want:     "no notification", Got: "a notification"})
	return true
}
