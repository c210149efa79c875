package contents

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
)

// urlChecks is the check of the URLs in questions.
var urlChecks = []review.Check{
	{
		ID: "RS-URL", Name: "the URL of a question in URL mode", Severity: review.Warning, Category: "security", Era: "modern",
		Sent: "calls that are answered by a question, once more with X-Forwarded-Host and Forwarded headers that " +
			"name another host; the check inspects the URLs of all questions and opens none; with --effects, each value that a " +
			"first form lists, and an accept of the URL that it leads to, if some values lead to the same question at a URL; flows " +
			"that begin with such headers, and calls that only read after them",
		Want: "uses https, except on this machine, and a host that no request header changes, also in results; puts no user information, credential, email " +
			"address or state into the URL; waits for what the page has to confirm after every choice",
		Source: "revision 2026-07-28, client/elicitation",
		Impact: "the URL and the secret in it remain in logs and browser histories; or a request header decides " +
			"which host the user is sent to; or a client gets by an accept alone what the page has to confirm",
		Fix: "take an accept for the consent to open the URL, and ask the page whether it was done; use https and a configured host, and put only a reference into the URL that is meaningless outside " +
			"the server",
		Run: checkQuestionURLs,
	},
}

var personalParameter = regexp.MustCompile(`(?i)[?&#](access_?token|token|password|passwd|secret|api_?key|email)=[^&]`)

func checkQuestionURLs(t *review.T) {
	for _, a := range t.Asking {
		for key, q := range jsondoc.InOrder(a.Questions) {
			if q.Params.Mode != "url" && q.Params.URL == "" {
				continue
			}
			t.Trials++
			issue := urlIssue(t, q.Params.URL)
			if issue == "" && carriesState(q.Params.URL, a.State) {
				issue = "the URL of a question holds the state"
			}
			if issue != "" {
				t.Refute(review.Finding{Case: key, Severity: review.Warning, Issue: issue, Evidence: client.Short(q.Params.URL, 200), Want: "https and a reference", Got: issue})
				return
			}
		}
	}
	seen := t.Trials > 0
	if t.Options.Effects && keepsForwardedHost(t) {
		return
	}
	if !seen {
		t.SkipUntried("no URL was seen%s", t.NotCalled())
		return
	}
	if callWithForwardedHost(t); len(t.Findings) == 0 && t.Options.Effects {
		acceptByChoices(t)
	}
}

// carriesState reports whether a URL contains a state that is as long as a token.
func carriesState(text string, state *string) bool {
	return state != nil && len(*state) >= tokens.MinCoded && (strings.Contains(text, *state) || strings.Contains(text, url.QueryEscape(*state)))
}

// callWithForwardedHost makes calls with proxy headers that name another host. It records a finding
// if a URL has that host.
func callWithForwardedHost(t *review.T) {
	if t.Client.HTTP == nil {
		return
	}
	for _, f := range t.Flows {
		w := t.Request(f.Call(client.FirstUser))
		w.Add("X-Forwarded-Host", "evil.example")
		w.Add("Forwarded", "host=evil.example")
		a := t.Tried(t.Send(w))
		for _, q := range jsondoc.InOrder(a.Questions) {
			if u, err := url.Parse(q.Params.URL); err == nil && u.Hostname() == "evil.example" {
				t.RefuteRequest("X-Forwarded-Host", review.Warning, "the URL of a question has the host that a header names", w, a)
				return
			}
		}
	}
}

// tellsRequests matches texts of tools that may tell the headers of requests.
var tellsRequests = regexp.MustCompile(`(?i)\b(logs?|audit|requests?|headers?|debug\w*|diagnos\w*|echo\w*)\b`)

// keepsForwardedHost begins flows with proxy headers that name a made-up host, and completes them without. It records a
// finding if the host is in the result, or in what a call that only reads gives a user then.
func keepsForwardedHost(t *review.T) bool {
	for _, o := range t.Oracles {
		if t.Client.HTTP == nil || !o.Completes() || !t.Selected("X-Forwarded-Host, kept") {
			continue
		}
		host := t.Word() + ".example"
		call := o.Flow.Call(o.User)
		w := t.Request(call)
		w.Add("X-Forwarded-Host", host)
		w.Add("Forwarded", "host="+host)
		result, _ := t.Client.Continue(t.Context, call, t.Tried(t.Send(w)), o.Flow.Answers())
		where, shown := "the result of "+o.Flow.Target, result
		for _, reading := range readingsOfBoth(t) {
			if strings.Contains(shown.ShownTexts(), host) || result.Kind != client.Completed {
				break
			}
			where, shown = reading.Target, t.Call(reading)
		}
		if strings.Contains(shown.ShownTexts(), host) {
			t.Refute(review.Finding{Case: "X-Forwarded-Host, kept", Severity: review.Warning, Issue: where + " has the host that a header of the first request names", Flow: &o.Flow,
				Evidence: fmt.Sprintf("X-Forwarded-Host and Forwarded of the first request name %s; then %s -> %v", host, where, shown), Want: "a configured host", Got: "the host of a header"})
			return true
		}
	}
	return false
}

