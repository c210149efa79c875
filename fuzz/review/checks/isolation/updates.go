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
