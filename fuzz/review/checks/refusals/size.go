package refusals

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
	"sealab/internal/rawmcp"
)

// sizeChecks are the checks of the length of a state.
var sizeChecks = []review.Check{
	{
		ID: "RS-SIZE", Name: "a state that is too long", Flow: true, Severity: review.Warning, Category: "reliability",
		Sent: "states of 16 KiB, 60 KiB and 60,000 full stops; 20,000 nested lists as the state and inside " +
			"readable segments; a token with a larger number in it, which may be an iteration count; eight " +
			"questions in a row left unanswered; with --effects also states of 60 and 240 kB of one character to " +
			"compare times, of 1 MB, 4 MB and a million full stops, a token followed by a million line feeds, " +
			"and compressed states that inflate to 128 MiB",
		Want: "refuses these states quickly and continues to answer; keeps the state about as long when it repeats " +
			"a question",
		Source: "RFC 9110, section 15.5.14",
		Impact: "one request occupies or stops the server",
		Fix:    "limit the length of a state before decoding it, and the size and work while decoding it",
		Run:    checkLongStates,
	},
	{
		ID: "RS-TAKEBACK", Name: "a state that the server mints and then refuses", Flow: true, Severity: review.Warning, Category: "reliability",
		Sent:   "calls with longer and longer arguments; each token is presented at once",
		Want:   "accepts every token that it minted, or mints none",
		Source: review.SourceMRTR,
		Impact: "a flow with a long argument can never be finished",
		Fix:    "mint no token that is longer than the server accepts; store large states on the server",
		Timed:  true, Run: checkLongArguments,
	},
}

func checkLongStates(t *review.T) {
	token, reason := t.Mint()
	if t.SkipFor(reason) {
		return
	}
	texts := []tokens.Variant{{Name: "16 KiB", Text: strings.Repeat("A", 16<<10)}, {Name: "60 KiB", Text: strings.Repeat("A", 60<<10)}, {Name: "60,000 full stops", Text: strings.Repeat(".", 60000)}}
	if t.Options.Effects {
		texts = append(texts, tokens.Variant{Name: "1 MB", Text: strings.Repeat("A", 1e6)}, tokens.Variant{Name: "4 MB", Text: strings.Repeat("A", 4e6)},
			tokens.Variant{Name: "a million full stops", Text: strings.Repeat(".", 1e6)}, tokens.Variant{Name: "a token and a million line feeds", Text: token + strings.Repeat("\n", 1e6)})
	}
	if growsWithQuestions(t, token) || t.Options.Effects && growsQuadratically(t, token) {
		return
	}
	for _, v := range append(deepStates(token), texts...) {
		a := t.Tried(t.Present(v.State()))
		if t.Oracle.Judge(v.Text, a) == review.Accepted && !t.Oracle.Presence && !strings.HasPrefix(v.Text, token) &&
			t.VerdictOn(review.GarbageState) == review.Refused {
			t.Refute(review.Finding{Case: v.Name, Severity: review.Critical, Issue: "a state of " + v.Name + " that the server did not mint is accepted",
				Evidence: fmt.Sprintf("%v; garbage: refused", a), Want: "refused", Got: "accepted"})
			return
		}
		if took := slowAnswerTime(t, v, a); took > 0 {
			t.Refute(review.Finding{Case: v.Name, Severity: review.Warning, Issue: "the server works long on a state of " + v.Name,
				Evidence: fmt.Sprintf("%v after %v", a, took.Round(time.Second)), Want: "refused at once", Got: "refused late"})
			return
		}
		if broken := livenessFault(t); broken != "" {
			t.Refute(review.Finding{Case: v.Name, Severity: review.Warning, Issue: "the server does not answer after a state of " + v.Name,
				Evidence: fmt.Sprintf("%v; then %s", a, broken), Want: "refused", Got: "broken"})
			return
		}
	}
	if presentInflating(t, token); len(t.Findings) == 0 {
		presentMultiplied(t, token)
	}
}

// inflatedSize is the decompressed size of a compressed state, in bytes.
const inflatedSize = 128 << 20

// presentInflating presents forged compressed states, if effects are allowed. It records a finding
// if the refusal takes long, twice, and that of garbage does not.
func presentInflating(t *review.T, token string) {
	if !t.Options.Effects {
		return
	}
	for _, v := range tokens.Inflating(token, inflatedSize) {
		a := t.Tried(t.Present(v.State()))
		if t.Selected(v.Name) && refusedLate(t, a) && refusedLate(t, t.Present(v.State())) {
			t.Refute(review.Finding{Case: v.Name, Severity: review.Warning, Issue: "a state that nobody minted is inflated without a limit",
				Evidence: fmt.Sprintf("%d characters that inflate to %d MiB -> %v after %v", len(v.Text), inflatedSize>>20, a, a.Exchange.Took.Round(time.Millisecond)),
				Want:     "refused at once", Got: "refused late"})
			return
		}
	}
}

// unansweredQuestions is the number of questions that growsWithQuestions leaves unanswered.
// maxStateGrowth is the growth of the state that it reports.
const unansweredQuestions, maxStateGrowth = 8, 4

