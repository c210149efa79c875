package attack

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"sealab/codecs"
	"sealab/codecs/worker"
	"sealab/internal/verdict"
)

var answering = []codecs.Property{codecs.Total}

// onResources are the attacks on work, memory and life.
var onResources = []Refuter{
	{ID: "RES-02", Name: "hostile texts", Refutes: answering, Layer: LayerResources,
		Gain: "a server that dies or hangs", Origin: "fuzzing", Run: hostileTexts},
	{ID: "RES-06", Name: "hostile contexts", Refutes: answering, Layer: LayerResources,
		Gain: "a server that dies or hangs", Origin: "fuzzing", Run: hostileContexts},
	{ID: "FRM-04", Name: "memory per byte of a hostile token", Refutes: answering, Layer: LayerResources,
		Gain: "memory at will", Origin: "CVE-2025-27144, CVE-2025-30204", Run: memoryPerByte, Thousands: 5, Measures: true},
	{ID: "RES-01", Name: "work per byte of a hostile token", Refutes: answering, Layer: LayerResources,
		Gain: "a server that is kept busy", Origin: "CVE-2022-36083", Run: workPerByte, Measures: true},
	{ID: "RES-08", Name: "work per byte of the longest tokens", Refutes: answering, Layer: LayerResources,
		Gain: "a server that is kept busy", Origin: "CVE-2022-36083; buffers that grow by a constant", Run: workOfLongest, Thousands: 10, Measures: true},
	{ID: "RES-04", Name: "many at once", Refutes: []codecs.Property{codecs.ByteExact, codecs.Total}, Layer: LayerResources,
		Gain: "the state of another request", Origin: "state shared by calls", Run: manyAtOnce},
	{ID: "RES-05", Name: "verification missing on one path", Refutes: unforgeable, Layer: LayerResources, Gain: gainForgery,
		Origin: "CVE-2022-29226", Run: otherPaths},
	{ID: misbehaviourID, Name: "a worker that breaks the protocol", Refutes: answering, Layer: LayerResources,
		Gain: "answers that belong to other requests, or none", Origin: "the worker protocol", Run: misbehaviour},
}

// misbehaviourID is the id of the attack that asks nothing of the subject.
const misbehaviourID = "RES-07"

// misbehaviour reports what the subject did beside its answers. One answer that
// was late may be the doing of a busy machine: what hangs does so again when the
// attack that saw it is repeated.
func misbehaviour(t *Trial) {
	if t.Subject.Misbehaviour == nil {
		t.skip("the subject is in this process and has no protocol to break")
		return
	}
	t.try(codecs.Total)
	late := 0
	for _, said := range t.Subject.Misbehaviour() {
		if slices.Contains(t.Subject.excused, said) {
			continue
		}
		if strings.HasPrefix(said, string(worker.Hung)) {
			if late++; late == 1 {
				continue
			}
		}
		t.refute(codecs.Total, said)
	}
}

// prefixOf is the subject's prefix, stated or seen.
func (t *Trial) prefixOf(tok *Token) string {
	if t.Subject.Prefix != "" {
		return t.Subject.Prefix
	}
	s := tok.shape()
	if at := s.coded(); len(at) > 0 {
		return string(s.textUpTo(at[0]))
	}
	return ""
}

func hostileTexts(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	prefix := t.prefixOf(tok)
	for n := range 40 {
		for _, text := range []string{string(t.bytes(n)), prefix + string(t.letters(n)), prefix + base64URL.encode(t.bytes(n)), strings.Repeat(".", n), prefix + strings.Repeat("=", n)} {
			t.presents(p, tok, text)
		}
	}
	for range 400 {
		altered := bytes.Clone(tok.Text)
		for range 1 + t.IntN(4) {
			altered[t.IntN(len(altered))] = byte(t.IntN(256))
		}
		t.presents(p, tok, string(altered))
	}
	for _, text := range []string{"\x00", "\xff\xfe", "\u2028", "\U0001f600", "\xed\xa0\x80", "null", "{}", "[]", `{"a":`, `"`, "'", "\\", "\\u0000", "%", "%zz", "%s%s%n", "../../etc/passwd", "' OR 1=1 --", "<script>", "${7*7}", "\r\nX: y"} {
		t.presents(p, tok, text)
		t.presents(p, tok, prefix+text)
		t.presents(p, tok, string(tok.Text)+text)
	}
	for _, b := range bombs(tok, prefix) {
		t.presents(p, tok, b.text(min(1<<16, t.Budget.Bytes)))
	}
}

// presents presents a text that nobody sealed and expects an answer; a fault is
// recorded by the call itself.
func (t *Trial) presents(p *Party, tok *Token, text string) {
	t.try(codecs.Total)
	p.unseal([]byte(text), tok.Under)
}

