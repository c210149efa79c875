package attacks

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/fields"
	"sealab/internal/verdict"
)

// oracleAttacks are the attacks that use the answers to tokens and contexts of the attacker's
// choice.
var oracleAttacks = []attack.Attack{
	{ID: "TAG-04", Name: "secrets in the reason of a refusal, or beside it", Refutes: append([]codecs.Property{codecs.PrivateKeys}, refusalProperties...), Layer: attack.LayerText, CWE: 209,
		Gain: "the right tag, the key or the state", Origin: "CVE-2019-7644", Run: onToken(trial.tellingReasons), Hundreds: 2},
	{ID: "TAG-08", Name: "a padding oracle", Refutes: refusalProperties, Layer: attack.LayerText, CWE: 209,
		Gain: "the state, byte by byte, and tokens with chosen contents", Origin: "Vaudenay 2002; CVE-2010-3332", Run: onToken(trial.paddingOracle), Hundreds: 90},
	{ID: "TAG-19", Name: "refusals that differ if a part of the tag is right", Refutes: refusalProperties, Layer: attack.LayerText, CWE: 204,
		Gain: "the right tag, found part by part", Origin: "Keyczar, Lawson 2009, by the answer instead of the time", Run: onToken(trial.partlyRight), Hundreds: 3},
	{ID: "ORA-02", Name: "claims judged before the token is authenticated", Refutes: refusalProperties, Layer: attack.LayerContext, CWE: 696,
		Gain: "the values that the claims of a token are compared with", Origin: "the order of checks in verification", Run: onToken(trial.earlyJudgement), Hundreds: 5},
	{ID: "ORA-03", Name: "refusals that depend on the state, the context or earlier ones", Refutes: refusalProperties, Layer: attack.LayerContext, CWE: 204,
		Gain: "the state, by comparing refusals", Origin: "reasons that quote the content of a token; a hint for clients that have not signed in; limits of some refusals", Run: onToken(trial.stateInRefusals), Hundreds: 4},
	{ID: "KEY-10", Name: "refusals that reveal the keys in the ring or their number", Refutes: refusalProperties, Layer: attack.LayerKeys, CWE: 203,
		Gain: "which keys are in the ring", Origin: "Len, Grubbs, Ristenpart 2021", Run: onTrial(trial.partitioning)},
	{ID: "ORA-01", Name: "a value of one token that is the tag of another text", Refutes: []codecs.Property{codecs.Integrity, codecs.KeySeparation}, Layer: attack.LayerOracle, CWE: 323,
		Gain: "a token with any state and expiry, authenticated by the server itself", Origin: "one MAC key for two purposes", Run: onToken(trial.macOracle), Hundreds: 23},
	{ID: "LNK-01", Name: "tokens recognized as those of one principal", Refutes: []codecs.Property{codecs.Unlinkable}, Layer: attack.LayerOracle, CWE: 359,
		Gain: "which tokens belong to one principal", Origin: "unsalted digests of principals", Run: onToken(trial.linkable), Hundreds: 7},
}

// earlyJudgement presents tokens that are not authentic in contexts in which authentic ones
// would be expired or misbound, and compares the texts of refusals.
func (t trial) earlyJudgement(in *attack.Instance, tok *attack.Token) {
	f := tok.Format()
	texts := map[string]verdict.Call{}
	for _, i := range f.Encoded() {
		for _, at := range t.Places(len(f.Segments[i].Bytes)-1, 24) {
			t.judgedEarly(in, tok, f.Flip(i, 8*at).Text, texts)
		}
	}
	t.judgedEarlyWithLess(in, tok.Under, texts)
	t.judgedWithAnyByte(in, tok)
	for _, x := range []string{"", "x", "v1.AAAA"} {
		if call := in.Unseal([]byte(x), tok.Under); call.Answer.Outcome == verdict.Refused {
			texts[call.Answer.Text] = call
		}
	}
	if len(texts) > 1 {
		t.RefuteIf(codecs.UniformRefusal, attack.Differ, fmt.Sprintf("refusals have %d texts", len(texts)), callsOf(texts)...)
	}
}

// judgedWithAnyByte presents a token with each of its bytes changed, in the context that it was
// minted for. If a byte outside the tag changes the claims, a late stage of refusal shows it.
func (t trial) judgedWithAnyByte(in *attack.Instance, tok *attack.Token) {
	f := tok.Format()
	var texts [][]byte
	for _, i := range f.Encoded() {
		for _, at := range t.Range(len(f.Segments[i].Bytes)) {
			texts = append(texts, f.Flip(i, 8*at).Text)
		}
	}
	for some := range slices.Chunk(texts, attack.BatchSize) {
		together := in.UnsealTogether(some, tok.Under)
		for k, text := range some {
			t.Try(codecs.UniformRefusal)
			if together != nil && !judgedLate(together[k]) {
				continue
			}
			if call := in.Unseal(text, tok.Under); judgedLate(call) {
				t.refuteJudged(tok, call)
				return
			}
		}
	}
}

