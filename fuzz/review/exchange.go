package review

import (
	"fmt"

	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// exchanges reports whether the target asks its last question again for a token of the source without answers,
// and accepts the new state, twice. The answers to the earlier questions then count for a call that nobody gave
// them for.
func (t *T) exchanges(m Move, o *Oracle) (evidence string, is bool) {
	if len(m.Target.Rounds) == 0 || m.Change != nil || !o.Completes() {
		return "", false
	}
	unanswered := m.Target.WithLast(nil)
	garbage := t.Client.Present(t.Context, unanswered, jsondoc.Quote(GarbageState), m.TargetUser)
	for range 2 {
		token, question, err := t.Client.Mint(t.Context, m.Source, m.SourceUser)
		if err != nil {
			return "", false
		}
		asked := t.Client.Present(t.Context, unanswered, jsondoc.Quote(token), m.TargetUser)
		t.Trials++
		if !asked.HasState() || asked.Class() != question.Class() || asked.Class() == o.Fresh.Class() || asked.Class() == garbage.Class() {
			return "", false
		}
		a := t.Client.Present(t.Context, m.Target, jsondoc.Quote(*asked.State), m.TargetUser)
		if a.Kind != client.Completed || o.Verdict(a) != Accepted {
			return "", false
		}
		evidence = fmt.Sprintf("token of %s %s: at %s %s without answers -> %v; the answers with the new state -> %v; garbage without answers -> %v",
			m.Source, m.Source.Arguments, m.Target, m.Target.Arguments, asked, a, garbage)
	}
	return evidence, true
}