func hostileContexts(t *Trial) {
	p, tok, ok := t.scheme()
	if !ok {
		return
	}
	for _, f := range fields {
		for _, v := range []string{"", "\x00", "\U0001f600", strings.Repeat("x", 1<<16), "{", `"`, "\u2028", "%s%n", "../..", "__proto__", "constructor", "\u0130"} {
			t.try(codecs.Total)
			c := f.put(tok.Under, f.value(v))
			p.unseal(tok.Text, c)
			p.seal(tok.State, c)
		}
	}
	for _, arguments := range []string{`[]`, `null`, `0`, `""`, `1e400`, `-0.0`, `123456789012345678901234567890`, `{"a":1,"a":2}`, `{"\u0000":1}`,
		strings.Repeat("[", 200) + strings.Repeat("]", 200), `{"__proto__":1}`} {
		t.try(codecs.Total)
		c := fields[2].put(tok.Under, arguments)
		p.unseal(tok.Text, c)
		p.seal(tok.State, c)
	}
	for _, now := range []time.Time{time.Unix(0, 0), time.Unix(1<<31, 0), time.Unix(1<<32, 0)} {
		t.try(codecs.Total)
		c := with(tok.Under, func(c *verdict.Context) { c.Now = now.UTC() })
		p.unseal(tok.Text, c)
		p.seal(tok.State, c)
	}
}

// manyAtOnce seals and opens in several goroutines, each with states of its own.
func manyAtOnce(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	const workers, each = 8, 40
	states := make([][]byte, workers*each)
	for i := range states {
		states[i] = t.state(20 + i%40)
	}
	got := make([]verdict.Answer, len(states))
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(states); i += workers {
				got[i] = p.through(states[i], tok.Under)
			}
		})
	}
	wg.Wait()
	for i, a := range got {
		t.try(codecs.ByteExact, codecs.Total)
		call := verdict.Call{Op: verdict.OpUnseal, Keys: p.keys, Answer: a}
		switch {
		case a.Outcome == verdict.Fault:
			t.fault(call)
		case a.Outcome != verdict.Done || !t.meansSame(tok, states[i], a.Out):
			t.refute(codecs.ByteExact, "many at once: a state does not come back, or another one does", call)
		}
	}
}

// through seals state and opens the token, without the party's own bookkeeping.
func (p *Party) through(state []byte, c verdict.Context) verdict.Answer {
	sealed := answer(verdict.OpSeal, func() ([]byte, error) { return p.sealPlain(state, c) })
	if sealed.Outcome != verdict.Done {
		return sealed
	}
	return answer(verdict.OpUnseal, func() ([]byte, error) { return p.unsealPlain(nil, sealed.Out, c) })
}

// meansSame reports whether out holds the letters of state: a subject that
// carries values may spell them otherwise.
func (t *Trial) meansSame(tok *Token, state, out []byte) bool {
	if bytes.Equal(tok.State, tok.Returned()) {
		return bytes.Equal(state, out)
	}
	return bytes.Contains(out, state[9:len(state)-2])
}

// otherPaths forges on every way to open a token that the subject has: into a
// buffer with and without room, and in a batch.
func otherPaths(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	s := tok.shape()
	for _, i := range s.coded() {
		altered := bytes.Clone(s.pieces[i].raw)
		altered[len(altered)/2] ^= 1
		forged := s.with(i, altered)
		for _, room := range [][]byte{nil, {}, make([]byte, 0, 4096), make([]byte, 10, 20), make([]byte, 1)} {
			t.try(codecs.Integrity)
			call := p.call(verdict.OpUnseal, forged, tok.Under, func() ([]byte, error) { return p.unsealPlain(room, forged, tok.Under) })
			if call.Answer.Outcome == verdict.Done {
				t.refute(codecs.Integrity, "a forged token is accepted into a buffer with room", tok.Sealed, call)
			}
		}
		t.batch(p, tok, forged)
	}
}

// batch presents two honest tokens among forged ones, all at once.
func (t *Trial) batch(p *Party, tok *Token, forged []byte) {
	const size, second = 40, 29
	texts := slices.Repeat([][]byte{forged}, size)
	texts[0], texts[second] = tok.Text, tok.Text
	vs, err := p.unsealBatch(texts, tok.Under)
	if err != nil {
		return
	}
	spent := t.Subject.word(codecs.SingleUse) == verdict.Stated // the honest token was opened before
	for k, v := range vs {
		t.try(codecs.Integrity)
		honest := k == 0 || k == second
		if (v.Err == nil) != honest && !(honest && spent) {
			t.refute(codecs.Integrity, fmt.Sprintf("in a batch, token %d of %d is judged otherwise than alone", k+1, size), tok.Sealed)
		}
	}
}
