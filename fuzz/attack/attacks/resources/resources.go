// Package resources holds the attacks on work, memory and availability: hostile texts and contexts,
// the memory and work of a refusal, and work before authentication.
package resources

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/fields"
	"sealab/fuzz/attack/tokenfmt"
	"sealab/internal/verdict"
)

// Attacks are the attacks on work, memory and availability.
var Attacks = []attack.Attack{
	{ID: "RES-02", Name: "hostile token texts", Refutes: totalProperties, Layer: attack.LayerResources, CWE: 248,
		Gain: "a server that crashes or hangs", Origin: "fuzzing", Run: onToken(trial.hostileTexts), Hundreds: 9},
	{ID: "RES-06", Name: "hostile contexts", Refutes: totalProperties, Layer: attack.LayerResources, CWE: 248,
		Gain: "a server that crashes or hangs", Origin: "fuzzing", Run: onTrial(trial.hostileContexts), Hundreds: 2},
	{ID: "FRM-04", Name: "memory per byte of a hostile token", Refutes: totalProperties, Layer: attack.LayerResources, CWE: 770,
		Gain: "as much memory of the server as the attacker wants", Origin: "CVE-2025-27144, CVE-2025-30204", Run: onTrial(trial.memoryPerByte), Hundreds: 50, Measures: true},
	{ID: "RES-01", Name: "work per byte of a hostile token", Refutes: totalProperties, Layer: attack.LayerResources, CWE: 407,
		Gain: "a server kept busy with cheap requests", Origin: "CVE-2022-36083", Run: onTrial(trial.workPerByte), Measures: true},
	{ID: "RES-08", Name: "work per byte of the longest tokens", Refutes: totalProperties, Layer: attack.LayerResources, CWE: 407,
		Gain: "a server kept busy with cheap requests", Origin: "CVE-2022-36083; buffers that grow by a constant", Run: onTrial(trial.workOfLongest), Hundreds: 100, Measures: true},
	{ID: "RES-13", Name: "the work of a refusal after many others", Refutes: totalProperties, Layer: attack.LayerResources, CWE: 400,
		Gain: "a server that becomes slower with each forged token", Origin: "lists of refused tokens that are searched", Run: onTrial(trial.workBehindMany), Hundreds: 60, Measures: true, First: true},
	{ID: "RES-04", Name: "concurrent calls of one handle", Refutes: []codecs.Property{codecs.ByteExact, codecs.Total}, Layer: attack.LayerResources, CWE: 362,
		Gain: "the state of another request", Origin: "state shared by calls", Run: onToken(trial.manyAtOnce)},
	{ID: "RES-05", Name: "a path of opening a token without verification", Refutes: []codecs.Property{codecs.Integrity, codecs.ByteExact}, Layer: attack.LayerResources, CWE: 288, Gain: attack.GainForgery,
		Origin: "CVE-2022-29226", Run: onToken(trial.otherPaths), Hundreds: 25},
	{ID: "RES-09", Name: "work before authentication", Refutes: []codecs.Property{codecs.Inert}, Layer: attack.LayerResources, CWE: 405,
		Gain: "a server kept busy by forged tokens", Origin: "key stretching under the presenter's salt", Run: onTrial(trial.workBefore), Measures: true, First: true},
	{ID: "RES-12", Name: "a parameter in the token that sets the cost", Refutes: []codecs.Property{codecs.Inert}, Layer: attack.LayerResources, CWE: 409,
		Gain: "a server kept busy by one forged token", Origin: "counts of PBKDF2 in a header: CVE-2023-6681, CVE-2023-51775, CVE-2022-36083; " +
			"compressed segments", Run: onTrial(trial.steeredWork), Hundreds: 10, Measures: true},
	{ID: "RES-11", Name: "memory allocated for each separator", Refutes: []codecs.Property{codecs.Inert}, Layer: attack.LayerResources, CWE: 405,
		Gain: "memory of the server in multiples of the length of a forged token", Origin: "CVE-2025-27144, CVE-2025-30204: a text is split before its parts are counted", Run: onTrial(trial.separators), Hundreds: 10, Measures: true},
	{ID: "RES-10", Name: "a token that runs code", Refutes: []codecs.Property{codecs.Inert, codecs.Integrity}, Layer: attack.LayerResources, CWE: 502,
		Gain: "code of the attacker's choice on the server", Origin: "pickle, YAML, node-serialize and their like as formats of tokens", Run: onToken(trial.runsCode)},
	{ID: misbehaviorID, Name: "a worker that breaks the protocol", Refutes: totalProperties, Layer: attack.LayerResources, CWE: 440,
		Gain: "answers that belong to other requests, or no answers", Origin: "the worker protocol", Run: onTrial(trial.misbehavior), Last: true},
}

