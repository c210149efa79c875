package progress

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// sharedCase is the prefix of cases of two calls under one token.
const sharedCase = "at once: "

// minProgress is the number of notifications of a call that lasts long enough for another beside it.
const minProgress = 2

// A progressNote is a notification of progress.
type progressNote struct {
	Value float64 `json:"progress"`
	Text  string  `json:"message"`
}

// progressIn returns the notification of progress in a message.
func progressIn(message []byte) (note progressNote, ok bool) {
	m := jsondoc.Members(message)
	return note, string(m["method"]) == `"notifications/progress"` && json.Unmarshal(m["params"], &note) == nil
}

// progress returns the progress in the messages of a call.
func (x trackedCall) progress() []progressNote {
	var all []progressNote
	for _, m := range x.messages {
		if note, ok := progressIn(m); ok {
			all = append(all, note)
		}
	}
	return all
}

// sharesProgress makes a call as two clients at the same time: twice under different tokens, and
// then under one, because each client chooses its tokens. It records a finding if the progress of one
// call gets into the stream of the other only under one token.
func sharesProgress(t *review.T, call client.Call) {
	name := sharedCase + call.Target
	calls, ok := besideEachOther(t, call)
	if !ok || !t.Selected(name) {
		return
	}
	var apart [2][2][]progressNote
	for i := range apart {
		if apart[i], ok = progressAtOnce(t, calls, progressTokens); !ok || falls(apart[i][0]) || falls(apart[i][1]) {
			return
		}
	}
	together, ok := progressAtOnce(t, calls, [2]string{progressTokens[0], progressTokens[0]})
	if !ok {
		return
	}
	t.Trials++
	severity, whose := review.Warning, "another client"
	if calls[1].As == client.SecondUser {
		severity, whose = review.Critical, "another user"
	}
	for i, notes := range together {
		foreign := foreignText(notes, apart, i)
		if foreign == "" && !falls(notes) {
			continue
		}
		t.Refute(review.Finding{Case: name, Severity: severity, Issue: fmt.Sprintf("%s: the stream of a call has the progress of a call of %s under the same progressToken", call.Target, whose),
			Evidence: fmt.Sprintf("under one token: %v; under two: %v; foreign text: %s", notes, apart[0][i], client.Short(foreign, 100)), Want: "the progress of its own call", Got: "the progress of another call"})
		return
	}
}

// besideEachOther returns a call as the first user and one as the second user, which both send
// progress. The second is of the first user if the other one gets no progress.
func besideEachOther(t *review.T, call client.Call) ([2]client.Call, bool) {
	calls := [2]client.Call{call, call}
	calls[1].As = client.SecondUser
	if len(t.Options.Target.Second) > 0 && len(progressOf(t, calls[1])) >= minProgress {
		return calls, true
	}
	calls[1].As = client.FirstUser
	if t.Client.Older != "" {
		return calls, false // in one session, a client must not use a token twice
	}
	for _, o := range t.Report.Server.Tools {
		other := jsondoc.OtherArguments(call.Arguments, o.Input)
		if call.Method != "tools/call" || o.Name != call.Target || other == nil {
			continue
		}
		if calls[1].Arguments = other; len(progressOf(t, calls[1])) < minProgress {
			calls[1].Arguments = call.Arguments
		}
	}
	return calls, true
}

// progressOf returns the progress of a call alone.
func progressOf(t *review.T, call client.Call) []progressNote {
	x, _ := trackCall(t, call.Target, call)
	return x.progress()
}

// progressAtOnce makes two calls with their tokens. The second begins at the first progress of the
// first. It returns the progress in the stream of each, and false if one of them has too little.
func progressAtOnce(t *review.T, calls [2]client.Call, tokens [2]string) (notes [2][]progressNote, ok bool) {
	var requests [2]*client.Request
	for i, call := range calls {
		call.Progress = tokens[i]
		requests[i] = t.Request(call)
		if t.SkipOn(t.Client.Take(t.Context)) {
			return notes, false
		}
	}
	send := func(i int, noted func()) {
		r := requests[i].Raw()
		r.Done = func(m []byte) bool {
			if note, is := progressIn(m); is {
				notes[i] = append(notes[i], note)
				noted()
			}
			return requests[i].Ends(m)
		}
		t.Client.HTTP.Do(t.Context, r)
	}
	begun := make(chan struct{})
	begin := sync.OnceFunc(func() { close(begun) })
	var first sync.WaitGroup
	first.Go(func() {
		defer begin()
		send(0, begin)
	})
	<-begun
	send(1, func() {})
	first.Wait()
	return notes, tokens[0] == tokens[1] || len(notes[0]) >= minProgress && len(notes[1]) >= minProgress
}

// falls reports whether progress does not increase.
func falls(notes []progressNote) bool {
	for i := range notes[min(len(notes), 1):] {
		if notes[i+1].Value <= notes[i].Value {
			return true
		}
	}
	return false
}

// foreignText returns a text in the stream of call i that only the other call had under its own
// token, both times.
func foreignText(notes []progressNote, apart [2][2][]progressNote, i int) string {
	has := func(notes []progressNote, text string) bool {
		return slices.ContainsFunc(notes, func(n progressNote) bool { return n.Text == text })
	}
	for _, n := range notes {
		if has(apart[0][1-i], n.Text) && has(apart[1][1-i], n.Text) && !has(apart[0][i], n.Text) && !has(apart[1][i], n.Text) {
			return n.Text
		}
	}
	return ""
}