// readingsOfBoth returns the calls of both users that only read, but for those that may tell the headers of requests.
func readingsOfBoth(t *review.T) (all []client.Call) {
	for _, reading := range t.ReadingCalls() {
		if tellsRequests.MatchString(t.Report.Server.Offer(client.Flow{Target: reading.Target}).About()) {
			continue
		}
		for _, as := range client.BothUsers {
			all = append(all, reading.By(as))
		}
	}
	return all
}

func urlIssue(t *review.T, text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return "the URL of a question cannot be read"
	}
	plain, _ := url.QueryUnescape(text) // "" if it is malformed
	switch {
	case u.User != nil:
		return "the URL of a question holds user information"
	case u.Scheme != "https" && !review.IsLoopback(u.Hostname()):
		return "the URL of a question has the scheme " + client.Short(u.Scheme, 20)
	case t.Options.Target.RepeatedIn(text), t.Options.Target.RepeatedIn(plain):
		return "the URL of a question holds the credential of the request"
	case personalParameter.MatchString(text):
		return "the URL of a question holds a credential or an address: " + strings.TrimLeft(personalParameter.FindStringSubmatch(text)[1], "?&#")
	}
	return ""
}

var (
	// promisesToWait matches texts of questions that wait for what a page does.
	promisesToWait = regexp.MustCompile(`(?i)\b(when|until|once|after|before|as soon as)\b`)
	// saysPending matches texts of results that still wait for it.
	saysPending = regexp.MustCompile(`(?i)\b(pending|wait\w*|await\w*|open|unpaid|unconfirmed|not yet|later|reserved|provisional\w*|until|once|when|after|as soon as|will|soon|due|outstanding)\b`)
)

// maxChoices is the number of values of a form that acceptByChoices tests.
const maxChoices = 4

// A visit is the question at a URL that a choice leads to, and the answer to its acceptance. No URL is opened.
type visit struct {
	value string
	asked string // the question, without parts that vary
	end   client.Answer
	waits bool // whether the same question comes again
}

// acceptByChoices accepts the questions at URLs that the values of a first form lead to. It records a finding if the
// same question is asked again after one value, because its page was not visited, and carried out after another.
func acceptByChoices(t *review.T) {
	for _, f := range t.Flows {
		first := t.Call(f.Call(client.FirstUser))
		for key, q := range jsondoc.InOrder(first.Questions) {
			for name, s := range jsondoc.Fields(q.Form()) {
				label := fmt.Sprintf("an acceptance for each %s of %s", name, f.Target)
				if s.Listed() && t.Selected(label) && compareVisits(t, f, label, func(i int) visit { return visitAfter(t, f, key, name, s.Raw, i) }) {
					return
				}
			}
		}
	}
}

// compareVisits records a finding if one choice waits for a page and another does not, twice.
func compareVisits(t *review.T, f client.Flow, label string, after func(int) visit) bool {
	var all []visit
	for i := range maxChoices {
		all = append(all, after(i))
	}
	for i, waits := range all {
		for j, ends := range all {
			if !differ(waits, ends) {
				continue
			}
			again := after(i)
			if v := after(j); differ(again, v) {
				t.Refute(review.Finding{Case: label, Severity: review.Warning, Issue: "an accept is taken for what the page at the URL has to confirm, after one choice only",
					Evidence: fmt.Sprintf("%s: accept, no visit -> asked again; %s: the same question, accept, no visit -> %v", waits.value, ends.value, v.end), Want: "asked again", Got: "completed", Flow: &f})
				return true
			}
		}
	}
	return false
}

// differ reports whether the same question waits after one choice, and is carried out after another.
func differ(waits, ends visit) bool {
	return waits.waits && waits.asked == ends.asked && ends.end.Kind == client.Completed && !saysPending.MatchString(ends.end.Text)
}

// visitAfter answers the first form of a flow with the i-th value that a member lists, and accepts the URL that
// follows. The visit is zero if no question at a URL that waits for a page came.
func visitAfter(t *review.T, f client.Flow, key, name string, property json.RawMessage, i int) visit {
	values := jsondoc.Samples(property, 0)
	if i >= len(values) {
		return visit{}
	}
	call := f.Call(client.FirstUser)
	first := t.Call(call)
	answers := review.AnswersTo(first.Questions)[0]
	content := jsondoc.WithMember(jsondoc.At(answers, key, "content"), name, values[i])
	answers = jsondoc.WithMember(answers, key, jsondoc.WithMember(jsondoc.At(answers, key), "content", content))
	a := t.Tried(t.Call(t.Client.Reply(call, first, answers)))
	asked := questionAtURL(a)
	if asked == "" {
		return visit{}
	}
	end := t.Tried(t.Call(t.Client.Reply(call, a, review.AnswersTo(a.Questions)[0])))
	return visit{string(values[i]), asked, end, questionAtURL(end) == asked}
}

// questionAtURL returns the one question of an answer, without the parts that vary, if it sends the user to a URL and
// says that it waits for what happens there. Otherwise it returns "".
func questionAtURL(a client.Answer) string {
	if a.Kind != client.Asked || len(a.Questions) != 1 {
		return ""
	}
	for _, q := range jsondoc.InOrder(a.Questions) {
		if u, err := url.Parse(q.Params.URL); err == nil && q.Params.Mode == "url" && promisesToWait.MatchString(q.Params.Message) {
			return u.Host + " " + client.Blank(q.Params.Message)
		}
	}
	return ""
}
