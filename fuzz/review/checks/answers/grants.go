package answers

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// grantChecks are checks that take rights away, perhaps for good, and run after all others.
var grantChecks = []review.Check{
	{
		ID: "RS-REVOKE", Name: "a state that outlives its right", Flow: true, Effects: true, Locks: true, Severity: review.Warning, Category: "security",
		Sent: "states of each flow; then a tool that may change something and needs no arguments, or only arguments of " +
			"a flow, such as a deletion, or a tool of the other user that takes the right away; then the states, the first " +
			"calls again, and fresh states. Tools that the user names, if there are any, and never those that claim to be " +
			"destructive unless named",
		Want: "refuses the states of a call that it refuses afterwards; if the tool says that it ends all, and ends the " +
			"states of one flow, those of the others as well",
		Source: "CWE-613; CWE-367",
		Impact: "a user who has lost a right, or taken back a request, still has it carried out with an older state",
		Fix:    "look up the right and the object again in the round that acts, and count withdrawals in every state",
		Run:    checkGrants,
	},
}

// checkGrants judges the states of flows after tools that may end them.
func checkGrants(t *review.T) {
	judged := working(t, t.Oracles)
	if len(judged) == 0 {
		t.Skip("no flow that can be repeated is carried out%s", t.NotCalled())
		return
	}
	for _, f := range endersOf(t, judged) {
		if t.Selected(f.Target) && len(t.Findings) == 0 && len(endGrants(t, ending{Flow: f}, judged)) > 0 {
			judged = working(t, judged)
		}
	}
	for _, pair := range review.UserPairs {
		judgeTakenRights(t, pair[0], pair[1])
	}
	t.SkipUntried("no tool that may be called takes a right or a state away%s", t.NotCalled())
}

// An ending is a call by which a user may end a right or a state, and calls that may give it back.
type ending struct {
	client.Flow
	by   client.User
	back []client.Flow
}

func (e ending) run(t *review.T) bool {
	return t.Walk(e.Flow, e.by).Kind == client.Completed
}

// endersOf returns calls that may end a right or a state. Those whose texts say so come first. It skips
// the check for such tools that may not be called.
func endersOf(t *review.T, oracles []*review.Oracle) []client.Flow {
	var all []client.Flow
	callable := append(t.Changers(), t.Enders()...)
	for _, tool := range t.Report.Server.Tools {
		arguments, fits := sharedArguments(oracles, tool)
		asks := slices.IndexFunc(t.Oracles, func(o *review.Oracle) bool { return o.Flow.Target == tool.Name && o.Flow.Last != nil })
		may := slices.ContainsFunc(callable, func(o client.Offer) bool { return o.Name == tool.Name })
		switch ends := review.Ends(tool); {
		case tool.IsReadOnly() || !fits || stoppingText.MatchString(tool.About()):
		case asks >= 0 && ends:
			all = append(all, t.Oracles[asks].Flow.With(arguments))
		case asks < 0 && may && (ends || len(jsondoc.Members(arguments)) == 0):
			all = append(all, t.FlowOf(tool).With(arguments))
		case !may && ends:
			t.Skip("%[1]s may take a right away, and was not called; --tool %[1]s allows it", tool.Name)
		}
	}
	slices.SortStableFunc(all, func(a, b client.Flow) int { return rankOfEnder(a) - rankOfEnder(b) })
	return all[:min(len(all), review.MaxTestedCalls)]
}

func rankOfEnder(f client.Flow) int {
	if review.Ends(f.Offer) {
		return 0
	}
	return 1
}

// sharedArguments returns the required arguments of a tool with the values that flows have for them. It
// returns false if no flow has one of them.
func sharedArguments(oracles []*review.Oracle, tool client.Offer) (json.RawMessage, bool) {
	all := jsondoc.Arguments{}
	for _, name := range jsondoc.ParseSchema(tool.Input).Required {
		for _, o := range oracles {
			if v := jsondoc.Members(o.Flow.Arguments)[name]; v != nil && all[name] == nil && jsondoc.Fits(jsondoc.ParseSchema(tool.Input).Properties[name], v) {
				all[name] = v
			}
		}
		if all[name] == nil {
			return nil, false
		}
	}
	return jsondoc.Object(all), true
}

// Texts of tools.
var (
	// stoppingText matches texts of tools that may end the server.
	stoppingText = regexp.MustCompile(`(?i)\b(shut|restart|reboot|exit|kill)`)
	// gracefulText matches texts of servers that may rightly carry out calls that have begun.
	gracefulText = regexp.MustCompile(`(?i)\b(new|further|pending|begun|started|already|finish\w*|complet\w*|drain\w*|maintenance|paus\w*|clos\w*|in progress|under way)\b`)
	// allText, partText and waitingText match texts about all calls, about some, and about those that wait.
	allText     = regexp.MustCompile(`(?i)\b(all|every|everything|each)\b`)
	partText    = regexp.MustCompile(`(?i)\b(except|but|only|other than|apart)\b`)
	waitingText = regexp.MustCompile(`(?i)\b(open|pending|waits?|waiting|outstanding|unanswered|unconfirmed|requests?|questions?|confirmations?|states?|approvals?)\b`)
	longWord    = regexp.MustCompile(`[a-z]{4,}`)
)

