package attack

import (
	"bytes"
	"fmt"

	"sealab/codecs"
)

const gainStream = "the difference of two payloads, and with a known payload the other one"

var fresh = []codecs.Property{codecs.FreshNonces, codecs.Confidentiality}

// onNonces are the attacks on freshness, and on what equal inputs give away.
var onNonces = []Refuter{
	{ID: "NON-01", Name: "nonces that repeat, also after a restart", Refutes: fresh, Layer: LayerOracle, Gain: gainStream,
		Origin: "Joux 2006; CVE-2016-0270", Run: repeatedNonces, Thousands: 66},
	{ID: "NON-03", Name: "one payload sealed twice", Refutes: []codecs.Property{codecs.Confidentiality}, Layer: LayerOracle,
		Gain: "whether two tokens carry the same state", Origin: "RFC 5297, section 1.3.2", Run: equality},
	{ID: "NON-05", Name: "one key stream for several tokens", Refutes: fresh, Layer: LayerOracle, Gain: gainStream,
		Origin: "nonces that are fixed, or taken from the time", Run: keyStream},
	{ID: "NON-06", Name: "equal blocks and equal beginnings", Refutes: []codecs.Property{codecs.Confidentiality}, Layer: LayerOracle,
		Gain: "where two payloads, or two parts of one, are the same", Origin: "ECB mode; a fixed initialisation vector", Run: equalBlocks},
	{ID: "NON-02", Name: "nonces of other lengths", Refutes: []codecs.Property{codecs.Integrity, codecs.Total}, Layer: LayerReseal,
		Gain: "a forgery, or a server that dies", Origin: "CVE-2017-7822, CVE-2019-1543", Run: nonceLengths},
	{ID: "NON-07", Name: "a nonce used twice on purpose", Refutes: []codecs.Property{codecs.NonceMisuseResistant}, Layer: LayerReseal, Gain: gainStream,
		Origin: "RFC 8452", Run: misusedNonce},
	{ID: "NON-04", Name: "a stated limit of tokens per key", Refutes: []codecs.Property{codecs.FreshNonces}, Layer: LayerText,
		Gain: "a nonce that repeats by chance", Origin: "NIST SP 800-38D, section 8.3",
		Dropped: "the limit is a sentence of the design's documentation, and no behaviour shows whether it is there"},
}

// run is the length in characters of what has to be the same by more than chance.
// It is of the text, since a single token does not tell in which code it is.
const run = 20

// repeatedNonces seals one state many times, in parties opened one after the
// other, and looks for tokens that have a run of bytes in common where others
// differ: the same payload under the same nonce gives the same bytes.
func repeatedNonces(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	if t.deterministic(p, tok) {
		t.skip("sealing is deterministic: no nonce shows")
		return
	}
	if t.readable(tok) {
		t.skip("the state is readable: there is no key stream to repeat")
		return
	}
	search, ok := t.newRepetition(p, tok)
	if !ok {
		t.skip("no part of a token changes throughout from one sealing to the next: there is a single nonce, or none")
		return
	}
	for range 3 {
		if t.Subject.Restart != nil && t.Subject.Restart() != nil {
			break
		}
		again, err := t.party(t.secret(0))
		if err != nil || search.collect(again, tok, 64) {
			return
		}
		p = again
	}
	search.collect(p, tok, t.Budget.Seals)
}

// A repetition remembers a run of the text of the tokens of one state.
type repetition struct {
	trial *Trial
	at    int // where the run begins
	seen  map[string]bool
}

// newRepetition finds the last run of characters that four tokens of one state do
// not share: no constant and no time is all of it.
func (t *Trial) newRepetition(p *Party, tok *Token) (*repetition, bool) {
	var others [][]byte
	for range 3 {
		again, ok := p.mint(tok.State, tok.Under)
		if !ok || len(again.Text) != len(tok.Text) {
			return nil, false
		}
		others = append(others, again.Text)
	}
	for at := len(tok.Text) - run; at >= 0; at-- {
		differs := true
		for _, other := range others {
			differs = differs && common(other[at:at+run], tok.Text[at:at+run]) <= run/4
		}
		if differs {
			return &repetition{t, at, map[string]bool{}}, true
		}
	}
	return nil, false
}

// collect seals n more tokens and reports whether one repeats.
func (r *repetition) collect(p *Party, tok *Token, n int) bool {
	for k := range n {
		if k%256 == 255 && r.trial.spent() {
			return false
		}
		call := p.seal(tok.State, tok.Under)
		text := call.Answer.Out
		if len(text) < r.at+run {
			return false
		}
		r.trial.try(codecs.FreshNonces, codecs.Confidentiality)
		if part := string(text[r.at : r.at+run]); !r.seen[part] {
			r.seen[part] = true
			continue
		}
		issue := fmt.Sprintf("a nonce repeats within %d tokens: one state gave the same bytes again", len(r.seen)+1)
		r.trial.refute(codecs.FreshNonces, issue, tok.Sealed, call)
		r.trial.refute(codecs.Confidentiality, issue, tok.Sealed, call)
		return true
	}
	return false
}