var totalProperties = []codecs.Property{codecs.Total}

// A trial is one run of an attack. Its methods are the attacks and parts of them.
type trial struct{ *attack.T }

// onTrial and onToken return a method of trial as the Run function of an attack. onToken passes an
// honest token.
func onTrial(run func(trial)) func(*attack.T) { return func(t *attack.T) { run(trial{t}) } }

func onToken(run func(trial, *attack.Instance, *attack.Token)) func(*attack.T) {
	return onTrial(func(t trial) {
		if in, tok, ok := t.Base(); ok {
			run(t, in, tok)
		}
	})
}

// misbehaviorID is the ID of the attack that makes no calls.
const misbehaviorID = "RES-07"

// misbehavior reports the breaches of the worker protocol, except those that load can cause
// and that did not occur again.
func (t trial) misbehavior() {
	if t.Design.Misbehavior == nil {
		t.Skip("the design is in this process and has no protocol to break")
		return
	}
	t.Try(codecs.Total)
	charges, late := t.Design.Charges()
	if late > 0 {
		t.Note("%d late answers did not show again", late)
	}
	for _, said := range charges {
		t.Refute(codecs.Total, said)
	}
}

func (t trial) hostileTexts(in *attack.Instance, tok *attack.Token) {
	prefix := t.PrefixOf(tok)
	for n := range 40 {
		for _, text := range []string{string(t.Bytes(n)), prefix + string(t.Letters(n)), prefix + tokenfmt.Base64URL.Encode(t.Bytes(n)), strings.Repeat(".", n), prefix + strings.Repeat("=", n)} {
			t.presents(in, tok, text)
		}
	}
	for range 400 {
		altered := bytes.Clone(tok.Text)
		for range 1 + t.IntN(4) {
			altered[t.IntN(len(altered))] = byte(t.IntN(256))
		}
		t.presents(in, tok, string(altered))
	}
	for _, text := range []string{"\x00", "\xff\xfe", "\u2028", "\U0001f600", "\xed\xa0\x80", "null", "{}", "[]", `{"a":`, `"`, "'", "\\", "\\u0000",
		"%", "%zz", "%s%s%n", "../../etc/passwd", "' OR 1=1 --", "<script>", "${7*7}", "\r\nX: y"} {
		t.presents(in, tok, text)
		t.presents(in, tok, prefix+text)
		t.presents(in, tok, string(tok.Text)+text)
	}
	t.nested(in, tok)
	for _, b := range bombKinds(tok, prefix) {
		t.presents(in, tok, b.text(min(1<<16, t.Budget.Bytes)))
	}
	t.almostMatching(in, tok, prefix)
}

// wrongEnds are ends of segments that a pattern of tokens does not match. They consist of letters
// and separators, because a reader may check the characters first.
var wrongEnds = []string{"!", "A", "z", "--", "..", "__", "==", "++", "//", "~~", "::", "||", ",,", "  ", "\n\n"}

// almostMatching presents long runs that end wrong, behind the prefix and in segments of an honest
// token. A regular expression with nested repetitions tries all ways to part such a run.
func (t trial) almostMatching(in *attack.Instance, tok *attack.Token, prefix string) {
	f := tok.Format()
	for _, end := range wrongEnds {
		for _, run := range []string{"a", "0", "A", " ", "a-", "a.", "a_"} {
			t.presents(in, tok, prefix+strings.Repeat(run, 80)+end)
		}
		t.presents(in, tok, prefix+strings.Repeat("A", 1<<12)+end)
		t.presents(in, tok, string(tok.Text)+end)
		for _, i := range f.Encoded() {
			t.presents(in, tok, string(f.Named(i, f.Segments[i].Text+end).Text()))
		}
	}
}