// A held is a flow, and the answers to it after an event that its states have outlived or not.
type held struct {
	*review.Oracle
	states   [2]string     // minted before
	fresh    client.Answer // to the call without a state
	old      client.Answer // to the first state
	accepted int           // states that were carried out as before
	refused  int           // states
	renewed  bool          // a fresh state is carried out
}

// works reports whether the event left all as it was.
func (h held) works() bool {
	return h.fresh.Kind == client.Asked && h.renewed && h.accepted == len(h.states)
}

// outlives reports whether states are carried out although the call is refused.
func (h held) outlives() bool {
	return h.fresh.Refused() && !h.renewed && h.accepted == len(h.states)
}

// ended reports whether states are refused and fresh ones are carried out.
func (h held) ended() bool {
	return h.fresh.Kind == client.Asked && h.renewed && h.refused == len(h.states)
}

// goesOn reports whether an answer is that to a good state, in words that are the same each time.
func goesOn(o *review.Oracle, a client.Answer) bool {
	return a.Kind == client.Completed && o.Verdict(a) == review.Accepted && o.Alike(a) && slices.Contains(o.Mask, true)
}

// holdStates mints states of each flow, waits for an event, and presents them. It returns nil if the event
// fails.
func holdStates(t *review.T, oracles []*review.Oracle, event func() bool) []*held {
	var all []*held
	for _, o := range oracles {
		h := &held{Oracle: o}
		for i := range h.states {
			h.states[i], _, _ = t.Client.Mint(t.Context, o.Flow, o.User) // "" is refused later
		}
		all = append(all, h)
	}
	if !event() {
		return nil
	}
	for _, h := range all {
		h.fresh = t.Call(h.Flow.Call(h.User))
		for _, state := range slices.Backward(h.states[:]) {
			h.old = t.Client.Present(t.Context, h.Flow, jsondoc.Quote(state), h.User)
			if goesOn(h.Oracle, h.old) {
				h.accepted++
			} else if h.Verdict(h.old) == review.Refused {
				h.refused++
			}
		}
		h.renewed = goesOn(h.Oracle, t.Fresh(h.Flow, h.Oracle.User))
	}
	return all
}

// working returns the flows that complete and whose states are carried out, or with other arguments if
// they are not any more.
func working(t *review.T, oracles []*review.Oracle) []*review.Oracle {
	works := func(o *review.Oracle) bool {
		return o.Good.Kind == client.Completed && holdStates(t, []*review.Oracle{o}, func() bool { return true })[0].works()
	}
	var all []*review.Oracle
	for _, o := range oracles {
		if works(o) {
			all = append(all, o)
		} else if o.Flow.Other != nil && o.Flow.Last != nil {
			if other, reason := t.NewOracle(t.Context, o.Flow.With(o.Flow.Other), o.User); reason == "" && works(other) {
				all = append(all, other)
			}
		}
	}
	return all[:min(len(all), review.MaxTestedCalls)]
}

// endGrants carries out a call between the rounds of flows. It returns the flows that it changed.
func endGrants(t *review.T, e ending, oracles []*review.Oracle) []*held {
	began := t.Client.Clock.Now()
	all := holdStates(t, oracles, func() bool { return e.run(t) })
	took := t.Client.Clock.Now().Sub(began)
	changed := slices.DeleteFunc(slices.Clone(all), (*held).works)
	if len(changed) == 0 {
		return nil
	}
	t.Trials++
	for _, h := range changed {
		if h.outlives() && len(t.Findings) == 0 {
			outliveRight(t, e, h)
		}
	}
	for _, h := range changed {
		for _, kept := range all {
			if h.ended() && kept.works() && len(t.Findings) == 0 {
				outliveWithdrawal(t, e, h, kept, took)
			}
		}
	}
	return changed
}

// limitPause is a third of the time after which a refusal is hardly one for calling too often.
const limitPause = 5 * time.Second

// outliveRight records a finding if the call of a flow stays refused after a call that ends rights, and
// no text says that calls that have begun may end. If another tool gives the right back, the states must
// outlive it once more.
func outliveRight(t *review.T, e ending, h *held) {
	fresh := h.fresh
	for range 3 {
		if t.Client.Clock.Sleep(t.Context, limitPause) != nil || !fresh.Refused() {
			return
		}
		fresh = t.Call(h.Flow.Call(h.User))
	}
	if !fresh.Refused() || tellsLimit.MatchString(h.fresh.Message+fresh.Message) || gracefulText.MatchString(e.Offer.About()+" "+fresh.Message) {
		return
	}
	if isGivenBack(t, e, h) {
		again := holdStates(t, []*review.Oracle{h.Oracle}, func() bool { return e.run(t) })
		isGivenBack(t, e, h)
		if len(again) == 0 || !again[0].outlives() {
			return
		}
	}
	severity := review.Suggestion
	if review.Ends(e.Offer) {
		severity = review.Warning
	}
	t.Refute(review.Finding{Case: e.Target, Severity: severity, Issue: fmt.Sprintf("after %s the call is refused, and older states of it are carried out", e.Target), Flow: &h.Flow,
		Evidence: fmt.Sprintf("%s %s: completed; %s again -> %v; with an older state -> %v", e.Target, e.Arguments, h.Flow, fresh, h.old), Want: "refused", Got: "accepted"})
}

