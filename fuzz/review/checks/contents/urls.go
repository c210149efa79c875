package contents

import (
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
			"first form lists, and an accept of the URL that it leads to, if some values lead to the same question at a URL",
		Want: "uses https, except on this machine, and a host that no request header changes; puts no user information, credential, email " +
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
	if t.Trials == 0 {
		t.Skip("no URL was seen%s", t.NotCalled())
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