// nestingOpeners are texts whose repetition opens one more level each: in JSON, XML, bencode, PHP,
// MessagePack and CBOR (lists, maps, tags), ASN.1 and protobuf. A recursive reader may exhaust
// its stack.
var nestingOpeners = []string{`{"a":`, "[", "<a>", "l", "a:1:{i:0;", "\x91", "\x81", "\x81\xa1a", "\xa1\x61a", "\xc1", "\x9f", "\x30\x80", "\x0b"}

// nested fills each segment with repeated nests, also after the constant head of the tokens of
// a key. The other segments stay valid.
func (t trial) nested(in *attack.Instance, tok *attack.Token) {
	f := tok.Format()
	segment, n, constant := t.HeadOf(in, tok)
	for _, nest := range nestingOpeners {
		deep := bytes.Repeat([]byte(nest), min(1<<16, t.Budget.Bytes)/8)
		for _, i := range f.Encoded() {
			t.presents(in, tok, string(f.With(i, deep)))
		}
		if constant {
			t.presents(in, tok, string(f.With(segment, slices.Concat(f.Segments[segment].Bytes[:n], deep))))
		}
	}
}

// presents presents a text that was never sealed. The call itself records a fault, of which the
// first is enough: a call without an answer takes long.
func (t trial) presents(in *attack.Instance, tok *attack.Token, text string) {
	if t.Faulty() {
		return
	}
	t.Try(codecs.Total)
	in.Unseal([]byte(text), tok.Under)
}

func (t trial) hostileContexts() {
	in, tok, ok := t.Scheme()
	if !ok {
		return
	}
	ask := func(c codecs.Context) {
		t.Try(codecs.Total)
		in.Unseal(tok.Text, c)
		in.Seal(tok.State, c)
	}
	for _, f := range fields.All {
		for _, v := range []string{"", "\x00", "\U0001f600", strings.Repeat("x", 1<<16), "{", `"`, "\u2028", "%s%n", "../..", "__proto__", "constructor", "\u0130"} {
			ask(f.Put(tok.Under, f.Value(v)))
		}
	}
	for _, v := range []string{`[]`, `null`, `0`, `""`, `1e400`, `-0.0`, `123456789012345678901234567890`, `{"a":1,"a":2}`, `{"\u0000":1}`,
		strings.Repeat("[", 200) + strings.Repeat("]", 200), `{"__proto__":1}`} {
		ask(fields.Arguments.Put(tok.Under, v))
	}
	for _, now := range []time.Time{time.Unix(0, 0), time.Unix(1<<31, 0), time.Unix(1<<32, 0)} {
		ask(attack.With(tok.Under, func(c *codecs.Context) { c.Now = now.UTC() }))
	}
}

// manyAtOnce seals and opens tokens in several goroutines, each with different states.
func (t trial) manyAtOnce(in *attack.Instance, tok *attack.Token) {
	const workers, each = 8, 40
	states, said := make([][]byte, workers*each), len(t.Design.Breaches())
	for i := range states {
		states[i] = t.State(20 + i%40)
	}
	got := make([]verdict.Answer, len(states))
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(states); i += workers {
				got[i] = in.RoundTrip(states[i], tok.Under)
			}
		})
	}
	wg.Wait()
	for i, a := range got {
		t.Try(codecs.ByteExact, codecs.Total)
		call := verdict.Call{Op: verdict.OpUnseal, Keys: in.Keys, Answer: a}
		switch {
		case a.Outcome == verdict.Fault:
			in.Settle(call, said, func() verdict.Answer { return in.RoundTrip(states[i], tok.Under) })
		case a.Outcome != verdict.Done || !meansSame(tok, states[i], a.Out):
			t.Refute(codecs.ByteExact, "many at once: a state does not come back, or another one does", call)
		}
	}
}

