package review

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// A verdict is the judgement of an oracle on one answer.
type verdict int

const (
	unclear  verdict = iota // no answer, or one that is independent of the state
	refused                 // turned down, or the flow begins again
	accepted                // goes on as with an unchanged token
)

// An oracle tells whether a server accepted a state, by comparison with four
// controls: the call without a state (fresh), with an unchanged token, with the
// answers alone (stripped), and with a state that is no token (garbage).
//
// Without effects a token is presented without answers: a good one is asked
// again and a bad one refused, and no tool runs to its end. With effects it is
// presented with answers, and a good one goes on.
type oracle struct {
	flow  Flow
	user  user
	fresh Answer
	token string // an unchanged token
	good  Answer // with it
	// messages is set if the questions' texts tell a good token from a fresh
	// call, mask if the texts of equal rounds can be compared.
	messages bool
	mask     []bool
	bad      Answer // with garbage
	// presence is set if any text is accepted as a state but its absence is not.
	presence bool
}

// garbageState is a state that no server minted.
const garbageState = "garbage"

// control carries the controls of a flow out and returns the oracle, or the
// reason why the flow cannot be judged.
func (r *Review) control(ctx context.Context, f Flow, as user) (*oracle, string) {
	o := &oracle{flow: f, user: as}
	if o.fresh = r.client.call(ctx, f.call(as)); o.fresh.Kind != asked {
		return nil, fmt.Sprintf("control fresh: %v, want a question", o.fresh)
	}
	var goods []Answer
	for range 3 {
		token, a, reason := r.good(ctx, f, as)
		if reason != "" {
			return nil, reason
		}
		if goods = append(goods, a); len(goods) == 1 {
			o.token = token
		}
	}
	o.good = goods[0]
	if reason := o.compare(goods); reason != "" {
		return nil, reason
	}
	o.bad = r.client.present(ctx, f, quote(garbageState), as)
	if !o.bad.conclusive() {
		return nil, fmt.Sprintf("control garbage: %v", o.bad)
	}
	if reason := r.influence(ctx, o); reason != "" {
		return nil, reason
	}
	return o, r.formal(ctx, o)
}

// good presents an unchanged token and returns both.
func (r *Review) good(ctx context.Context, f Flow, as user) (token string, a Answer, reason string) {
	token, _, err := r.client.mint(ctx, f, as)
	if err != nil {
		return "", a, "control unchanged: " + err.Error()
	}
	switch a = r.client.present(ctx, f, quote(token), as); {
	case a.Kind == asked:
	case a.Kind == completed && f.Last == nil && f.Method == "tools/call" && !r.opts.Effects && !f.named:
		reason = "control unchanged: a state without answers runs the tool to its end; --effects or --tool allows that"
	case a.Kind != completed:
		reason = fmt.Sprintf("control unchanged: %v, want that it goes on", a)
	}
	return token, a, reason
}

// compare learns from equal rounds which parts of their answers vary.
func (o *oracle) compare(goods []Answer) string {
	for _, a := range goods[1:] {
		if a.going() != o.good.going() {
			return fmt.Sprintf("control unchanged is not stable: %v, then %v", o.good, a)
		}
	}
	o.mask = maskOf(goods)
	o.messages = o.good.Kind == asked && o.fresh.going() == o.good.going() && o.good.questionTexts() != o.fresh.questionTexts()
	for _, a := range goods[1:] {
		o.messages = o.messages && a.questionTexts() == o.good.questionTexts()
	}
	return ""
}

// questionTexts are the texts of the questions of an answer.
func (a Answer) questionTexts() string {
	var all []string
	for _, k := range sortedKeys(a.Questions) {
		all = append(all, blank(a.Questions[k].Params.Message))
	}
	return strings.Join(all, "\n")
}

// maskOf returns the words of the texts of equal rounds that are always the
// same, nil if their number varies.
func maskOf(all []Answer) []bool {
	words := strings.Fields(blank(all[0].Text))
	mask := make([]bool, len(words))
	for i := range mask {
		mask[i] = true
	}
	for _, a := range all[1:] {
		other := strings.Fields(blank(a.Text))
		if len(other) != len(words) {
			return nil
		}
		for i, w := range other {
			mask[i] = mask[i] && w == words[i]
		}
	}
	return mask
}

// alike reports whether a completion reads as that of a good token.
func (o *oracle) alike(a Answer) bool {
	words, other := strings.Fields(blank(o.good.Text)), strings.Fields(blank(a.Text))
	if len(other) != len(words) || o.mask == nil {
		return false
	}
	for i, same := range o.mask {
		if same && words[i] != other[i] {
			return false
		}
	}
	return true
}

