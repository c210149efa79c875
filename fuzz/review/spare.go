package review

import (
	"context"
	"regexp"
	"strconv"

	"sealab/fuzz/review/client"
)

// A Spare is a tool for one use that refuses a further call once it was carried out, and carries out the calls
// that had begun before.
type Spare struct {
	Flow    client.Flow
	First   client.Answer // the result of the flow
	Refused client.Answer // to a new call after it
	Second  client.Answer // the result of a call that had begun before
	// Users is set if the same shows for the second user, who begins fewer calls: the limit is not on beginnings.
	Users bool
}

// spareCalls are questions that are not answered before a flow is carried out, by user.
type spareCalls map[client.User][]client.Answer

// beginSpares begins calls of a tool for one use, beside the one that a is the first question of.
func (r *Review) beginSpares(ctx context.Context, f client.Flow, a client.Answer) spareCalls {
	if f.Method != "tools/call" || !r.OneTime(f) || !a.HasState() {
		return nil
	}
	all := spareCalls{client.FirstUser: {a, r.Client.Call(ctx, f.Call(client.FirstUser))}}
	if len(r.Options.Target.Second) > 0 {
		all[client.SecondUser] = []client.Answer{r.Client.Call(ctx, f.Call(client.SecondUser))}
	}
	return all
}

// noteSpare answers the spare calls of a flow that was carried out, if new calls are refused. It records in
// r.Spares that each of them is carried out as well.
func (r *Review) noteSpare(ctx context.Context, f client.Flow, first client.Answer, calls spareCalls) {
	if calls == nil || first.Kind != client.Completed {
		return
	}
	s := Spare{Flow: f, First: first}
	var is bool
	if s.Refused, s.Second, is = r.runsSpares(ctx, f, client.FirstUser, first, calls[client.FirstUser]); !is {
		return
	}
	others := calls[client.SecondUser]
	if len(others) > 0 && others[0].Kind == client.Asked {
		first, _ := r.Client.Walk(ctx, f, client.SecondUser)
		if _, _, s.Users = r.runsSpares(ctx, f, client.SecondUser, first, others); !s.Users {
			return // the limit may be on beginnings
		}
	}
	r.Spares = append(r.Spares, s)
}

// runsSpares answers spare calls after a flow had its first result. It reports whether each of them has a result
// that counts on from the one before, its state is then used up, and new calls are refused all the time.
func (r *Review) runsSpares(ctx context.Context, f client.Flow, as client.User, first client.Answer, calls []client.Answer) (refused, second client.Answer, is bool) {
	call, rounds := f.Call(as), f.Answers()
	if refused = r.Client.Call(ctx, call); !refused.Refused() || len(rounds) == 0 {
		return refused, second, false
	}
	for i, a := range calls {
		last, _ := r.Client.Continue(ctx, call, a, rounds[:len(rounds)-1])
		if last.Kind != client.Asked || !last.HasState() {
			return refused, second, false
		}
		end := r.Client.Reply(call, last, rounds[len(rounds)-1])
		got := r.Client.Call(ctx, end)
		if !countsOn(first, got) || !r.Client.Call(ctx, end).Refused() || !r.Client.Call(ctx, call).Refused() {
			return refused, second, false
		}
		if first = got; i == 0 {
			second = got
		}
	}
	return refused, second, true
}

// digits matches a number in the text of a result.
var digits = regexp.MustCompile(`\d+`)

// countsOn reports whether two results have the same text but for one number, which is larger by one in the
// second. A result that was kept is the same, and a time differs by chance.
func countsOn(one, two client.Answer) bool {
	if one.Kind != client.Completed || two.Kind != client.Completed || digits.ReplaceAllString(one.Text, "#") != digits.ReplaceAllString(two.Text, "#") {
		return false
	}
	n := 0
	later := digits.FindAllString(two.Text, -1)
	for i, text := range digits.FindAllString(one.Text, -1) {
		if text == later[i] {
			continue
		}
		before, _ := strconv.Atoi(text)
		after, err := strconv.Atoi(later[i])
		if n++; err != nil || after != before+1 {
			return false
		}
	}
	return n == 1
}