// meansSame reports whether out contains the letters of state. A design that carries values may
// spell them differently.
func meansSame(tok *attack.Token, state, out []byte) bool {
	if bytes.Equal(tok.State, tok.Returned()) {
		return bytes.Equal(state, out)
	}
	return bytes.Contains(out, attack.LettersOf(state))
}

// otherPaths presents forgeries through every way to open a token: into buffers with and
// without room, and in a batch.
func (t trial) otherPaths(in *attack.Instance, tok *attack.Token) {
	f := tok.Format()
	for _, i := range f.Encoded() {
		forged := f.Flip(i, len(f.Segments[i].Bytes)/2*8).Text
		for _, room := range [][]byte{nil, {}, make([]byte, 0, 4096), make([]byte, 10, 20), make([]byte, 1)} {
			t.Try(codecs.Integrity)
			if call := in.UnsealInto(room, forged, tok.Under); call.Answer.Outcome == verdict.Done {
				t.Refute(codecs.Integrity, "a forged token is accepted into a buffer with room", tok.Sealed, call)
			}
		}
		t.batch(in, tok, forged)
	}
	t.batchAlike(in, tok)
	t.mixedBatches(tok)
	t.batchesInTurn(in, tok)
}

// batch presents a few honest tokens among forged ones, and one forged token among honest ones.
func (t trial) batch(in *attack.Instance, tok *attack.Token, forged []byte) {
	t.batchOf(in, tok, forged, 0, 29)
	for _, k := range []int{0, 29, batchSize - 1} {
		others := slices.DeleteFunc(t.Range(batchSize), func(n int) bool { return n == k })
		t.batchOf(in, tok, forged, others...)
	}
}

// batchSize is the number of tokens in a batch of honest and forged ones.
const batchSize = 40

// batchOf presents a batch of forged tokens with the honest token at the given positions.
func (t trial) batchOf(in *attack.Instance, tok *attack.Token, forged []byte, honest ...int) {
	texts := slices.Repeat([][]byte{forged}, batchSize)
	for _, k := range honest {
		texts[k] = tok.Text
	}
	answers, err := in.UnsealBatch(texts, tok.Under)
	if err != nil {
		return
	}
	_, again := in.Accepts(tok.Text, tok.Under)
	spent := !again // the design accepts a token only once
	for k, a := range answers {
		t.Try(codecs.Integrity)
		if good := slices.Contains(honest, k); (a.Err == nil) != good && !(good && spent) {
			t.RefuteIf(codecs.Integrity, attack.Sealed(1), fmt.Sprintf("in a batch, token %d of %d is judged otherwise than alone", k+1, batchSize), tok.Sealed)
		}
	}
}

// mixedBatches presents batches of tokens of both keys of a ring and of altered ones in turn, and
// compares each outcome with that of the token alone.
func (t trial) mixedBatches(tok *attack.Token) {
	ring, err := t.Open(t.Secret(0), t.Secret(1))
	second, errSecond := t.Open(t.Secret(1))
	if err != nil || errSecond != nil || !ring.Batched() {
		return
	}
	for _, n := range []int{3, 16, 33, 130} {
		var sealed []verdict.Call
		for k := range n {
			in := ring
			if k%3 == 1 {
				in = second
			}
			call := in.Seal(t.State(24), tok.Under)
			if call.Answer.Outcome != verdict.Done {
				return
			}
			if k%3 == 2 {
				call.Answer.Out = slices.Concat(call.Answer.Out, []byte("A"))
			}
			sealed = append(sealed, call)
		}
		if t.differsInBatch(ring, tok.Under, sealed) {
			return
		}
	}
}

// inTurn is the number of bad texts in most batches of [trial.batchesInTurn].
const inTurn = 6