// isGivenBack makes calls that may give a right back, those without arguments that end no right among them, until
// the call of a flow is no longer refused. The call that ended the right comes last: it may be a switch.
func isGivenBack(t *review.T, e ending, h *held) bool {
	var all []client.Flow
	for _, tool := range t.Changers() {
		if tool.Name != e.Target && !review.Ends(tool) && len(jsondoc.ParseSchema(tool.Input).Required) == 0 && !stoppingText.MatchString(tool.About()) {
			all = append(all, t.FlowOf(tool).With(json.RawMessage("{}")))
		}
	}
	all = slices.Concat(e.back, all[:min(len(all), review.MaxTestedCalls)], []client.Flow{e.Flow})
	return slices.ContainsFunc(all, func(f client.Flow) bool {
		t.Walk(f, e.by)
		return t.Call(h.Flow.Call(h.User)).Kind == client.Asked
	})
}

// judgeTakenRights judges the states of one user after calls of another one that may take its right. A server
// may look at the right in some branches of a flow alone.
func judgeTakenRights(t *review.T, owner, holder client.User) {
	for _, o := range t.Oracles {
		takes, gives := t.RightCalls(holder, true, o.Flow), t.RightCalls(holder, false, o.Flow)
		if len(t.Options.Target.Second) == 0 || o.Good.Kind != client.Completed || len(takes) == 0 {
			continue
		}
		for i := 0; i < len(gives) && t.Call(o.Flow.Call(holder)).Refused(); i++ {
			t.Walk(gives[i], owner)
		}
		var branches []*review.Oracle
		for _, f := range t.Branches(t.Context, o) {
			if branch, _ := t.NewOracle(t.Context, f, holder); branch != nil && branch.Good.Kind == client.Completed { // nil: it cannot be repeated
				branches = append(branches, branch)
			}
		}
		for _, take := range takes {
			e := ending{Flow: take, by: owner, back: gives}
			if len(branches) == 0 || len(t.Findings) > 0 || !t.Selected(take.Target) {
				break
			}
			if changed := endGrants(t, e, branches); len(changed) > 0 && !isGivenBack(t, e, changed[0]) {
				return
			}
		}
	}
}

// outliveWithdrawal records a finding if a call that ends the states of one flow, by its text all of them,
// leaves those of another, twice. They must not end by themselves in the time of the call.
func outliveWithdrawal(t *review.T, e ending, h, kept *held, took time.Duration) {
	severity := severityOfWithdrawal(e.Offer.About(), h.Flow.Offer.About(), kept.Flow.Offer.About())
	both := []*review.Oracle{h.Oracle, kept.Oracle}
	if severity == "" || !review.Ends(e.Offer) {
		return
	}
	alone := holdStates(t, both, func() bool { return t.Client.Clock.Sleep(t.Context, took) == nil })
	again := holdStates(t, both, func() bool { return e.run(t) })
	if len(alone) == 0 || len(again) == 0 || !alone[0].works() || !alone[1].works() || !again[0].ended() || !again[1].works() {
		return
	}
	t.Refute(review.Finding{Case: e.Target, Severity: severity, Issue: fmt.Sprintf("%s ends the states of %s, and those of %s are carried out", e.Target, h.Flow.Target, kept.Flow.Target), Flow: &kept.Flow,
		Evidence: fmt.Sprintf("%s: completed; older states of %s -> %v, of %s -> %v", e.Target, h.Flow, again[0].old, kept.Flow, again[1].old), Want: "refused", Got: "accepted"})
}

// severityOfWithdrawal rates that a tool ends the states of one flow and leaves those of another, by their
// texts. It returns "" if the tool may be meant for the first one alone.
func severityOfWithdrawal(tool, ended, kept string) review.Severity {
	shared := longWord.FindAllString(strings.ToLower(tool), -1)
	shared = slices.DeleteFunc(shared, func(w string) bool { return slices.Contains(commonWords, w) || !hasStem(ended, w) })
	meant := slices.ContainsFunc(shared, func(w string) bool { return !hasStem(kept, w) })
	covers := len(shared) > 0 || waitingText.MatchString(tool)
	switch {
	case meant || !covers || partText.MatchString(tool):
		return ""
	case allText.MatchString(tool):
		return review.Warning
	default:
		return review.Suggestion
	}
}

// commonWords are words that do not name the object of a tool.
var commonWords = []string{"your", "that", "this", "with", "from", "have", "will", "they", "them", "then", "when", "asks", "after", "before", "until", "which", "user", "tool"}

// hasStem reports whether a text has the beginning of a word, which has the word in other forms too.
func hasStem(text, word string) bool {
	stem := strings.TrimSuffix(word, "s")
	return strings.Contains(strings.ToLower(text), stem[:min(len(stem), 5)])
}
