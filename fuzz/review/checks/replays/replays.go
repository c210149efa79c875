// Package replays has the checks of requestState (revision 2026-07-28, basic/patterns/mrtr) that is used
// again: twice, in an earlier round, at another instance and after a restart.
package replays

import (
	"fmt"
	"regexp"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// InstanceChecks returns the checks of a state at another instance, after a restart, and over another
// connection.
func InstanceChecks() []review.Check { return instanceChecks }

// Checks returns the checks of states that are used again, in the order in which they run.
func Checks() []review.Check { return replayChecks }

// replayChecks are the checks of how often, and in which round, a state is accepted.
var replayChecks = []review.Check{
	{
		ID: "RS-REPLAY", Name: "a state that is accepted twice", Effects: true, Era: "modern", Severity: review.Critical, Category: "security",
		Sent: "one token twice with the same answers, for a tool named by --one-time in each branch of its flow; if the second is refused: one token on eight connections at " +
			"once and, for a tool named by --one-time, the used token in other spellings, with one more answer, other valid answers and the same ones in another spelling, a flow walked twice from " +
			"one token of its first round, of two tokens, the used token for another name of the tool, and the used token after many others were used; if the second is " +
			"accepted by a tool named by --one-time: further tokens, to see whether the server returned a stored result; " +
			"the same as the second user if such a tool is no longer carried out for the first; calls of such a tool that begin before it is carried out for the first time, and end after " +
			"it, if new calls are then refused",
		Want:   "accepts a token of a tool named by --one-time only once, and looks at a limit when the call is carried out",
		Source: review.SourceMRTR + ", single use",
		Impact: "a client carries out one consent as often as it likes",
		Fix:    "remember the identifiers of used tokens until they expire",
		Run:    checkReplay,
	},
	{
		ID: "RS-ROLL", Name: "a state of an earlier round, used again", Flow: true, Effects: true, Severity: review.Suggestion, Category: "security",
		Sent:   "a token of the round before the last one, twice",
		Want:   "may accept it twice if the server stores nothing; accepts it once for a tool named by --one-time",
		Source: review.SourceMRTR,
		Impact: "a client takes a flow back to an earlier step",
		Fix:    "if a flow must not go back, count its rounds in a store",
		Run:    checkRollback,
	},
	{
		ID: "RS-SKIP", Name: "answers without a state", Flow: true, Effects: true, Severity: review.Critical, Category: "security",
		Sent: "the answers of the last round in the first call, without a state and with the state null; the token of the first round with " +
			"the answers of the last round, and of all rounds; the answers of each round with an empty text as " +
			"the state",
		Want:   "asks the first question, or refuses",
		Source: review.SourceMRTR,
		Impact: "a client skips the questions before the last one",
		Fix:    "determine the round of a request only from the verified state",
		Run:    checkSkippedRounds,
	},
}

// receiptWord matches a word that looks like a receipt or another random identifier.
var receiptWord = regexp.MustCompile(`\b[0-9A-Z]{8,}\b|\b[0-9a-f]{12,}\b|\b[0-9A-Za-z_-]{16,}\b`)

// keepsReceipt reports whether every token of the user gets one result with a receipt, and every token of the other
// user another result with a receipt of the same length. A server that carries a call out once for each user
// keeps the result.
func keepsReceipt(t *review.T, one client.Answer) bool {
	if len(t.Options.Target.Second) == 0 {
		return false
	}
	own, ok := onlyReceipt(t, t.Oracle.User)
	if !ok || own != receiptWord.FindString(one.Text) {
		return false
	}
	user := client.SecondUser
	if t.Oracle.User == client.SecondUser {
		user = client.FirstUser
	}
	other, ok := onlyReceipt(t, user)
	return ok && own != other && len(own) == len(other)
}

// onlyReceipt carries out several tokens of a user. It returns the receipt in their results, and whether the
// results are equal and contain one.
func onlyReceipt(t *review.T, as client.User) (word string, ok bool) {
	text := ""
	for i := range review.Repetitions {
		a := t.Tried(t.Fresh(t.Oracle.Flow, as))
		if a.Kind != client.Completed || i > 0 && a.Text != text {
			return "", false
		}
		text = a.Text
	}
	word = receiptWord.FindString(text)
	return word, word != ""
}

// spareCase is the case of limits that are looked at only when a call begins.
const spareCase = "calls that began before"

// refuteSpares records the tools for one use that carried out more calls because these had begun before.
func refuteSpares(t *review.T) {
	if !t.Selected(spareCase) {
		return
	}
	for _, s := range t.Spares {
		t.Trials++
		f := review.Finding{Case: spareCase, Severity: review.Warning, Flow: &s.Flow,
			Issue: "a tool for one use looks at its limit only when a call begins: calls that began before the first was carried out are carried out as well",
			Evidence: fmt.Sprintf("calls of %s %s are begun; one is carried out: %v; a new call: %v; a call that had begun: %v, and a new call is refused again", s.Flow, s.Flow.Arguments,
				s.First, s.Refused, s.Second),
			Want: "refused", Got: "carried out"}
		if !s.Users {
			f.Severity, f.Issue = review.Suggestion, f.Issue+"; a fault unless the limit is on the calls that begin"
		}
		t.Refute(f)
	}
}

// replayUnderOtherName presents used tokens to the tool under its other names. Some servers remember a token
// together with the name that was called.
func replayUnderOtherName(t *review.T) {
	const name = "used, under another name"
	own := t.Oracle.Flow
	if !t.OneTime(t.Oracle.Flow) || len(t.Findings) > 0 || !t.Oracle.Completes() || own.Method != "tools/call" || !t.Selected(name) {
		return
	}
	for _, tool := range t.Report.Server.Tools {
		if !client.AreTwins(own.Offer, tool) || !jsondoc.Fits(tool.InputSchema(), own.Arguments) || len(t.Findings) > 0 {
			continue
		}
		f := own
		f.Target, f.Offer = tool.Name, tool
		evidence, is := runsUnderOtherName(t, f)
		if !is || !t.PresentIn(f, jsondoc.Quote(review.GarbageState)).Refused() || t.Call(f.AnswersAlone(t.Oracle.User)).Kind == client.Completed {
			continue
		}
		t.Refute(review.Finding{Case: name, Severity: review.Critical, Issue: "a used token is accepted again by another name of its tool",
			Evidence: evidence, Want: "refused", Got: "accepted"})
	}
}

// runsUnderOtherName presents used tokens in the flow of another name. It reports whether the call is carried
// out, and the tokens are refused in their own flow, twice.
func runsUnderOtherName(t *review.T, f client.Flow) (evidence string, is bool) {
	for range 2 {
		token, spent := t.UsedToken()
		if !spent {
			return "", false
		}
		a := t.Tried(t.PresentIn(f, jsondoc.Quote(token)))
		if a.Kind != client.Completed || !t.Oracle.Alike(a) && !t.Oracle.ResemblesGood(a) || t.VerdictOn(token) != review.Refused {
			return "", false
		}
		evidence = fmt.Sprintf("the token %s at %s: accepted, then refused; at %s -> %v", client.Short(token, 100), t.Oracle.Flow, f, a)
	}
	return evidence, true
}
