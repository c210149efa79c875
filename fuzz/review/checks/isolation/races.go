package isolation

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// raceChecks are the checks of calls that change one thing at the same time.
var raceChecks = []review.Check{
	{
		ID: "T-RACE", Name: "calls at once that are carried out as if each were alone", Effects: true, Severity: review.Warning, Category: "security",
		Sent: "a tool that changes a number in its own result or in that of a read-only tool or resource by the same " +
			"amount each time: four calls at once, with a state each if the tool asks; a tool that refuses a second " +
			"call with the same argument: four calls at once with a new one, as both users in turn",
		Want:   "counts each call that it carries out; carries out one call",
		Source: "CWE-362; CWE-367",
		Impact: "a user spends a balance several times, or several users take one thing",
		Fix:    "compare and change the value in one transaction, or under one lock",
		Run:    checkRaces,
	},
}

const (
	racingCalls = 4
	// raceRounds is the number of times that calls are made at once. Two must show the fault.
	raceRounds = 3
)

// checkRaces carries out tools that do not claim to be read-only, one after the other and at once.
func checkRaces(t *review.T) {
	if t.Client.HTTP == nil && !t.Modern() {
		t.Skip("the server takes one request after the other")
		return
	}
	deeds := deedsOf(t)
	for _, d := range deeds[:min(len(deeds), review.MaxTestedCalls)] {
		if !t.Selected(d.label()) {
			continue
		}
		if losesCounts(d) || takesTwice(d) {
			return
		}
	}
	t.SkipUntried("no tool may be carried out")
}

// A deed is a call that changes something, or a flow with a fresh state each time.
type deed struct {
	*review.T
	flow   client.Flow
	worded bool // each call has a new word in its arguments
}

// deedsOf returns the tools that ask, and those that may change something and complete without a
// question.
func deedsOf(t *review.T) []deed {
	var all []deed
	for _, f := range t.Flows {
		if f.Method == "tools/call" && f.Last != nil {
			all = append(all, deed{T: t, flow: f})
		}
	}
	for _, tool := range t.Changers() {
		if !t.Asks(tool) {
			all = append(all, deed{T: t, flow: t.FlowOf(tool)})
		}
	}
	return all
}

func (d deed) label() string { return "at once: " + d.flow.String() }

// ready returns a call that carries out the deed, or the answer that shows why there is none.
func (d deed) ready(as client.User) (call client.Call, asked client.Answer, ok bool) {
	f := d.flow
	if d.worded {
		f = f.With(f.ArgumentsWith(d.Word()))
	}
	return readyCall(d.T, f, as)
}

// carryOut carries out the deed as a user.
func (d deed) carryOut(as client.User) client.Answer {
	call, asked, ok := d.ready(as)
	if !ok {
		return asked
	}
	return d.Tried(d.Call(call))
}

// readyCalls returns n calls that carry out the deed, as the users in turn, or nil if there is none.
func (d deed) readyCalls(n int, users []client.User) []client.Call {
	var calls []client.Call
	for i := range n {
		call, _, ok := d.ready(users[i%len(users)])
		if !ok {
			return nil
		}
		calls = append(calls, call)
	}
	return calls
}

// atOnce carries out the deed several times at once, as the users in turn. It returns the answers
// that are like those of the deed alone.
func (d deed) atOnce(users []client.User, alone *review.Oracle) []client.Answer {
	calls := d.readyCalls(racingCalls, users)
	if calls == nil {
		return nil
	}
	d.Trials += racingCalls
	return slices.DeleteFunc(d.Together(calls), func(a client.Answer) bool { return !isDone(a, alone) })
}

// isDone reports whether an answer is like those of a deed alone.
func isDone(a client.Answer, alone *review.Oracle) bool {
	return a.Kind == client.Completed && alone.Alike(a)
}

// A gauge is a number in the result of a call, which a deed changes by the same amount each time.
type gauge struct {
	deed
	call  *client.Call   // nil: the deed, which each reading carries out once more
	place int            // of the number among those of the result
	step  float64        // the amount
	alone *review.Oracle // the answers to the deed alone
}