// judgedLate reports whether a call is a refusal that is about the claims.
func judgedLate(call verdict.Call) bool {
	return call.Answer.Stage == codecs.Expired.String() || call.Answer.Stage == codecs.Misbound.String()
}

// refuteJudged records that the claims of an altered token were judged.
func (t trial) refuteJudged(tok *attack.Token, call verdict.Call) {
	t.Refute(codecs.UniformRefusal, "a token that is not authentic is refused as "+call.Answer.Stage, tok.Sealed, call)
}

// judgedEarlyWithLess is earlyJudgement for tokens minted in contexts with fewer fields.
func (t trial) judgedEarlyWithLess(in *attack.Instance, under codecs.Context, texts map[string]verdict.Call) {
	if !t.Design.IsScheme() {
		return
	}
	for _, c := range fields.Reduced(under) {
		less, ok := in.Mint(t.State(8), c)
		if !ok {
			continue
		}
		f := less.Format()
		for _, i := range f.Encoded() {
			t.judgedEarly(in, less, f.Flip(i, 8*(len(f.Segments[i].Bytes)-1)).Text, texts)
		}
	}
}

// judgedEarly presents a token that is not authentic in every context, and adds the refusals to
// texts, by their text.
func (t trial) judgedEarly(in *attack.Instance, tok *attack.Token, altered []byte, texts map[string]verdict.Call) {
	for _, c := range append(otherContexts(tok.Under), tok.Under) {
		call := in.Unseal(altered, c)
		if call.Answer.Outcome != verdict.Refused {
			continue
		}
		t.Try(codecs.UniformRefusal)
		texts[call.Answer.Text] = call
		if judgedLate(call) {
			t.refuteJudged(tok, call)
		}
	}
}

// stateInRefusals refuses tokens of several states in the same ways, and compares the refusals:
// in another context, expired, and altered at one place. The states have equal lengths. A
// difference that also occurs between tokens of one state does not count.
func (t trial) stateInRefusals(in *attack.Instance, tok *attack.Token) {
	t.boundInRefusals(in, tok)
	t.timesInRefusals(in, tok)
	if t.Design.IsScheme() && t.givesOneReason(in, tok) {
		t.exceptionsInRefusals(in, tok)
		t.batchInRefusals(in, tok)
	}
	t.refusalsInARow(tok)
	plain := t.State(24)
	admin := append([]byte(`{"admin":true,"role":"administrator"`)[:len(plain)-1], '}')
	ways := otherContexts(tok.Under)
	if !t.Design.IsScheme() {
		ways = nil
	}
	for way := range len(ways) + 2 {
		same := func(a, b verdict.Call) bool {
			if way >= len(ways) { // an altered token may fail at another stage, which the presenter does not see
				return a.Answer.Text == b.Answer.Text
			}
			return refusalOf(a) == refusalOf(b)
		}
		// refused returns a refusal of tokens of a state. It reports false unless all of them
		// are refused in the same way.
		refused := func(state []byte) (verdict.Call, bool) {
			var calls [3]verdict.Call
			for k := range calls {
				sealed := in.Seal(state, tok.Under)
				if sealed.Answer.Outcome != verdict.Done {
					return verdict.Call{}, false
				}
				if calls[k] = t.refusedIn(in, sealed.Answer.Out, tok.Under, ways, way); calls[k].Answer.Outcome != verdict.Refused {
					return verdict.Call{}, false
				}
			}
			t.Try(codecs.UniformRefusal)
			return calls[0], same(calls[0], calls[1]) && same(calls[1], calls[2])
		}
		first, ok := refused(plain)
		if !ok {
			continue
		}
		for _, state := range [][]byte{t.State(24), admin, bytes.ToUpper(plain), make([]byte, len(plain))} {
			if other, ok := refused(state); ok && !same(first, other) {
				t.refusalsDiffer(first, other, "tokens of two states are refused in two ways")
				return
			}
		}
	}
}

// timesInRefusals presents a token at several times before it was minted and after it expired, and
// compares the refusals of each kind. No text may tell the distance.
func (t trial) timesInRefusals(in *attack.Instance, tok *attack.Token) {
	if !t.Design.IsScheme() || t.Design.OwnClock {
		return
	}
	for _, distances := range [][]time.Duration{
		{-17 * time.Second, -42 * time.Second, -250 * time.Second, -50 * time.Minute, -40 * 24 * time.Hour},
		{400 * 24 * time.Hour, 401 * 24 * time.Hour, 4000 * 24 * time.Hour},
	} {
		byStage := map[string]verdict.Call{}
		for _, d := range distances {
			call := in.Unseal(tok.Text, attack.Later(tok.Under, d))
			if call.Answer.Outcome != verdict.Refused {
				continue
			}
			t.Try(codecs.UniformRefusal)
			before, seen := byStage[call.Answer.Stage]
			if byStage[call.Answer.Stage] = call; seen && refusalOf(before) != refusalOf(call) {
				t.refusalsDiffer(before, call, "refusals at two times differ")
				return
			}
		}
	}
}

