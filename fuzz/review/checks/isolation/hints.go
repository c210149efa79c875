package isolation

import (
	"regexp"
	"slices"
	"strconv"
	"time"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
)

// hintChecks are the checks of the claims in tool annotations.
var hintChecks = []review.Check{
	{
		ID: "T-READS", Name: "a tool that claims to be read-only and is not", Effects: true, Severity: review.Warning, Category: "security",
		Sent: "calls of each tool with readOnlyHint, between calls of the other read-only tools and reads of " +
			"resources",
		Want:   "changes no answer of the other tools and resources; may count calls, if its text says so",
		Source: "revision 2026-07-28, schema, ToolAnnotations",
		Impact: "a client runs the tool without asking its user, although it changes data",
		Fix:    "remove readOnlyHint, or change nothing in the tool",
		Run:    checkReadOnlyTools,
	},
}

// An observer is a call whose answer is watched.
type observer struct {
	client.Call
	last string // the result
}

// checkReadOnlyTools calls tools that claim to be read-only. It records a finding if the answer of
// another tool or a resource changes only with the call, three times.
func checkReadOnlyTools(t *review.T) {
	readers, resources := t.Readers(), t.Report.Server.Resources
	var tools []client.Call
	for _, o := range readers[:min(len(readers), review.MaxTestedCalls)] {
		tools = append(tools, t.FlowOf(o).Call(client.FirstUser))
	}
	watched := slices.Clone(tools)
	for _, r := range resources[:min(len(resources), review.MaxTestedCalls)] {
		watched = append(watched, client.ReadResource(r.URI))
	}
	var observers []observer
	for _, call := range watched {
		if a, steady := callTwice(t, call); steady {
			observers = append(observers, observer{call, string(a.Result)})
		}
	}
	for _, tool := range tools {
		if !t.Selected(tool.Target) || t.Call(tool).Kind != client.Completed {
			continue
		}
		for i, o := range observers {
			if o.Method == tool.Method && o.Target == tool.Target {
				continue
			}
			observers[i].last = string(t.Tried(t.Call(o.Call)).Result)
			if observers[i].last == o.last {
				continue
			}
			if a, is := changesAnswer(t, tool, o.Call); is && !countsCalls(t, tool, o.Call) {
				t.Fault(tool.Target, review.Warning, "a tool with readOnlyHint changes the output of "+client.Short(o.Target, 60), a)
				return
			}
		}
	}
	t.SkipUntried("the server lists no two tools or resources that can be read")
}

// callTwice makes a call twice and reports whether both results are the same.
func callTwice(t *review.T, call client.Call) (a client.Answer, steady bool) {
	one := t.Call(call)
	t.Call(t.Client.Listing)
	a = t.Call(call)
	return a, one.Kind == client.Completed && string(one.Result) == string(a.Result)
}

// quietTime is the least time for which an answer must stay the same without the call.
const quietTime = 1200 * time.Millisecond

// changesAnswer reports whether a call changes the answer to another call, twice, which is constant
// without it for at least as long. It returns that answer.
func changesAnswer(t *review.T, call, observer client.Call) (a client.Answer, is bool) {
	began := t.Client.Clock.Now()
	a, steady := callTwice(t, observer)
	for range 2 {
		if !steady || t.Call(call).Kind != client.Completed {
			return a, false
		}
		before := string(a.Result)
		if a, steady = callTwice(t, observer); !steady || string(a.Result) == before {
			return a, false
		}
	}
	return a, staysSame(t, observer, string(a.Result), max(quietTime, t.Client.Clock.Now().Sub(began)))
}

// countingText matches the texts of tools that count calls.
var countingText = regexp.MustCompile(`(?i)\b(count(s|ed|ers?)?|statistics?|stats|how (often|many times)|usage|metrics|views|visits|hits|calls)\b`)

// countsCalls reports whether a call only adds one to numbers in the answer to another call, as a
// server may that says that it counts.
func countsCalls(t *review.T, call, observer client.Call) bool {
	tool, watched := t.Report.Server.Offer(client.Flow{Target: call.Target}), t.Report.Server.Offer(client.Flow{Target: observer.Target})
	if !countingText.MatchString(tool.Description + "\n" + watched.Name + "\n" + watched.Description) {
		return false
	}
	before := t.Call(observer)
	t.Call(call)
	after := t.Call(observer)
	return before.Kind == client.Completed && after.Kind == client.Completed && addsOne(string(before.Result), string(after.Result))
}

var numberText = regexp.MustCompile(`\d+`)

// addsOne reports whether texts differ only in numbers that are larger by one.
func addsOne(before, after string) bool {
	one, two := numberText.FindAllString(before, -1), numberText.FindAllString(after, -1)
	if numberText.ReplaceAllString(before, "#") != numberText.ReplaceAllString(after, "#") || before == after {
		return false
	}
	for i := range one {
		n, err := strconv.ParseUint(one[i], 10, 64)
		if one[i] != two[i] && (err != nil || strconv.FormatUint(n+1, 10) != two[i]) {
			return false
		}
	}
	return true
}

// staysSame reports whether the result of a call stays the same for a time. A list of the tools
// takes the place of the call that may change the result.
func staysSame(t *review.T, call client.Call, result string, d time.Duration) bool {
	for range 4 {
		if t.Client.Clock.Sleep(t.Context, d/4) != nil {
			return false
		}
		t.Call(t.Client.Listing)
		if a, steady := callTwice(t, call); !steady || string(a.Result) != result {
			return false
		}
	}
	return true
}