// gaugeOf carries out a deed several times, reads other calls after each time, and reads them again
// after a while. It returns a number that tells how often the deed was carried out.
func gaugeOf(d deed) (gauge, bool) {
	calls := d.ReadingCalls()
	calls = calls[:min(len(calls), review.MaxTestedCalls)]
	read := make([][]client.Answer, len(calls))
	var own []client.Answer
	for range 3 {
		own = append(own, d.carryOut(client.FirstUser))
		readAll(d, calls, read)
	}
	_ = d.Client.Clock.Sleep(d.Context, quietTime) // calls fail as well if the review ends
	readAll(d, calls, read)
	own = append(own, d.carryOut(client.FirstUser))
	if slices.ContainsFunc(own, func(a client.Answer) bool { return a.Kind != client.Completed }) {
		return gauge{}, false
	}
	g := gauge{deed: d, alone: &review.Oracle{Good: own[0], Mask: review.MaskOf(own)}}
	for i, answers := range read {
		if g.call = &calls[i]; g.find(answers, 0) {
			return g, true
		}
	}
	g.call = nil
	found := g.find(own, 1)
	return g, found
}

// readAll makes the calls and adds the answers to those of each.
func readAll(d deed, calls []client.Call, read [][]client.Answer) {
	for i, call := range calls {
		read[i] = append(read[i], d.Call(call))
	}
}

// find looks for a number that changes by one step from the first to the second and to the third
// answer, and by the last number of steps to the fourth.
func (g *gauge) find(answers []client.Answer, last float64) bool {
	for g.place = range len(numbersIn(answers[0])) {
		var n [4]float64
		for k, a := range answers {
			n[k] = g.in(a)
		}
		if g.step = n[1] - n[0]; g.step != 0 && isNear(n[2]-n[1], g.step) && isNear(n[3]-n[2], last*g.step) {
			return true
		}
	}
	return false
}

// steps reads the gauge and returns the number of steps since the given reading.
func (g *gauge) steps(since float64) (now, steps float64) {
	if g.call == nil {
		now = g.in(g.carryOut(client.FirstUser))
		return now, (now-since)/g.step - 1
	}
	now = g.in(g.Tried(g.Call(*g.call)))
	return now, (now - since) / g.step
}

// in returns the number in an answer, or NaN.
func (g *gauge) in(a client.Answer) float64 {
	all := numbersIn(a)
	if a.Kind != client.Completed || g.place >= len(all) {
		return math.NaN()
	}
	n, err := strconv.ParseFloat(all[g.place], 64)
	if err != nil {
		return math.NaN()
	}
	return n
}

// separateNumber matches numbers that are not parts of words.
var separateNumber = regexp.MustCompile(`\b\d+(?:\.\d+)?\b`)

// numbersIn returns the number of the lines of a result, which counts the entries of a list, and the numbers in it.
func numbersIn(a client.Answer) []string {
	return append([]string{strconv.Itoa(strings.Count(a.Text, "\n"))}, separateNumber.FindAllString(string(a.Result), -1)...)
}

func isNear(a, b float64) bool { return math.Abs(a-b) < 1e-6 }

// losesCounts carries out a deed several times at once, and then as often one after the other. It
// records a finding if its gauge counts fewer of the former, twice, and always all of the latter.
func losesCounts(d deed) bool {
	d.worded = d.flow.Last == nil && review.TakesText(d.flow)
	g, ok := gaugeOf(d)
	if !ok && d.worded {
		d.worded = false
		g, ok = gaugeOf(d)
	}
	lost, users := 0, []client.User{client.FirstUser}
	var f review.Finding
	for range raceRounds {
		if !ok {
			return false
		}
		before, _ := g.steps(0)
		answers := g.atOnce(users, g.alone)
		_ = g.Client.Clock.Sleep(g.Context, quietTime) // some writes show late
		after, counted := g.steps(before)
		if ok = len(answers) > 1 && counted >= 0 && g.countsInTurn(after, len(answers)); ok && counted < float64(len(answers))-0.5 {
			lost++
			f = review.NewFinding(g.label(), severityOf(g.deed, users, answers), fmt.Sprintf("of %d calls at once that were carried out, %s counts fewer", len(answers), g), answers[0])
			f.Evidence = fmt.Sprintf("%v before, %v after %d calls at once, %+v with each call alone; %s", before, after, len(answers), g.step, f.Evidence)
		}
	}
	if lost < 2 {
		return false
	}
	f.Got = "counted fewer"
	g.Refute(f)
	return true
}