// boundInRefusals presents tokens minted for several values of a field under one other value,
// and compares the refusals. No token names the presenter.
func (t trial) boundInRefusals(in *attack.Instance, tok *attack.Token) {
	if !t.Design.IsScheme() {
		return
	}
	for _, f := range []fields.Field{fields.Target, fields.Principal, fields.Audience} {
		other := f.Put(tok.Under, "mallory")
		// refused returns the refusal of tokens for a value. It reports false unless the
		// refusal is the same each time.
		refused := func(value string) (first verdict.Call, ok bool) {
			for k := range 3 {
				sealed := in.Seal(tok.State, f.Put(tok.Under, value))
				call := in.Unseal(sealed.Answer.Out, other)
				if sealed.Answer.Outcome != verdict.Done || call.Answer.Outcome != verdict.Refused || k > 0 && refusalOf(call) != refusalOf(first) {
					return call, false
				}
				first = call
			}
			t.Try(codecs.UniformRefusal)
			return first, true
		}
		one, okOne := refused("ada")
		if two, okTwo := refused("Balthasar-von-Bern"); okOne && okTwo && refusalOf(one) != refusalOf(two) {
			t.refusalsDiffer(one, two, "tokens for two values of %s are refused for a third in two ways", f.Name)
		}
	}
}

// exceptionsInRefusals presents authentic and altered tokens in many wrong contexts. If a design
// refuses with one reason otherwise, another reason in one context tells which tokens are authentic.
func (t trial) exceptionsInRefusals(in *attack.Instance, tok *attack.Token) {
	for _, c := range append(fields.Reduced(tok.Under), tok.Under) {
		sealed, own := in.Seal(tok.State, c), fields.Describe(c)
		if sealed.Answer.Outcome != verdict.Done {
			continue
		}
		contexts := slices.DeleteFunc(wrongContexts(tok.Under), func(wrong codecs.Context) bool { return fields.Describe(wrong) == own && wrong.Now.Equal(c.Now) })
		altered := lastAltered(in.TokenOf(sealed, c))
		spoiled := in.UnsealEach(slices.Repeat([][]byte{altered}, len(contexts)), contexts)
		for i, call := range in.UnsealEach(slices.Repeat([][]byte{sealed.Answer.Out}, len(contexts)), contexts) {
			if call.Answer.Outcome != verdict.Refused || spoiled[i].Answer.Outcome != verdict.Refused {
				continue
			}
			if t.Try(codecs.UniformRefusal); saidBy(call) != saidBy(spoiled[i]) {
				t.RefuteIf(codecs.UniformRefusal, attack.Differ, fmt.Sprintf("in the context %s an authentic token is refused as %.120q, and an altered one as %.120q, "+
					"as is every token in other contexts", fields.Describe(contexts[i]), refusalOf(call), refusalOf(spoiled[i])), sealed, spoiled[i], call)
				return
			}
		}
	}
}

// batchInRefusals presents an authentic token in another context, and an altered one, in one batch. If a
// design refuses single tokens with one reason, two reasons in a batch tell which tokens are authentic.
func (t trial) batchInRefusals(in *attack.Instance, tok *attack.Token) {
	if !in.Batched() {
		return
	}
	for _, c := range otherContexts(tok.Under) {
		sealed := in.Seal(tok.State, tok.Under)
		if sealed.Answer.Outcome != verdict.Done {
			return
		}
		calls := in.UnsealTogether([][]byte{sealed.Answer.Out, lastAltered(in.TokenOf(sealed, tok.Under))}, c)
		if len(calls) != 2 || calls[0].Answer.Outcome != verdict.Refused || calls[1].Answer.Outcome != verdict.Refused {
			continue
		}
		if t.Try(codecs.UniformRefusal); saidBy(calls[0]) != saidBy(calls[1]) {
			t.RefuteIf(codecs.UniformRefusal, attack.Differ, fmt.Sprintf("in one batch, an authentic token for another context is refused as %.120q, and an altered one as %.120q; "+
				"single tokens are refused as one", refusalOf(calls[0]), refusalOf(calls[1])), sealed, calls[1], calls[0])
			return
		}
	}
}

