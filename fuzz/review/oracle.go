package review

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
)

// A Verdict is an oracle's judgement of one answer.
type Verdict int

// The verdicts.
const (
	Unclear  Verdict = iota // no answer, or one that does not depend on the state
	Refused                 // an error, or the flow begins again
	Accepted                // the flow goes on as with an unchanged token
)

// An Oracle decides whether a server accepted a state. It compares the answer with four controls:
// the call without a state (fresh), with an unchanged token, with only the answers (stripped), and
// with an invalid state (garbage).
//
// Without effects a token is presented without answers. The server then repeats the question of a
// good token and refuses a bad one, and no tool runs to its end. With effects the token is
// presented with answers, and the flow of a good token goes on.
type Oracle struct {
	Flow  client.Flow
	User  client.User
	Fresh client.Answer
	Token string        // an unchanged token
	Good  client.Answer // the answer to it
	// messages is set if the texts of the questions distinguish a good token from a fresh call.
	// Mask marks the words that are equal in all good answers; it is nil if their number varies.
	messages bool
	Mask     []bool
	Bad      client.Answer // the answer to garbage
	// Presence is set if the server accepts any text as a state but requires one.
	Presence bool
}

// GarbageState is a state that no server minted.
const GarbageState = "garbage"

// NewOracle runs the controls of a flow. It returns the oracle, or the reason why answers in this
// flow cannot be judged.
func (r *Review) NewOracle(ctx context.Context, f client.Flow, as client.User) (*Oracle, string) {
	o := &Oracle{Flow: f, User: as}
	if o.Fresh = r.Client.Call(ctx, f.Call(as)); o.Fresh.Kind != client.Asked {
		return nil, fmt.Sprintf("control fresh: %v, want a question", o.Fresh)
	}
	var goods []client.Answer
	for range 3 {
		token, a, reason := r.good(ctx, f, as)
		if reason != "" {
			return nil, reason
		}
		if goods = append(goods, a); len(goods) == 1 {
			o.Token = token
		}
	}
	o.Good = goods[0]
	if reason := o.compare(goods); reason != "" {
		return nil, reason
	}
	o.Bad = r.Client.Present(ctx, f, jsondoc.Quote(GarbageState), as)
	if !o.Bad.Conclusive() {
		return nil, fmt.Sprintf("control garbage: %v", o.Bad)
	}
	if reason := r.influence(ctx, o); reason != "" {
		return nil, reason
	}
	return o, r.formal(ctx, o)
}

// good presents an unchanged token and returns the token and the answer.
func (r *Review) good(ctx context.Context, f client.Flow, as client.User) (token string, a client.Answer, reason string) {
	token, _, err := r.Client.Mint(ctx, f, as)
	if err != nil {
		return "", a, "control unchanged: " + err.Error()
	}
	switch a = r.Client.Present(ctx, f, jsondoc.Quote(token), as); {
	case a.Kind == client.Asked:
	case a.Kind == client.Completed && f.Last == nil && f.Method == "tools/call" && !r.Options.Effects && !f.Named:
		reason = "control unchanged: a state without answers runs the tool to its end; --effects or --tool allows that"
	case a.Kind != client.Completed:
		reason = fmt.Sprintf("control unchanged: %v, want that it goes on", a)
	}
	return token, a, reason
}

// compare finds the parts that vary between the answers to equal rounds.
func (o *Oracle) compare(goods []client.Answer) string {
	for _, a := range goods[1:] {
		if a.Class() != o.Good.Class() {
			return fmt.Sprintf("control unchanged is not stable: %v, then %v", o.Good, a)
		}
	}
	o.Mask = MaskOf(goods)
	o.messages = o.Good.Kind == client.Asked && o.Fresh.Class() == o.Good.Class() && o.Good.QuestionTexts() != o.Fresh.QuestionTexts()
	for _, a := range goods[1:] {
		o.messages = o.messages && a.QuestionTexts() == o.Good.QuestionTexts()
	}
	return ""
}

