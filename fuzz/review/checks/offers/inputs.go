package offers

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/inputs"
)

// inputChecks are the checks of texts that a user types into arguments and forms.
var inputChecks = []review.Check{
	{
		ID: "RS-VALUE", Name: "awkward texts in the answers to a form", Flow: true, Effects: true, Severity: review.Critical, Category: "injection",
		Sent: "answers to the questions of a tool in which each text is in turn an apostrophe, brackets that do " +
			"not close, a percent sign or a term of a template language; if the member or its value names a file, " +
			"paths that climb to /etc/passwd",
		Want: "answers or refuses in JSON, without a database error, the value of the term, a fault of the server " +
			"or a file outside its folder",
		Source: "CWE-89, CWE-22, CWE-1336",
		Impact: "an answer of the user reads files, becomes a part of a query, or stops the call",
		Fix:    "validate answers like arguments: by the form, and again where they are used",
		Run:    checkAwkwardAnswers,
	},
	{
		ID: "X-PATTERN", Name: "texts that a pattern takes exponential time for", Severity: review.Warning, Category: "reliability",
		Sent: "calls of a tool that asks and, with --effects, of read-only tools and answers to questions; each " +
			"text is a repeated letter, digit or mark with another character at the end, in growing lengths from " +
			"16 to 32 characters; each slow one in turn with a shorter and an unrelated text, four times",
		Want:   "takes about the same time for each length",
		Source: "CWE-1333",
		Impact: "one short text keeps the server busy for minutes, for all of its clients",
		Fix:    "use a regular expression engine that takes linear time, or patterns without nested repetitions",
		Timed:  true, Run: checkSlowPatterns,
	},
}

// fileName matches names of files.
var fileName = regexp.MustCompile(`^[\w./-]*\.[a-z]{2,4}$`)

func checkAwkwardAnswers(t *review.T) {
	for _, x := range inputs.Answers(t) {
		for _, v := range inputs.AwkwardValues {
			if text, ok := v.Text(); ok && mishandlesAnswer(t, x, v, text) {
				return
			}
		}
		if !fileName.MatchString(x.Given) && !client.Mentions(strings.ToLower(x.Name), inputs.PathNames[:3]) {
			continue
		}
		for _, path := range inputs.PathSpellings(inputs.ClimbingPath) {
			if a := x.Send(path); a.Kind == client.Completed && inputs.PasswdLine.MatchString(a.Text) {
				x.Refute(t, review.Critical, client.Short(path, 60)+" gives a file outside of the server's folder", "a file", a)
				return
			}
		}
	}
	t.SkipUntried("no form that was answered takes a text")
}

// mishandlesAnswer reports whether a text as an answer is a fault, twice, and the usual answer is
// none.
func mishandlesAnswer(t *review.T, x inputs.Input, v inputs.AwkwardValue, text string) bool {
	if v.IsIntended(x.Name) {
		return false
	}
	if x.Query {
		v = v.AsQuery()
	}
	a, severity, issue := v.Confirmed(func() client.Answer { return x.Send(text) }, func() bool { return v.Handled(x.Send(x.Given)) })
	if issue != "" {
		x.Refute(t, severity, v.Name+" is "+issue, issue, a)
	}
	return issue != ""
}

// backtrackingTexts are texts that patterns with nested repetitions backtrack on. The end does not
// match.
var backtrackingTexts = []struct{ unit, end string }{{"a", "!"}, {"1", "x"}, {"a.", "!"}, {"a-", "!"}, {"a ", "!"}, {"a@", "!"}}

const (
	shortestText  = 16 // characters of the first text of checkSlowPatterns
	longestText   = 32
	lengthStep    = 4
	slowTime      = 60 * time.Millisecond // the least time that shows
	stepGrowth    = 4                     // of exponential time in a step; patterns that double have 16
	unrelatedText = "Zq7-Kx2_Wv9.Ht4+Yb6=Ms3~Nd8/Pf5:"
)

// checkSlowPatterns sends texts of growing lengths. It records a finding if one takes slowTime,
// stepGrowth times as long as the text one step before, and the square of stepGrowth times as long
// as an unrelated text.
func checkSlowPatterns(t *review.T) {
	for _, x := range inputs.Texts(t) {
		if !t.Selected(x.Name) {
			continue
		}
		usual := answerTime(x.Send(unrelatedText))
		for _, r := range backtrackingTexts {
			for n := shortestText; n <= longestText; n += lengthStep {
				text := func(n int) string { return strings.Repeat(r.unit, n)[:n] + r.end }
				now := answerTime(x.Send(text(n)))
				if now < 0 || usual < 0 {
					break
				}
				if now < slowTime || now < stepGrowth*usual {
					continue
				}
				found, longest := growsByStep(t, x, text(n), text(n-lengthStep))
				if found {
					return
				}
				usual = max(usual, longest)
			}
		}
	}
	t.SkipUntried("no argument and no answer takes a text")
}

// patternRounds is the number of rounds in which texts are compared. The shortest time of each text
// counts, because other work on the machine only adds to it.
const patternRounds = 4

// growsByStep sends a text, a shorter one and an unrelated one in turn, and records a finding if the
// times grow exponentially. It skips the check if the unrelated text takes too long to tell. It
// returns the longest time of the unrelated text.
func growsByStep(t *review.T, x inputs.Input, text, shorter string) (found bool, longest time.Duration) {
	texts := [3]string{unrelatedText, shorter, text}
	var least [3]time.Duration
	for round := range patternRounds {
		var a client.Answer
		for i := range texts {
			a = x.Send(texts[i])
			took := answerTime(a)
			if took < 0 {
				return false, longest
			}
			if i == 0 {
				longest = max(longest, took)
			}
			if round == 0 || took < least[i] {
				least[i] = took
			}
		}
		usual, before, now := least[0], least[1], least[2]
		if now < slowTime {
			return false, longest
		}
		if now >= stepGrowth*before && now >= stepGrowth*stepGrowth*usual {
			x.Refute(t, review.Warning, fmt.Sprintf("%d characters take %v, %d take %v, and %d others take %v: the time grows exponentially",
				len(text), now.Round(time.Millisecond), len(shorter), before.Round(time.Millisecond), len(unrelatedText), usual.Round(time.Millisecond)), "a longer time for each character", a)
			return true, longest
		}
	}
	if usual, before, now := least[0], least[1], least[2]; now >= stepGrowth*before {
		t.Skip("%s: an unrelated text takes %v, too long to compare it with %v", x.Name, usual.Round(time.Millisecond), now.Round(time.Millisecond))
	}
	return false, longest
}

// answerTime returns the time that an answer took, or -1 if it was not sent or is not conclusive.
func answerTime(a client.Answer) time.Duration {
	if a.Exchange == nil || a.Withheld() || a.Kind == "" {
		return -1
	}
	return a.Exchange.Took
}