// givesOneReason reports whether a fresh token in other contexts, and an altered one, are refused
// with one reason.
func (t trial) givesOneReason(in *attack.Instance, tok *attack.Token) bool {
	altered := in.Unseal(lastAltered(tok), tok.Under)
	fresh := in.Seal(tok.State, tok.Under) // tok may be used up
	refused := 0
	for _, c := range otherContexts(tok.Under) {
		call := in.Unseal(fresh.Answer.Out, c)
		if call.Answer.Outcome != verdict.Refused {
			continue
		}
		if refused++; saidBy(call) != saidBy(altered) {
			return false
		}
	}
	return refused > 0
}

// wrongContexts returns contexts that differ from c in one or more fields, that lack fields, and at
// other times.
func wrongContexts(c codecs.Context) []codecs.Context {
	all := append(fields.Reduced(c), otherContexts(c)...)
	for _, f := range []fields.Field{fields.Principal, fields.Audience, fields.Target} {
		value, _ := f.Get(&c)
		for _, v := range []string{"", "*", "admin", "anonymous", value + "2", strings.ToUpper(value)} {
			all = append(all, f.Put(c, v))
		}
	}
	for _, m := range fields.OtherMethods {
		all = append(all, fields.Method.Put(c, m))
	}
	for _, a := range []string{`{}`, `null`, `[]`, `{"q":"zzz"}`} {
		all = append(all, fields.Arguments.Put(c, a))
	}
	for _, d := range []time.Duration{-400 * 24 * time.Hour, -24 * time.Hour, 24 * time.Hour, 400 * 24 * time.Hour} {
		all = append(all, attack.Later(c, d), attack.Later(fields.Principal.Without(c), d))
	}
	return append(all, c)
}

// refusedIn presents a token in one of the contexts, or with a character in its middle or near
// its end altered.
func (t trial) refusedIn(in *attack.Instance, text []byte, under codecs.Context, ways []codecs.Context, way int) verdict.Call {
	if way < len(ways) {
		return in.Unseal(text, ways[way])
	}
	altered := bytes.Clone(text)
	at := len(altered) / 2
	if way > len(ways) {
		at = len(altered) - 5
	}
	altered[at] = map[bool]byte{true: 'B', false: 'A'}[altered[at] == 'A']
	return in.Unseal(altered, under)
}

// partitioning presents altered tokens of keys inside and outside a ring to the ring. The texts
// that the presenter sees must not differ.
func (t trial) partitioning() {
	ring, err := t.Open(t.Secret(0), t.Secret(1), t.Secret(2))
	if err != nil {
		t.Skip("the design takes one key only")
		return
	}
	texts := map[string]verdict.Call{}
	for n := range 5 {
		in, err := t.Open(t.Secret(n))
		if err != nil {
			return
		}
		tok, ok := t.Mint(in, t.State(24))
		if !ok {
			return
		}
		f := tok.Format()
		for _, i := range f.Encoded() {
			if call := ring.Unseal(f.Flip(i, 8*(len(f.Segments[i].Bytes)-1)).Text, tok.Under); call.Answer.Outcome == verdict.Refused {
				t.Try(codecs.UniformRefusal)
				texts[call.Answer.Text] = call
			}
		}
	}
	if len(texts) > 1 {
		t.RefuteIf(codecs.UniformRefusal, attack.Differ, "the text of a refusal reveals whether a key is in the ring", callsOf(texts)...)
	}
	t.sizesInRefusals()
	t.placesOfKeys()
}

// sizesInRefusals presents a token of a foreign key to rings of one, two and three keys. If
// each ring gives a different reason at the same stage, the reason tells the size of the ring.
func (t trial) sizesInRefusals() {
	foreign, err := t.Open(t.Secret(9))
	if err != nil {
		return
	}
	tok, ok := t.Mint(foreign, t.State(24))
	if !ok {
		return
	}
	reasons := map[string]verdict.Call{}
	for n := 1; n <= 3; n++ {
		ring, err := t.Open([][]byte{t.Secret(0), t.Secret(1), t.Secret(2)}[:n]...)
		if err != nil {
			return
		}
		call := ring.Unseal(tok.Text, tok.Under)
		if first := ring.Unseal(tok.Text, tok.Under); call.Answer.Outcome != verdict.Refused || refusalOf(first) != refusalOf(call) {
			return
		}
		t.Try(codecs.UniformRefusal)
		reasons[refusalOf(call)] = call
	}
	calls := callsOf(reasons)
	if len(calls) == 3 && calls[0].Answer.Stage == calls[1].Answer.Stage && calls[1].Answer.Stage == calls[2].Answer.Stage {
		t.RefuteIf(codecs.UniformRefusal, attack.Differ, fmt.Sprintf("the reason of a refusal reveals the size of the ring: %.80q with %d keys, "+
			"%.80q with %d", calls[0].Answer.Reason, len(calls[0].Keys), calls[2].Answer.Reason, len(calls[2].Keys)), calls...)
	}
}
