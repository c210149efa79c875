// Package replays has the checks of requestState (revision 2026-07-28, basic/patterns/mrtr) that is used
// again: twice, in an earlier round, at another instance and after a restart.
package replays

import "sealab/fuzz/review"

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
