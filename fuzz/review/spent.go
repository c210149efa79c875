package review

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// A call may work only once for each thing that it acts on, as a deletion does. Then the first
// accepted answer leaves nothing for the controls of later checks. So declines are presented before
// it, and flows that cannot be repeated are reviewed without answers.

// A Declined is a call that the server asked about before each decline, and no longer after the
// last one, which had the content of an acceptance.
type Declined struct {
	Flow   client.Flow
	Action string        // of the last decline
	Plain  client.Answer // to a decline without content
	Got    client.Answer // to the last decline
	After  client.Answer // to the call
}

// declineFirst presents declines of a, the first question of a tool, and records in r.Declined the
// first one that the server carries out. It reports whether it found one.
func (r *Review) declineFirst(ctx context.Context, f client.Flow, a client.Answer) bool {
	if f.Method != "tools/call" || !r.Options.Effects || a.Kind != client.Asked || !a.HasState() {
		return false
	}
	accepting := AnswersTo(a.Questions)[0]
	answer := func(action string, content bool) client.Answer {
		answers, reason := WithAction(accepting, action, content)
		if reason != "" {
			return client.Answer{}
		}
		got, _ := r.Client.Walk(ctx, f.WithLast(answers), client.FirstUser)
		return got
	}
	d := Declined{Flow: f, Plain: answer("decline", false)}
	isSame := func(a client.Answer) bool { return a.Class() == d.Plain.Class() && a.SameWords(d.Plain) }
	if !d.Plain.Conclusive() || !isSame(answer("decline", false)) {
		return false
	}
	for _, d.Action = range []string{"decline", "cancel", ""} {
		d.Got, d.After = answer(d.Action, true), r.Client.Call(ctx, f.Call(client.FirstUser))
		if d.Got.Kind == client.Completed && !isSame(d.Got) && d.After.Conclusive() && d.After.Kind != client.Asked {
			r.Declined = append(r.Declined, d)
			return true
		}
	}
	return false
}

// maxUnspent is the number of calls with other arguments that replace one flow at most.
const maxUnspent = 8

// unspent returns an oracle without answers for a flow that cannot be repeated: the same call if
// the server still asks about it, or else with other arguments. It returns nil if there is none.
func (r *Review) unspent(ctx context.Context, f client.Flow) *Oracle {
	f.Rounds, f.Last = nil, nil
	calls := []client.Flow{f}
	add := func(arguments json.RawMessage) {
		same := func(g client.Flow) bool { return string(g.Arguments) == string(arguments) }
		if arguments != nil && len(calls) <= maxUnspent && !slices.ContainsFunc(calls, same) {
			calls = append(calls, f.With(arguments))
		}
	}
	add(f.Other)
	given := jsondoc.Members(f.Arguments)
	for _, name := range jsondoc.SortedKeys(given) {
		for _, v := range r.values[name] {
			add(jsondoc.Object(jsondoc.With(given, name, v)))
		}
	}
	for i, g := range calls {
		if len(calls) > 1 {
			g.Other = calls[(i+1)%len(calls)].Arguments
		}
		if o, reason := r.NewOracle(ctx, g, client.FirstUser); reason == "" {
			return o
		}
	}
	return nil
}

// open runs the controls of a flow. It returns nil, with a note in the report, if no token of the
// flow can be judged.
func (r *Review) open(ctx context.Context, f client.Flow) *Oracle {
	o, reason := r.NewOracle(ctx, f, client.FirstUser)
	if reason == "" {
		return o
	}
	note := fmt.Sprintf("flow %s: %s", f, reason)
	if f.Last != nil {
		if o = r.unspent(ctx, f); o != nil {
			note += fmt.Sprintf("; it cannot be repeated, and is reviewed without answers, with arguments %s", o.Flow.Arguments)
		} else {
			note += "; if the tool works once for each argument, name a second one with --other"
		}
	}
	r.Report.Notes = append(r.Report.Notes, note)
	return o
}

// noteSpent notes the flows that completed at first and no longer do: checks of them may have shown less
// than they say.
func (r *Review) noteSpent(ctx context.Context) {
	t := r.newT(ctx, Check{})
	for _, o := range r.Oracles {
		if o.Good.Kind != client.Completed || ctx.Err() != nil || r.gone != "" || r.Client.Over() != nil {
			continue
		}
		if a := t.Fresh(o.Flow, o.User); a.Kind != client.Completed {
			r.Report.Notes = append(r.Report.Notes, fmt.Sprintf("flow %s completed at first, and after the checks it gives %v: some may have "+
				"tested less than they say; restart the server, and name them with --checks", o.Flow, a))
		}
	}
}
