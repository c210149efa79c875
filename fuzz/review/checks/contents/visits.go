package contents

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

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
