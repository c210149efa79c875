package review

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
)

// A Move presents a token of one flow in another flow.
type Move struct {
	Source, Target         client.Flow
	SourceUser, TargetUser client.User
	// Strict requires the answer that the target's own token gets. Otherwise an answer that is not
	// a refusal is enough.
	Strict bool
	// Change returns the token as it is presented; nil: unchanged.
	Change func(token string) string
}

// Changed returns a token as the move presents it.
func (m Move) Changed(token string) string {
	if m.Change == nil {
		return token
	}
	return m.Change(token)
}

// goes reports whether a flow accepts a token that was moved to it.
func (m Move) goes(o *Oracle, token string, a client.Answer) bool {
	if m.Strict {
		return o.Judge(token, a) == Accepted
	}
	begins := a.Kind == client.Asked && o.Good.Class() != o.Fresh.Class() && a.Class() == o.Fresh.Class()
	return a.Conclusive() && !a.Refused() && !begins && (o.Bad.Refused() || a.Class() != o.Bad.Class())
}

// Moved reports whether the target accepts a token of the source, or exchanges it for one of its own. The token
// must be accepted twice, with the target's own token accepted and garbage refused beside it. The target must need
// a state.
func (t *T) Moved(m Move) (evidence string, is bool, reason string) {
	o, reason := t.place(m)
	if reason != "" {
		return "", false, fmt.Sprintf("%s: %s", m.Target, reason)
	}
	if evidence, is, reason = t.moves(m, o); !is {
		if reason == "" {
			evidence, is = t.exchanges(m, o)
		}
		return evidence, is, reason
	}
	if o, reason = t.NewOracle(t.Context, m.Target, m.TargetUser); reason != "" {
		return "", false, fmt.Sprintf("%s: %s", m.Target, reason)
	}
	if evidence, is, reason = t.moves(m, o); is {
		reason = t.needless(m, o)
	}
	return evidence, is && reason == "", reason
}

// needless returns a reason if the state of the target has no use: its answers are carried
// out alike without one, or both calls have the same text without a tag and without their arguments,
// which nobody has answered. Another check reports answers without a state.
func (t *T) needless(m Move, o *Oracle) string {
	if m.Target.Last == nil {
		one, _, err := t.Client.Mint(t.Context, m.Source, m.SourceUser)
		two, _, also := t.Client.Mint(t.Context, m.Target, m.TargetUser)
		if err == nil && also == nil && one == two && len(tokens.CodedSegments(tokens.Segments(one))) == 0 && !mentions(one, m.Source.Arguments) {
			return fmt.Sprintf("%s: the state is the constant %s; --effects tells if it has an influence", m.Target, client.Short(one, 40))
		}
		return ""
	}
	if a := t.Call(m.Target.AnswersAlone(m.TargetUser)); a.Kind == client.Completed && o.Good.Kind == client.Completed && (o.Mask == nil || o.Alike(a)) && !t.decides(m) {
		return fmt.Sprintf("%s: the state has no influence: the answers are carried out alike without one", m.Target)
	}
	return ""
}

// decidedPairs is the number of times that a result must follow a token. Some servers choose their words by
// lot.
const decidedPairs = 6

// decides reports whether the token of another user decides about a result, although the answers are carried
// out without it as well: all results with it have a word that none without it has, and the reverse.
func (t *T) decides(m Move) bool {
	if m.SourceUser == m.TargetUser {
		return false
	}
	var moved, alone []map[string]bool
	for range decidedPairs {
		token, _, err := t.Client.Mint(t.Context, m.Source, m.SourceUser)
		if err != nil {
			return false
		}
		a := t.Client.Present(t.Context, m.Target, jsondoc.Quote(m.Changed(token)), m.TargetUser)
		b := t.Call(m.Target.AnswersAlone(m.TargetUser))
		if a.Kind != client.Completed || b.Kind != client.Completed {
			return false
		}
		moved, alone = append(moved, wordsOf(a)), append(alone, wordsOf(b))
	}
	return haveOwnWord(moved, alone) && haveOwnWord(alone, moved)
}

func wordsOf(a client.Answer) map[string]bool {
	all := map[string]bool{}
	for _, word := range strings.Fields(client.Blank(a.Text)) {
		all[word] = true
	}
	return all
}

// haveOwnWord reports whether all texts have a word that no other text has.
func haveOwnWord(texts, others []map[string]bool) bool {
	for word := range texts[0] {
		has := func(text map[string]bool) bool { return text[word] }
		if !slices.ContainsFunc(texts, func(text map[string]bool) bool { return !has(text) }) && !slices.ContainsFunc(others, has) {
			return true
		}
	}
	return false
}

// mentions reports whether a state contains the text of an argument. Shorter texts may be part of words.
func mentions(state string, arguments json.RawMessage) bool {
	for _, raw := range jsondoc.Members(arguments) {
		if text := strings.Trim(string(raw), `"`); len(text) > 2 && strings.Contains(state, text) {
			return true
		}
	}
	return false
}