// deterministic reports that one state gives one token.
func (t *Trial) deterministic(p *Party, tok *Token) bool {
	a := p.seal(tok.State, tok.Under).Answer.Out
	b := p.seal(tok.State, tok.Under).Answer.Out
	return bytes.Equal(a, tok.Text) && bytes.Equal(b, tok.Text)
}

// readable reports that the state stands in the token for everyone to read.
func (t *Trial) readable(tok *Token) bool {
	return len(findIn(tok.Text, tok.State[9:len(tok.State)-2])) > 0
}

// equality seals one state twice, at one time and in one context.
func equality(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	for range 3 {
		again, ok := p.mint(tok.State, tok.Under)
		if !ok {
			return
		}
		t.try(codecs.Confidentiality)
		if bytes.Equal(again.Text, tok.Text) {
			t.refute(codecs.Confidentiality, "one state sealed twice gives one token", tok.Sealed, again.Sealed)
		}
	}
}

// keyStream seals states that are known, short and long, and compares the
// difference of tokens with that of states.
func keyStream(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	if t.readable(tok) {
		t.skip("the state is readable: there is no key stream")
		return
	}
	for _, n := range []int{64, 64, 64, 64, 1500, 5000, 20000} {
		a, okA := p.mint(t.state(n), tok.Under)
		b, okB := p.mint(t.state(n), tok.Under)
		if !okA || !okB {
			continue // a bound on states
		}
		t.try(codecs.FreshNonces, codecs.Confidentiality)
		if t.sameStream(a, b) {
			t.refute(codecs.FreshNonces, "two tokens have one key stream: their difference is that of their states", a.Sealed, b.Sealed)
			t.refute(codecs.Confidentiality, "the difference of two tokens is that of their states", a.Sealed, b.Sealed)
		}
	}
}

// sameStream reports whether the difference of the states shows in that of the
// tokens, anywhere.
func (t *Trial) sameStream(a, b *Token) bool {
	between := xor(a.State[9:9+48], b.State[9:9+48])
	return bytes.Contains(xor(a.raws(), b.raws()), between)
}

func xor(a, b []byte) []byte {
	out := make([]byte, min(len(a), len(b)))
	for i := range out {
		out[i] = a[i] ^ b[i]
	}
	return out
}

// equalBlocks seals states with equal parts and looks for equal bytes that
// states without them do not have.
func equalBlocks(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	if t.readable(tok) {
		t.readableState(tok)
		return
	}
	repeated, ok := p.mint(fmt.Appendf(nil, `{"step":"%s"}`, bytes.Repeat([]byte("abcdefghijklmnop"), 16)), tok.Under)
	if !ok {
		return
	}
	t.try(codecs.Confidentiality)
	if block, ok := blockTwice(repeated.raws()); ok {
		t.refute(codecs.Confidentiality, fmt.Sprintf("a state of equal blocks gives equal blocks: %x", block), repeated.Sealed)
	}
	head := t.letters(96)
	a, okA := p.mint(fmt.Appendf(nil, `{"step":"%s%s"}`, head, t.letters(32)), tok.Under)
	b, okB := p.mint(fmt.Appendf(nil, `{"step":"%s%s"}`, head, t.letters(32)), tok.Under)
	c, okC := p.mint(t.state(128), tok.Under)
	if !okA || !okB || !okC {
		return
	}
	with, without := common(a.raws(), b.raws()), common(a.raws(), c.raws())
	if with >= without+16 {
		t.refute(codecs.Confidentiality, fmt.Sprintf("states that begin alike give tokens with %d bytes in common, others %d", with, without), a.Sealed, b.Sealed)
	}
}

// readableState records the plainest of all refutations.
func (t *Trial) readableState(tok *Token) {
	t.try(codecs.Confidentiality)
	t.refute(codecs.Confidentiality, "the state can be read in the token", tok.Sealed)
}

// blockTwice finds a block of 16 bytes that stands twice in raw.
func blockTwice(raw []byte) ([]byte, bool) {
	for from := range raw {
		for to := from + 16; to+16 <= len(raw); to += 16 {
			if from+16 <= len(raw) && bytes.Equal(raw[from:from+16], raw[to:to+16]) {
				return raw[from : from+16], true
			}
		}
	}
	return nil, false
}

// common is the number of places at which a and b have the same byte.
func common(a, b []byte) int {
	n := 0
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			n++
		}
	}
	return n
}