// countsInTurn carries out the deed n times, one after the other, and reports whether the gauge
// counts all of them since the given reading. All states are minted before, as for calls at once: a
// server may take the open flows of a user for one.
func (g *gauge) countsInTurn(since float64, n int) bool {
	calls := g.readyCalls(n, []client.User{client.FirstUser})
	if len(calls) < n {
		return false
	}
	for _, call := range calls {
		if !isDone(g.Tried(g.Call(call)), g.alone) {
			return false
		}
	}
	_, counted := g.steps(since)
	return isNear(counted, float64(n))
}

// String names the call that shows the number.
func (g gauge) String() string {
	if g.call == nil {
		return "its own result"
	}
	return client.Short(g.call.Target, 60)
}

// severityOf rates answers to calls at once. A server may merge equal calls of one user, and then
// gives all of them one answer.
func severityOf(d deed, users []client.User, answers []client.Answer) review.Severity {
	merged := !slices.ContainsFunc(answers, func(a client.Answer) bool { return string(a.Result) != string(answers[0].Result) })
	if merged && len(users) == 1 && d.flow.Last == nil && !d.worded {
		return review.Suggestion
	}
	return review.Warning
}

// takesTwice looks for an argument with each value of which a deed is carried out once, for both
// users or for one. It records a finding if the deed is carried out several times at once with a new
// value, twice.
func takesTwice(d deed) bool {
	given := jsondoc.Members(d.flow.Arguments)
	for _, name := range jsondoc.SortedKeys(given) {
		only := jsondoc.Object(map[string]json.RawMessage{name: given[name]})
		var fresh []deed
		for _, one := range jsondoc.Series(d.flow.Offer.InputSchema(), only, 8) {
			fresh = append(fresh, deed{T: d.T, flow: d.flow.With(jsondoc.Object(jsondoc.With(given, name, jsondoc.Members(one)[name])))})
		}
		if fresh == nil {
			continue
		}
		both := len(d.Options.Target.Second) > 0 && takesValuesTwice(d, fresh[:4], review.UserPairs[0][:])
		if both || takesValuesTwice(d, fresh[4:], []client.User{client.FirstUser}) {
			return true
		}
	}
	return false
}

// takesValuesTwice carries out a deed with each of two values, as one user and then again as each of
// them, and with two others as the users at once.
func takesValuesTwice(d deed, fresh []deed, users []client.User) bool {
	var firsts, again []client.Answer
	for i, x := range fresh[:2] {
		firsts = append(firsts, x.carryOut(users[i%len(users)]))
		for _, as := range users {
			again = append(again, x.carryOut(as))
		}
	}
	alone := &review.Oracle{Good: firsts[0], Mask: review.MaskOf(firsts)}
	fails := func(a client.Answer) bool { return !isDone(a, alone) }
	works := func(a client.Answer) bool { return !a.Refused() } // random texts differ from each other as well
	if slices.ContainsFunc(firsts, fails) || slices.ContainsFunc(again, works) {
		return false
	}
	var answers []client.Answer
	for _, x := range fresh[2:] {
		if answers = x.atOnce(users, alone); len(answers) < 2 {
			return false
		}
	}
	f := review.NewFinding(d.label(), severityOf(d, users, answers), fmt.Sprintf("a call that is carried out once for each value of an argument is carried out %d times at once", len(answers)), answers[0])
	f.Got = "carried out several times"
	d.Refute(f)
	return true
}