// MaskOf marks the words that are equal in the texts of all answers. It returns nil if the number
// of words varies.
func MaskOf(all []client.Answer) []bool {
	words := strings.Fields(client.Blank(all[0].Text))
	mask := make([]bool, len(words))
	for i := range mask {
		mask[i] = true
	}
	for _, a := range all[1:] {
		other := strings.Fields(client.Blank(a.Text))
		if len(other) != len(words) {
			return nil
		}
		for i, w := range other {
			mask[i] = mask[i] && w == words[i]
		}
	}
	return mask
}

// Alike reports whether the text of a completion matches that of a good token in the words of the
// mask.
func (o *Oracle) Alike(a client.Answer) bool {
	words, other := strings.Fields(client.Blank(o.Good.Text)), strings.Fields(client.Blank(a.Text))
	if len(other) != len(words) || o.Mask == nil {
		return false
	}
	for i, same := range o.Mask {
		if same && words[i] != other[i] {
			return false
		}
	}
	return true
}

// AskingRounds returns the flows to the questions of the call, without answers to these. One comes first that the
// last answers lead to and that is answered by no usual answer, such as a question for a code.
func (o *Oracle) AskingRounds() []client.Flow {
	var all []client.Flow
	if o.Flow.Last != nil && o.Good.Kind == client.Asked && o.Good.HasState() {
		unanswered := o.Flow.WithLast(nil)
		unanswered.Rounds = o.Flow.Answers()
		all = append(all, unanswered)
	}
	for _, stage := range o.Flow.Stages() {
		all = append(all, stage.WithLast(nil))
	}
	return all
}

// influence checks that the state changes the answer. It returns a reason if it does not.
func (r *Review) influence(ctx context.Context, o *Oracle) string {
	begins := o.Bad.Kind == client.Asked && o.Good.Class() != o.Fresh.Class() && o.Bad.Class() == o.Fresh.Class()
	if o.Bad.Refused() || begins {
		return ""
	}
	if o.Flow.Last == nil {
		return fmt.Sprintf("garbage in the place of the state: %v, as with a good token: the state has no influence on this round, or the server begins again; --effects tells them apart", o.Bad)
	}
	switch stripped := r.Client.Call(ctx, o.Flow.AnswersAlone(o.User)); {
	case !stripped.Conclusive():
		return fmt.Sprintf("control stripped: %v", stripped)
	case stripped.Class() == o.Good.Class() && (o.Good.Kind == client.Asked || o.Mask == nil || o.Alike(stripped)):
		return "the state has no influence: the round goes on alike without it"
	case o.Bad.Kind == client.Completed && !o.Alike(o.Bad):
		if o.Mask == nil {
			return "the texts of equal rounds differ, and garbage is answered by a text: nothing tells them apart"
		}
		return "" // a different text is the answer to a bad state
	case o.Bad.Class() == o.Good.Class():
		o.Presence = true
	}
	return ""
}

// formal presents random bytes in the form of a token. A server that begins again on a bad state
// may accept garbage and these bytes alike. formal returns a reason if the bytes are not refused.
func (r *Review) formal(ctx context.Context, o *Oracle) string {
	if o.Presence || o.Flow.Last != nil {
		return ""
	}
	token, _, err := r.Client.Mint(ctx, o.Flow, o.User)
	if err != nil {
		return "control scrambled: " + err.Error()
	}
	text, ok := tokens.Scramble(token, rand.New(rand.NewPCG(r.Options.Seed, 1)))
	if !ok || text == token {
		return ""
	}
	if a := r.Client.Present(ctx, o.Flow, jsondoc.Quote(text), o.User); o.Verdict(a) != Refused && !untagged(token) && !r.echoed(ctx, o, token) {
		return fmt.Sprintf("random bytes in the form of a token: %v, as with a good token: the server begins again on a bad state, or reads it unverified; --effects tells them apart", a)
	}
	return ""
}

// tagNames are parts of names of members that may hold an authentication tag.
var tagNames = []string{"sig", "mac", "tag", "hash", "digest", "check", "proof", "auth"}

// untagged reports whether a token is a JSON object without a member that may hold a tag. Random
// text in such an object is another state rather than a wrong tag.
func untagged(token string) bool {
	m := jsondoc.Members(json.RawMessage(token))
	for name := range m {
		if len(name) <= 2 || client.Mentions(name, tagNames) {
			return false
		}
	}
	return m != nil
}