// influence finds out whether the state matters at all.
func (r *Review) influence(ctx context.Context, o *oracle) string {
	begins := o.bad.Kind == asked && o.good.going() != o.fresh.going() && o.bad.going() == o.fresh.going()
	if o.bad.refused() || begins {
		return ""
	}
	if o.flow.Last == nil {
		return fmt.Sprintf("garbage in the place of the state: %v, as with a good token: the state has no influence on this round, or the server begins again; --effects tells them apart", o.bad)
	}
	call := o.flow.call(o.user)
	call.Answers = o.flow.Last
	stripped := r.client.call(ctx, call)
	switch {
	case !stripped.conclusive():
		return fmt.Sprintf("control stripped: %v", stripped)
	case stripped.going() == o.good.going() && (o.good.Kind == asked || o.mask == nil || o.alike(stripped)):
		return "the state has no influence: the round goes on alike without it"
	case o.bad.Kind == completed && !o.alike(o.bad):
		if o.mask == nil {
			return "the texts of equal rounds differ, and garbage is answered by a text: nothing tells them apart"
		}
		return "" // another text: the answer to a bad state
	case o.bad.going() == o.good.going():
		o.presence = true
	}
	return ""
}

// formal presents a token of the right form and of random content, which a
// server that begins again on a bad state may answer differently from garbage.
func (r *Review) formal(ctx context.Context, o *oracle) string {
	if o.presence || o.flow.Last != nil {
		return ""
	}
	token, _, err := r.client.mint(ctx, o.flow, o.user)
	if err != nil {
		return "control scrambled: " + err.Error()
	}
	text, ok := scramble(token, rand.New(rand.NewPCG(r.opts.Seed, 1)))
	if !ok || text == token {
		return ""
	}
	if a := r.client.present(ctx, o.flow, quote(text), o.user); o.verdict(a) != refused && !untagged(token) && !r.echoed(ctx, o, token) {
		return fmt.Sprintf("random bytes in the form of a token: %v, as with a good token: the server begins again on a bad state, or reads it unverified; --effects tells them apart", a)
	}
	return ""
}

// tagNames are names of members that may hold a tag.
var tagNames = []string{"sig", "mac", "tag", "hash", "digest", "check", "proof", "auth"}

// untagged reports whether a token is a JSON object without a member that may be a
// tag: random texts in it are states and no wrong tags.
func untagged(token string) bool {
	m := members(json.RawMessage(token))
	for name := range m {
		if len(name) <= 2 || mentions(name, tagNames) {
			return false
		}
	}
	return m != nil
}

// echoed reports whether a value that is changed in a readable token comes back in
// the question or in the state of the answer: the token is read unverified.
func (r *Review) echoed(ctx context.Context, o *oracle, token string) bool {
	for _, v := range views(token) {
		for _, name := range sortedKeys(v.object) {
			var text string
			if json.Unmarshal(v.object[name], &text) != nil {
				continue
			}
			a := r.client.present(ctx, o.flow, quote(v.write(token, object(with(v.object, name, quote(echoProbe))))), o.user)
			if a.echoes() {
				return true
			}
		}
	}
	return false
}

// echoProbe is a value that no honest state has.
const echoProbe = "sealabechoprobe"

// echoes reports whether the probe stands in the question or in the state of an answer.
func (a Answer) echoes() bool {
	return a.Kind == asked && (strings.Contains(a.questionTexts(), echoProbe) || a.State != nil && strings.Contains(readable(*a.State), echoProbe))
}

// verdict judges an answer to a presented state.
func (o *oracle) verdict(a Answer) verdict {
	switch {
	case a.refused():
		return refused
	case !a.conclusive():
		return unclear
	case a.Kind == asked:
		return o.verdictOnQuestion(a)
	case o.good.Kind != completed:
		return unclear // more than a good token gets
	case o.bad.Kind == completed && !o.presence:
		return o.verdictOnText(a)
	default:
		return accepted
	}
}

func (o *oracle) verdictOnQuestion(a Answer) verdict {
	switch {
	case o.good.Kind == asked && a.going() == o.good.going() && (!o.messages || a.questionTexts() == o.good.questionTexts()):
		return accepted
	case a.going() == o.fresh.going():
		return refused // the flow begins again
	default:
		return unclear
	}
}

// verdictOnText compares completions if a bad state is answered by one as well.
func (o *oracle) verdictOnText(a Answer) verdict {
	switch {
	case o.mask == nil:
		return unclear
	case o.alike(a) && !o.alike(o.bad):
		return accepted
	case blank(a.Text) == blank(o.bad.Text):
		return refused
	default:
		return unclear
	}
}

// judge judges the answer to a state whose text is known: it is accepted as well if
// the answer is that of the good token with values of this state in it.
func (o *oracle) judge(state string, a Answer) verdict {
	v := o.verdict(a)
	if v != unclear || a.Kind != completed || o.good.Kind != completed {
		return v
	}
	for old, now := range changedTexts(o.token, state) {
		if text := strings.ReplaceAll(o.good.Text, old, now); text != o.good.Text && text == a.Text {
			return accepted
		}
	}
	return v
}

// changedTexts returns the parts of a token that another state has in another form,
// each with that form: all of it, and texts in objects that can be read.
func changedTexts(token, state string) map[string]string {
	all := map[string]string{token: state}
	others := views(state)
	for i, v := range views(token) {
		if i == len(others) {
			break
		}
		for name, raw := range v.object {
			var old, now string
			if json.Unmarshal(raw, &old) == nil && len(old) > 1 && json.Unmarshal(others[i].object[name], &now) == nil && old != now {
				all[old] = now
			}
		}
	}
	return all
}