// growsWithQuestions reports whether unanswered questions make the state many times longer. This
// happens if each state contains the previous one.
func growsWithQuestions(t *review.T, token string) bool {
	f, first := t.Oracle.Flow, len(token)
	f.Last = nil
	for range unansweredQuestions {
		a := t.Tried(t.PresentIn(f, jsondoc.Quote(token)))
		if a.Kind != client.Asked || a.State == nil || len(*a.State) <= len(token) {
			return false
		}
		token = *a.State
	}
	if len(token) < maxStateGrowth*first {
		return false
	}
	t.Refute(review.Finding{Case: "unanswered questions", Severity: review.Warning, Issue: "the state grows with every question that is left unanswered",
		Evidence: fmt.Sprintf("%d characters, after %d questions %d", first, unansweredQuestions, len(token)), Want: "about as long", Got: "many times longer"})
	return true
}

// Lengths and growth of the time for growsQuadratically. A linear reader takes four times as long
// for the longer text, a quadratic one sixteen times.
const (
	shorterText   = 60_000
	longerText    = 4 * shorterText
	maxTimeGrowth = 9
)

// growsQuadratically presents long texts of one character. It records a finding if the time of a
// refusal grows with the square of the length in every repetition.
func growsQuadratically(t *review.T, token string) bool {
	for _, kind := range []struct{ name, head, text string }{{"full stops", "", "."}, {"letters", "", "A"}, {"padding", token, "="}, {"line feeds behind a token", token, "\n"}} {
		if !t.Selected(kind.name) {
			continue
		}
		took := func(n int) time.Duration {
			a := t.Tried(t.PresentText(kind.head + strings.Repeat(kind.text, n)))
			if a.Exchange == nil || !a.Refused() {
				return 0
			}
			return a.Exchange.Took
		}
		var long, short time.Duration
		for range review.Repetitions {
			long, short = took(longerText), max(took(shorterText), time.Millisecond)
			if long < lateAnswerTime || long < maxTimeGrowth*short {
				long = 0
				break
			}
		}
		if long > 0 {
			t.Refute(review.Finding{Case: kind.name, Severity: review.Warning, Issue: "the time of a refusal grows with the square of the length of a state of " + kind.name,
				Evidence: fmt.Sprintf("%d: %v; %d: %v, and so two times before", shorterText, short.Round(time.Millisecond), longerText,
					long.Round(time.Millisecond)), Want: "time that grows with the length", Got: "with its square"})
			return true
		}
	}
	return false
}

// workFactors are the factors by which presentMultiplied multiplies numbers in a token.
// lateAnswerTime is the time above which an answer is late.
var workFactors = []int{30, 1000, 30_000}

const lateAnswerTime = 250 * time.Millisecond

// presentMultiplied multiplies numbers in a token, which may be iteration counts of a key
// derivation function. It records a finding if the refusal takes long and that of garbage does not.
func presentMultiplied(t *review.T, token string) {
	for _, factor := range workFactors {
		if factor > 1000 && !t.Options.Effects {
			return
		}
		for _, v := range multiplyNumbers(token, factor) {
			if !t.Selected(v.Name) {
				continue
			}
			a := t.Tried(t.Present(v.State()))
			if !refusedLate(t, a) || !refusedLate(t, t.Present(v.State())) {
				continue
			}
			t.Refute(review.Finding{Case: v.Name, Severity: review.Warning, Issue: "a number in a state that nobody minted says how long the server works",
				Evidence: fmt.Sprintf("%s -> %v after %v", client.Short(v.Text, 120), a, a.Exchange.Took.Round(time.Millisecond)), Want: "refused at once",
				Got: "refused late"})
			return
		}
	}
}

// refusedLate reports whether a refusal took long, also compared to the fastest of several refusals
// of garbage.
func refusedLate(t *review.T, a client.Answer) bool {
	if !a.Refused() || a.Exchange == nil || a.Exchange.Took < lateAnswerTime {
		return false
	}
	soonest := a.Exchange.Took
	for range review.Repetitions {
		if b := t.PresentText(review.GarbageState); b.Exchange != nil {
			soonest = min(soonest, b.Exchange.Took)
		}
	}
	return a.Exchange.Took > longTimes*soonest
}

// multiplyNumbers returns tokens with one larger number. The number is a segment of three to seven
// digits, or a member of a readable object.
func multiplyNumbers(token string, factor int) []tokens.Variant {
	var all []tokens.Variant
	add := func(name, text string) {
		all = append(all, tokens.Variant{Name: fmt.Sprintf("%s times %d", name, factor), Text: text})
	}
	segments := tokens.Segments(token)
	for i, s := range segments {
		if n, err := strconv.Atoi(s.Text); err == nil && n >= 100 && n < 1e7 {
			add(fmt.Sprintf("segment %d", i), tokens.Replaced(segments, i, strconv.Itoa(n*factor)))
		}
	}
	for _, v := range tokens.Views(token) {
		for _, name := range jsondoc.SortedKeys(v.Object) {
			if n, err := strconv.Atoi(string(v.Object[name])); err == nil && n >= 100 && n < 1e7 {
				add(fmt.Sprintf("%q", name), v.Write(token, jsondoc.Object(jsondoc.With(v.Object, name, json.RawMessage(strconv.Itoa(n*factor))))))
			}
		}
	}
	return all
}