// echoed reports whether a changed value in a readable token comes back in the question or the
// state of the answer. If it does, the server reads the token without verifying it.
func (r *Review) echoed(ctx context.Context, o *Oracle, token string) bool {
	for _, v := range tokens.Views(token) {
		for _, name := range jsondoc.SortedKeys(v.Object) {
			var text string
			if json.Unmarshal(v.Object[name], &text) != nil {
				continue
			}
			a := r.Client.Present(ctx, o.Flow, jsondoc.Quote(v.Write(token, jsondoc.Object(jsondoc.With(v.Object, name, jsondoc.Quote(EchoProbe))))), o.User)
			if Echoes(a) {
				return true
			}
		}
	}
	return false
}

// EchoProbe is a value that does not occur in honest states.
const EchoProbe = "sealabechoprobe"

// Echoes reports whether the question or the state in an answer contains EchoProbe.
func Echoes(a client.Answer) bool {
	return a.Kind == client.Asked && (strings.Contains(a.QuestionTexts(), EchoProbe) || a.State != nil && strings.Contains(tokens.Readable(*a.State), EchoProbe))
}

// Verdict judges the answer to a presented state.
func (o *Oracle) Verdict(a client.Answer) Verdict {
	switch {
	case a.Refused():
		return Refused
	case !a.Conclusive():
		return Unclear
	case a.Kind == client.Asked:
		return o.verdictOnQuestion(a)
	case o.Good.Kind != client.Completed:
		return Unclear // a good token gets less
	case o.Bad.Kind == client.Completed && !o.Presence:
		return o.verdictOnText(a)
	default:
		return Accepted
	}
}

func (o *Oracle) verdictOnQuestion(a client.Answer) Verdict {
	switch {
	case o.Good.Kind == client.Asked && a.Class() == o.Good.Class() && (!o.messages || a.QuestionTexts() == o.Good.QuestionTexts()):
		return Accepted
	case a.Class() == o.Fresh.Class():
		return Refused // the flow begins again
	default:
		return Unclear
	}
}

// verdictOnText compares texts, for servers that answer a bad state with a completion as well.
func (o *Oracle) verdictOnText(a client.Answer) Verdict {
	switch {
	case o.Mask == nil:
		return Unclear
	case o.Alike(a) && !o.Alike(o.Bad):
		return Accepted
	case a.SameWords(o.Bad):
		return Refused
	default:
		return Unclear
	}
}

// Judge is like [Oracle.Verdict] for a state whose text is known. It also accepts the answer of the
// good token with values of the token replaced by those of state.
func (o *Oracle) Judge(state string, a client.Answer) Verdict {
	v := o.Verdict(a)
	if v != Unclear || a.Kind != client.Completed || o.Good.Kind != client.Completed {
		return v
	}
	for old, now := range changedTexts(o.Token, state) {
		if text := strings.ReplaceAll(o.Good.Text, old, now); text != o.Good.Text && text == a.Text {
			return Accepted
		}
	}
	return v
}

// changedTexts maps parts of a token to their replacements in another state: the whole text, and
// strings in readable objects.
func changedTexts(token, state string) map[string]string {
	all := map[string]string{token: state}
	others := tokens.Views(state)
	for i, v := range tokens.Views(token) {
		if i == len(others) {
			break
		}
		for name, raw := range v.Object {
			old, _ := jsondoc.Text(raw)
			if now, ok := jsondoc.Text(others[i].Object[name]); ok && len(old) > 1 && old != now {
				all[old] = now
			}
		}
	}
	return all
}

// KeyOfStates reports whether word, or a part of it, is the HMAC key of the tag in a readable
// token.
func (r *Review) KeyOfStates(word string) bool {
	for _, o := range r.Oracles {
		for _, key := range append(tokens.LastParts(word), word) {
			if len(tokens.Views(o.Token)) > 0 && tokens.HMACUnder([]byte(key)).Tags(o.Token) {
				return true
			}
		}
	}
	return false
}
