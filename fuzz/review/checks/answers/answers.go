// Package answers has the checks of questions and answers (revision 2026-07-28,
// basic/patterns/mrtr). They cover declines, answers that a form excludes, additional answers,
// answers of other rounds, and questions that a client does not support.
package answers

import "sealab/fuzz/review"

// Checks returns the checks of questions and answers, in the order in which they run.
func Checks() []review.Check { return questionChecks }

// questionChecks are the checks of questions and answers.
var questionChecks = []review.Check{
	{
		ID: "RS-CAP", Name: "a question that the client did not declare support for", Flow: true, Severity: review.Warning, Category: "reliability",
		Sent: "the first call, and a token of each later round, with clientCapabilities {}; the first call with " +
			"support only for elicitation in URL mode; the first call with every capability except the one that " +
			"the question needs",
		Want:   "answers error -32021 with requiredCapabilities, or asks no question",
		Source: "revision 2026-07-28, basic, client capabilities",
		Impact: "the client receives a question that it cannot show to its user, and the flow ends",
		Fix:    "check clientCapabilities before asking, and answer -32021 with requiredCapabilities",
		Run:    checkCapabilities,
	},
	{
		ID: "RS-ASKAGAIN", Name: "a good state without answers", Flow: true, Severity: review.Critical, Category: "reliability",
		Sent:   "a good token without inputResponses, and with inputResponses {}",
		Want:   "repeats the question",
		Source: review.SourceMRTR,
		Impact: "a client that lost an answer cannot continue; or the server acts although nobody agreed",
		Fix:    "repeat the question if an answer is missing",
		Timed:  true, Run: checkMissingAnswers,
	},
	{
		ID: "RS-EXTRA", Name: "an answer to a question that was not asked", Flow: true, Severity: review.Suggestion, Category: "reliability",
		Sent:   "a good token with the expected answers and one more, under an unknown key",
		Want:   "ignores the additional answer",
		Source: review.SourceMRTR,
		Impact: "a client that sends an additional answer is refused",
		Fix:    "ignore unknown keys of inputResponses",
		Timed:  true, Run: checkExtraAnswer,
	},
	{
		ID: "RS-WHERE", Name: "a state in a request that takes none", Flow: true, Severity: review.Suggestion, Category: "schema",
		Sent:   "tools/list with a requestState",
		Want:   "returns the list",
		Source: review.SourceMRTR,
		Impact: "the request for a list is refused or answered by a question",
		Fix:    "ignore requestState outside tools/call, prompts/get and resources/read",
		Run:    checkStateInList,
	},
	{
		ID: "RS-DECLINE", Name: "a declined question that counts as accepted", Flow: true, Effects: true, Severity: review.Critical, Category: "security",
		Sent: "the answers with action decline, without content; decline, cancel, an unknown action and no action, " +
			"each with the content of an acceptance, in every round; the acceptance under another key; in a flow " +
			"of several rounds the answers of an earlier round in the last one; an acceptance whose form answers " +
			"false to its only boolean, if that is named as a confirmation; decline or cancel, and then an " +
			"acceptance with the same state, if such a false uses a state up with the same result",
		Want:   "answers all of these, and gives none of them the result of an acceptance; uses the state up in both cases",
		Source: "revision 2026-07-28, client/elicitation",
		Impact: "the tool runs although the user declined",
		Fix:    "read action before content, and accept only the action accept",
		Run:    checkDeclines,
	},
	{
		ID: "RS-DENY", Name: "a decline of a call that works once", Effects: true, Era: "modern", Severity: review.Critical, Category: "security",
		Sent: "before the first acceptance, to the first question of each tool: decline without content, twice; " +
			"decline, cancel and no action, each with the content of an acceptance; the call again after each",
		Want:   "asks again after each",
		Source: "revision 2026-07-28, client/elicitation",
		Impact: "the tool runs although the user declined",
		Fix:    "read action before content, and accept only the action accept",
		Run:    checkFirstDeclines,
	},
	{
		ID: "RS-FORM", Name: "an answer that violates its form", Flow: true, Effects: true, Severity: review.Critical, Category: "schema",
		Sent: "one invalid answer, then the right ones or a cancellation, and the honest flow again; " +
			"answers with values of another type, outside the enum, the bounds or the length of the form; the " +
			"text \"false\" instead of a boolean; answers without a required boolean; answers to another kind of " +
			"question; answers with additional members, in several places, that have the names of arguments, of " +
			"state members and of numbers in the result; in the last round another answer to an earlier question",
		Want:   "repeats the question or answers -32602, and completes later calls; ignores additional members",
		Source: review.SourceMRTR + ", SHOULD validate",
		Impact: "the handler works on values that its form excludes, or a client overwrites the arguments of the call",
		Fix:    "validate answers against the form that was sent, and read no other member",
		Run:    checkFormAnswers,
	},
	{
		ID: "RS-PROTO", Name: "an answer with members named __proto__ and constructor", Era: "modern", Flow: true, Effects: true, Severity: review.Critical, Category: "security",
		Sent: "answers with members named __proto__ and constructor, in inputResponses, in an answer and in its " +
			"content; after each a request that lacks a required member which such a prototype would supply",
		Want:   "refuses or ignores these members, and answers other requests as before",
		Source: "CWE-1321",
		Impact: "a client changes the prototype of all JavaScript objects, and with it the requests of other clients",
		Fix:    "read only the members that the form names",
		Run:    checkPrototypeAnswers,
	},
}