// place returns the controls of the target of a move. It runs them once per check.
func (t *T) place(m Move) (*Oracle, string) {
	key := fmt.Sprintf("%d %s %s %s %s %s", m.TargetUser, m.Target.Method, m.Target.Target, m.Target.Arguments, m.Target.Rounds, m.Target.Last)
	if o := t.places[key]; o != nil {
		return o, ""
	}
	o, reason := t.NewOracle(t.Context, m.Target, m.TargetUser)
	if reason == "" {
		t.places[key] = o
	}
	return o, reason
}

// moves reports whether the target accepts a token, according to the controls o.
func (t *T) moves(m Move, o *Oracle) (evidence string, is bool, reason string) {
	if o.Presence {
		return "", false, fmt.Sprintf("%s: any text is accepted as a state", m.Target)
	}
	for range 2 {
		token, _, err := t.Client.Mint(t.Context, m.Source, m.SourceUser)
		if err != nil {
			return "", false, err.Error()
		}
		token = m.Changed(token)
		a, after := t.Client.Present(t.Context, m.Target, jsondoc.Quote(token), m.TargetUser), ""
		if !m.goes(o, token, a) {
			// Some servers cache the verdict by a part of the request.
			t.Client.Present(t.Context, m.Source, jsondoc.Quote(token), m.SourceUser)
			a, after = t.Client.Present(t.Context, m.Target, jsondoc.Quote(token), m.TargetUser), ", after it was used in its own place"
		}
		if !a.Conclusive() {
			return "", false, fmt.Sprintf("%s: %v", m.Target, a)
		}
		t.Trials++
		if !m.goes(o, token, a) {
			return "", false, ""
		}
		evidence = fmt.Sprintf("token of %s %s: at %s %s%s -> %v; garbage there -> %v", m.Source, m.Source.Arguments, m.Target, m.Target.Arguments, after, a, o.Bad)
	}
	if o.Blind() {
		if again := t.beginsAgain(t.Context); again != "" {
			return "", false, again
		}
	}
	return evidence, true, ""
}

// AcceptanceSeverity returns the severity of a finding that a flow accepts a token from elsewhere,
// and a remark. If a good token only gets the first question again, a server that begins again
// looks the same.
func (t *T) AcceptanceSeverity(target client.Flow) (Severity, string) {
	for _, o := range t.Oracles {
		if o.Flow.Method == target.Method && o.Flow.Target == target.Target && o.Blind() {
			return Warning, ", or begins the flow again; --effects tells them apart"
		}
	}
	return Critical, ""
}

// Blind reports whether a good token gets the same question as a call without a token.
func (o *Oracle) Blind() bool {
	return o.Flow.Last == nil && o.Good.Class() == o.Fresh.Class() && !o.messages
}

// Completes reports whether the answers of the flow complete its call.
func (o *Oracle) Completes() bool { return o.Flow.Last != nil && o.Good.Kind == client.Completed }

// Sighted returns oracles of prompts and resources whose flows include answers. Their calls have no
// effects, and they distinguish an accepted state from a flow that begins again.
func (r *Review) Sighted(ctx context.Context) []*Oracle {
	if r.deep == nil {
		r.deep = []*Oracle{}
		for _, o := range r.Oracles {
			f := o.Flow
			if f.Method == "tools/call" || !o.Blind() || !r.answered(ctx, &f, o) {
				continue
			}
			if deeper, reason := r.NewOracle(ctx, f, o.User); reason == "" && !deeper.Blind() && deeper.Bad.Refused() {
				r.deep = append(r.deep, deeper)
			}
		}
	}
	return r.deep
}

// answered adds answers to a flow that its own state accepts. It reports whether it found any.
func (r *Review) answered(ctx context.Context, f *client.Flow, o *Oracle) bool {
	for _, answers := range AnswersTo(o.Fresh.Questions) {
		f.Last = answers
		token, _, err := r.Client.Mint(ctx, *f, o.User)
		if err != nil {
			return false
		}
		if a := r.Client.Present(ctx, *f, jsondoc.Quote(token), o.User); a.GoesOn(o.Fresh) {
			return true
		}
	}
	return false
}

// beginsAgain presents states of other calls with the same question to prompts and resources. If
// one of these begins again, beginsAgain returns the reason why other flows of this server cannot
// be judged without effects.
func (r *Review) beginsAgain(ctx context.Context) string {
	for _, o := range r.Sighted(ctx) {
		for _, source := range r.Oracles {
			from := source.Flow
			if from.Method == o.Flow.Method && from.Target == o.Flow.Target {
				from.Arguments = o.Flow.Other
			}
			if r.Again != "" || from.Arguments == nil && from.Target == o.Flow.Target || source.Fresh.Class() != o.Fresh.Class() {
				continue
			}
			if token, _, err := r.Client.Mint(ctx, from, o.User); err == nil {
				r.NoteAgain(o, r.Client.Present(ctx, o.Flow, jsondoc.Quote(token), o.User))
			}
		}
	}
	return r.Again
}

// NoteAgain records that a flow begins again on a good state of another call or time.
func (r *Review) NoteAgain(o *Oracle, a client.Answer) {
	if a.Kind == client.Asked && o.Bad.Refused() && !o.Blind() && o.Verdict(a) == Refused {
		r.Again = fmt.Sprintf("%s begins again on a good state of another call or time, as this call may: --effects tells that from a state that is accepted", o.Flow)
	}
}

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