// nestingDepth is the nesting depth of the lists in deepStates.
const nestingDepth = 20_000

// deepStates returns nested lists in place of a token and of its readable parts.
func deepStates(token string) []tokens.Variant {
	nested := json.RawMessage(strings.Repeat("[", nestingDepth) + strings.Repeat("]", nestingDepth))
	all := []tokens.Variant{{Name: "nested lists", Text: string(nested)}}
	for _, v := range tokens.Views(token) {
		if v.Segment >= 0 {
			all = append(all, tokens.Variant{Name: fmt.Sprintf("nested lists in segment %d", v.Segment), Text: v.Write(token, nested)})
		}
	}
	return all
}

// longTimes is the ratio of the time for a bad state to that of a good call above which it is
// reported.
const longTimes = 20

// slowAnswerTime returns the time that a bad state takes. It returns 0 unless that time is long,
// twice, and long compared to good calls before and after.
func slowAnswerTime(t *review.T, v tokens.Variant, a client.Answer) time.Duration {
	// A slow reader may take 5 µs per byte.
	long := max(t.Options.Hang/6, 500*time.Millisecond) + time.Duration(len(v.Text))*5*time.Microsecond
	if a.Exchange == nil || a.Exchange.Took < long {
		return 0
	}
	good := t.Call(t.Oracle.Flow.Call(t.Oracle.User))
	again := t.Present(v.State())
	for _, e := range []*rawmcp.Exchange{good.Exchange, t.Call(t.Oracle.Flow.Call(t.Oracle.User)).Exchange} {
		if e == nil || again.Exchange == nil || again.Exchange.Took < max(long, longTimes*e.Took) {
			return 0
		}
	}
	return again.Exchange.Took
}

// livenessFault returns the reason why the server does not answer a good call, or "" if it does. A
// server that restarts at once counts as alive.
func livenessFault(t *review.T) string {
	if process := t.Client.Process; process != nil && !process.Alive() {
		return fmt.Sprintf("the process ended: %v", process.State())
	}
	for range 3 {
		if a := t.Call(t.Oracle.Flow.Call(t.Oracle.User)); a.Kind != client.Broken {
			return ""
		}
	}
	return "no answer to three calls"
}

// expiresWithin reports whether the server refuses an unchanged token after a time.
func expiresWithin(t *review.T, after time.Duration) bool {
	token, reason := t.Mint()
	return reason != "" || t.Client.Clock.Sleep(t.Context, after) != nil || t.PresentText(token).Refused()
}

func checkLongArguments(t *review.T) {
	t.Prefer(review.TakesText)
	sizes := []int{1000, 10_000, 30_000}
	if t.Options.Effects {
		sizes = append(sizes, 60_000, 100_000, 400_000, 900_000)
	}
	input, last := t.Oracle.Flow.Offer.InputSchema(), 0
	for _, n := range sizes {
		f := t.Oracle.Flow
		n = jsondoc.Room(input, n)
		args := jsondoc.WithText(f.Arguments, input, strings.Repeat("a", n))
		switch {
		case last == 0 && args == nil:
			t.Skip("no argument takes any text")
			return
		case args == nil || n <= last:
			return
		}
		last = n
		f = f.With(args)
		before := t.Client.Clock.Now()
		token, question, err := t.Client.Mint(t.Context, f, t.Oracle.User)
		if err != nil {
			if !question.Conclusive() {
				t.Skip("%v", err)
			}
			return // not minted
		}
		if a := t.Tried(t.PresentIn(f, jsondoc.Quote(token))); a.Refused() {
			// The lifetime starts within the first answer and is checked within the second.
			if expiresWithin(t, max(t.Client.Clock.Now().Sub(before), question.Exchange.Took+a.Exchange.Took)) {
				t.Skip("a token does not live as long as the answers about one of %d characters take", len(token))
				return
			}
			if !refusesLongArgument(t, n) {
				t.Skip("the server also refuses the token of a short argument, or accepts a long one now and then")
				return
			}
			t.Refute(review.Finding{Case: fmt.Sprintf("%d characters", n), Severity: review.Warning, Issue: fmt.Sprintf("the token of an argument of %d characters is minted and then refused", n),
				Evidence: fmt.Sprintf("a token of %d characters -> %v", len(token), a), Want: "accepted, or not minted", Got: "refused"})
			return
		}
	}
}

// refusesLongArgument presents tokens of a short argument and of one of n characters in turn. It
// reports whether each short one is accepted and each long one refused.
func refusesLongArgument(t *review.T, n int) bool {
	present := func(text string) client.Answer {
		arguments := t.Oracle.Flow.ArgumentsWith(text)
		return t.Fresh(t.Oracle.Flow.With(arguments), t.Oracle.User)
	}
	for range 3 {
		if !present(t.Word()).Succeeded() || !present(strings.Repeat("a", n)).Refused() {
			return false
		}
	}
	return present(t.Word()).Succeeded()
}