// batchesInTurn presents batches of good tokens beside a text that is not a token, and of the text
// alone. It must not have the verdict of a token beside it, or at its place in the batch before.
func (t trial) batchesInTurn(in *attack.Instance, tok *attack.Token) {
	if !in.Batched() {
		return
	}
	text := tok.Text
	for _, bad := range [][]byte{nil, []byte(" "), []byte("x"), text[:len(text)/2], slices.Concat(text, []byte("A")), bytes.Repeat([]byte("A"), 5000)} {
		var both [][]byte
		for _, good := range attack.TextsOf(in.Resealed(tok, inTurn)) {
			both = append(both, good, bad)
		}
		bads := slices.Repeat([][]byte{bad}, inTurn)
		for _, texts := range [][][]byte{both, bads[:inTurn/2], bads, slices.Concat(bads, bads), both[1:], bads} {
			if t.judgedInTurn(in, tok, texts, bad) {
				return
			}
		}
	}
}

// judgedInTurn presents a batch, and the bad text again if it was accepted. It reports whether the
// text is refused alone.
func (t trial) judgedInTurn(in *attack.Instance, tok *attack.Token, texts [][]byte, bad []byte) bool {
	for k, call := range in.UnsealTogether(texts, tok.Under) {
		t.Try(codecs.Integrity)
		if !bytes.Equal(texts[k], bad) || call.Answer.Outcome != verdict.Done {
			continue
		}
		if alone := in.Unseal(bad, tok.Under); alone.Answer.Outcome == verdict.Refused {
			t.RefuteIf(codecs.Integrity, attack.Sealed(1), fmt.Sprintf("text %d of a batch, %.40q, is accepted behind other batches, and refused alone", k+1, bad), tok.Sealed, call)
			return true
		}
	}
	return false
}

// differsInBatch reports whether a token of a batch has another outcome than alone. It refutes what
// that shows.
func (t trial) differsInBatch(in *attack.Instance, under codecs.Context, sealed []verdict.Call) bool {
	answers, err := in.UnsealBatch(attack.TextsOf(sealed), under)
	if err != nil {
		return false
	}
	for k, a := range answers {
		t.Try(codecs.ByteExact)
		call := in.Unseal(sealed[k].Answer.Out, under)
		alone := call.Answer.Outcome == verdict.Done
		switch {
		case a.Err == nil && alone && !bytes.Equal(a.Payload, call.Answer.Out):
			t.RefuteIf(codecs.ByteExact, attack.Sealed(1), fmt.Sprintf("token %d of a batch of %d comes back as another state than alone", k+1, len(sealed)), sealed[k], call)
		case a.Err == nil && !alone && call.Answer.Outcome == verdict.Refused && t.Design.Claim(codecs.SingleUse) != verdict.Stated:
			t.RefuteIf(codecs.Integrity, attack.Sealed(1), fmt.Sprintf("token %d of a batch of %d is accepted, and refused alone", k+1, len(sealed)), sealed[k], call)
		default:
			continue
		}
		return true
	}
	return false
}

// batchAlike presents a sample of all alterations in a batch after the honest token, and alone.
// Other attacks rely on batches, which is valid only if both ways give the same verdicts.
func (t trial) batchAlike(in *attack.Instance, tok *attack.Token) {
	if !in.Batched() {
		return
	}
	_, again := in.Accepts(tok.Text, tok.Under)
	f := tok.Format()
	for _, g := range tokenfmt.Generators {
		var texts [][]byte
		for a := range g.Alter(f, &tokenfmt.Source{Rand: t.Rand, Sweep: 24}) {
			if len(texts) < 24 && !bytes.Equal(a.Text, tok.Text) {
				texts = append(texts, bytes.Clone(a.Text))
			}
		}
		answers, err := in.UnsealBatch(append([][]byte{tok.Text}, texts...), tok.Under)
		if err != nil {
			continue
		}
		for k, a := range answers[1:] {
			t.Try(codecs.Integrity)
			call := in.Unseal(texts[k], tok.Under)
			alone := call.Answer.Outcome == verdict.Done
			if spent := a.Err == nil && !again; alone != (a.Err == nil) && !spent { // accepted only once
				t.RefuteIf(codecs.Integrity, attack.Sealed(1), "an altered token is judged otherwise in a batch than alone: "+g.Name, tok.Sealed, call)
			}
		}
	}
}
