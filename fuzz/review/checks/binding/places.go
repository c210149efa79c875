package binding

import (
	"fmt"
	"regexp"
	"slices"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// addingText matches the names of tools that add things.
var addingText = regexp.MustCompile(`(?i)^(add|create|new|insert|import|append|put|register|save|upload)`)

// A series adds things with one tool, and calls a tool that asks about one of them.
type series struct {
	flow     client.Flow // that asks
	add      client.Flow
	argument string // that both have
}

// changeBetween adds things, begins a call about one of them, changes the others, and answers. It
// records a finding if the result names another thing in its place, twice, and names the right one if
// the same change came before the call. The state then holds a place in a list.
func changeBetween(t *review.T) {
	for _, x := range seriesOf(t) {
		label := fmt.Sprintf("%s between the rounds of %s", x.add.Target, x.flow.Target)
		for _, change := range []func(series, *review.T, things) bool{series.addLast, series.endFirst, series.endThird} {
			if len(t.Findings) > 0 || !t.Selected(label) {
				return
			}
			at := x.place(t, change)
			if at < 0 {
				continue
			}
			if evidence := x.misplaced(t, change, at); evidence != "" && x.misplaced(t, change, at) != "" {
				t.Refute(review.Finding{Case: label, Severity: review.Warning, Issue: "a call that a change interrupts is carried out on another thing than the one that it names",
					Evidence: evidence, Want: "the result of the call", Got: "that of another", Flow: &x.flow})
			}
		}
	}
}

// seriesOf returns the flows whose arguments include a text that a tool which adds things also takes.
func seriesOf(t *review.T) []series {
	var all []series
	for _, f := range t.Flows {
		for _, tool := range t.Changers() {
			g := t.FlowOf(tool)
			for _, name := range jsondoc.SortedKeys(jsondoc.Members(g.Arguments)) {
				x := series{f, g, name}
				if f.Method == "tools/call" && f.Last != nil && f.Target != tool.Name && addingText.MatchString(tool.Name) && jsondoc.Members(f.Arguments)[name] != nil && takesFreshText(f, name) && takesFreshText(g, name) {
					all = append(all, x)
				}
			}
		}
	}
	return all[:min(len(all), 3)]
}

// takesFreshText reports whether an argument of a flow takes a fresh text.
func takesFreshText(f client.Flow, name string) bool {
	return jsondoc.Fits(jsondoc.ParseSchema(f.Offer.InputSchema()).Properties[name], jsondoc.Quote("sealabsealabseal"))
}

// things are the names of four things of which the last does not exist at first.
type things [4]string

// begin adds three things. It returns the flow that asks about the second.
func (x series) begin(t *review.T) (things, client.Flow, bool) {
	var all things
	for i := range all {
		all[i] = t.Word()
		if i < 3 && !x.adds(t, all[i]) {
			return all, x.flow, false
		}
	}
	return all, x.flow.WithArgument(x.argument, jsondoc.Quote(all[1])), true
}

func (x series) adds(t *review.T, name string) bool {
	return t.Tried(t.Call(x.add.WithArgument(x.argument, jsondoc.Quote(name)).Call(client.FirstUser))).Kind == client.Completed
}

func (x series) ends(t *review.T, name string) bool {
	return t.Tried(t.Walk(x.flow.WithArgument(x.argument, jsondoc.Quote(name)), client.FirstUser)).Kind == client.Completed
}

func (x series) addLast(t *review.T, all things) bool  { return x.adds(t, all[3]) }
func (x series) endFirst(t *review.T, all things) bool { return x.ends(t, all[0]) }
func (x series) endThird(t *review.T, all things) bool { return x.ends(t, all[2]) }

// place returns the number of the word of a result that names the thing, if the change comes before the
// call, or -1. It is the same twice.
func (x series) place(t *review.T, change func(series, *review.T, things) bool) int {
	at := -1
	for i := range 2 {
		all, f, ok := x.begin(t)
		if !ok || !change(x, t, all) {
			return -1
		}
		a := t.Tried(t.Walk(f, client.FirstUser))
		now := slices.Index(client.Words(a.Text), all[1])
		if a.Kind != client.Completed || now < 0 || i > 0 && now != at {
			return -1
		}
		at = now
	}
	return at
}

// misplaced makes the change between the rounds. It returns evidence if the result names another thing at
// a place, or "".
func (x series) misplaced(t *review.T, change func(series, *review.T, things) bool, at int) string {
	all, f, ok := x.begin(t)
	if !ok {
		return ""
	}
	question := t.Walk(f.WithLast(nil), client.FirstUser)
	if question.Kind != client.Asked || !change(x, t, all) {
		return ""
	}
	a := t.Tried(t.Call(t.Client.Reply(f.Call(client.FirstUser), question, f.Last)))
	words := client.Words(a.Text)
	if a.Kind != client.Completed || at >= len(words) || words[at] == all[1] || !slices.Contains(all[:], words[at]) {
		return ""
	}
	return fmt.Sprintf("%s %s; then a change of others; the call ended: %v", f, f.Arguments, a)
}
