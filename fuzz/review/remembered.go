package review

import (
	"context"
	"strings"

	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// A Remembered is a call that the server asked about, and carried out without a question after a call with
// another value of one argument was approved.
type Remembered struct {
	Approved client.Flow
	Flow     client.Flow   // of the other call
	Asked    client.Answer // to the other call before the approval; the question shows the value
	Got      client.Answer // to the other call after it, twice
}

// A specificCall is a call whose question shows the value of one argument.
type specificCall struct {
	flow         client.Flow
	value, other string // the value of the argument, and that in the flow that it was derived from
	asked        client.Answer
}

// maxSpecific is the number of calls with other values that are made before a flow is approved.
const maxSpecific = 4

// specificCalls calls a tool with other values that its schema lists for one argument. It returns the calls whose
// question shows the value.
func (r *Review) specificCalls(ctx context.Context, f client.Flow) []specificCall {
	if f.Method != "tools/call" || !r.Options.Effects {
		return nil
	}
	var all []specificCall
	tried := 0
	properties := jsondoc.ParseSchema(f.Offer.InputSchema()).Properties
	for name, raw := range jsondoc.InOrder(jsondoc.Members(f.Arguments)) {
		value, ok := jsondoc.Text(raw)
		if !ok {
			continue
		}
		for _, listed := range jsondoc.ParseSchema(properties[name]).Enum {
			other, ok := jsondoc.Text(listed)
			if !ok || other == value || tried == maxSpecific {
				continue
			}
			tried++
			flow := f.WithArgument(name, listed)
			if a := r.Client.Call(ctx, flow.Call(client.FirstUser)); a.Kind == client.Asked && shows(a, other) {
				all = append(all, specificCall{flow, other, value, a})
			}
		}
	}
	return all
}

// shows reports whether a question contains a value.
func shows(a client.Answer, value string) bool {
	for _, q := range a.Questions {
		if client.HasWord(q.Params.Message, value) {
			return true
		}
	}
	return false
}

// noteRemembered makes specific calls after a flow was approved. It records in r.Remembered the first one that is no
// longer asked about and that gives, twice, the result of the approved flow with its own value.
func (r *Review) noteRemembered(ctx context.Context, approved client.Flow, result client.Answer, calls []specificCall) {
	if result.Kind != client.Completed {
		return
	}
	for _, c := range calls {
		want := client.Blank(strings.ReplaceAll(result.Text, c.other, c.value))
		done := func() (client.Answer, bool) {
			a := r.Client.Call(ctx, c.flow.Call(client.FirstUser))
			return a, a.Kind == client.Completed && client.HasWord(a.Text, c.value) && strings.Contains(client.Blank(a.Text), want)
		}
		if _, ok := done(); !ok {
			continue
		}
		if got, again := done(); again {
			r.Remembered = append(r.Remembered, Remembered{approved, c.flow, c.asked, got})
			return
		}
	}
}
