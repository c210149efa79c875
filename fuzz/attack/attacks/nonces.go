package attacks

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/fields"
	"sealab/fuzz/attack/tokenfmt"
	"sealab/internal/verdict"
)

var nonceProperties = []codecs.Property{codecs.FreshNonces, codecs.Confidentiality}

// nonceAttacks are the attacks on the freshness of nonces, and on traces that equal inputs leave.
var nonceAttacks = []attack.Attack{
	{ID: "NON-01", Name: "nonces that repeat, also after a restart", Refutes: nonceProperties, Layer: attack.LayerOracle, CWE: 323, Gain: gainStream,
		Origin: "Joux 2006; CVE-2016-0270", Run: onToken(trial.repeatedNonces), Hundreds: 660},
	{ID: "NON-03", Name: "one payload sealed twice", Refutes: []codecs.Property{codecs.Confidentiality}, Layer: attack.LayerOracle, CWE: 329,
		Gain: "whether two tokens carry the same state", Origin: "RFC 5297, section 1.3.2", Run: onToken(trial.equality), Hundreds: 2},
	{ID: "NON-05", Name: "one key stream for several tokens", Refutes: nonceProperties, Layer: attack.LayerOracle, CWE: 323, Gain: gainStream,
		Origin: "nonces that are fixed, or taken from the time", Run: onToken(trial.keyStream), Hundreds: 7},
	{ID: "NON-06", Name: "equal blocks and equal beginnings", Refutes: []codecs.Property{codecs.Confidentiality}, Layer: attack.LayerOracle, CWE: 327,
		Gain: "the positions at which two payloads, or two parts of one, are equal", Origin: "ECB mode; a fixed initialization vector; a nonce that is used for each chunk", Run: onToken(trial.equalBlocks)},
	{ID: "NON-02", Name: "nonces of other lengths", Refutes: []codecs.Property{codecs.Integrity, codecs.Total}, Layer: attack.LayerReseal, CWE: 1284,
		Gain: "a forged token, or a crash of the server", Origin: "CVE-2017-7822, CVE-2019-1543", Run: onToken(trial.nonceLengths)},
	{ID: "NON-07", Name: "a reused nonce, states that begin or end alike",
		Refutes: []codecs.Property{codecs.NonceMisuseResistant}, Layer: attack.LayerReseal, CWE: 323, Gain: gainStream,
		Origin: "RFC 8452", Run: onToken(trial.misusedNonce)},
	{ID: "NON-08", Name: "handles that draw the same nonces, nonces after a refusal or another state", Refutes: nonceProperties, Layer: attack.LayerOracle, CWE: 323, Gain: gainStream,
		Origin: "counters and generators that begin anew when a handle is opened or closed, or a token is refused", Run: onToken(trial.severalHandles), Hundreds: 11},
	{ID: "NON-09", Name: "the randomness of 20,000 tokens", Refutes: []codecs.Property{codecs.FreshNonces}, Layer: attack.LayerOracle, CWE: 330,
		Gain: "nonces, key IDs or handles that can be predicted", Origin: "FIPS 140-1, section 4.11.1; NIST SP 800-22; NIST SP 800-90B, section 6.3.1", Run: onToken(trial.randomness), Hundreds: 200},
	{ID: "NON-10", Name: "a nonce that contains a counter of 12 bits or fewer", Refutes: nonceProperties, Layer: attack.LayerOracle, CWE: 323, Gain: gainStream,
		Origin: "counters within a second or a millisecond that begin anew", Run: onToken(trial.shortNumbers), Hundreds: 40},
	{ID: "NON-04", Name: "a stated limit of tokens per key", Refutes: []codecs.Property{codecs.FreshNonces}, Layer: attack.LayerText, CWE: 323,
		Gain: "a nonce that repeats by chance", Origin: "NIST SP 800-38D, section 8.3",
		Dropped: "the limit is a statement of the documentation, and the design does not enforce it"},
}

// runLength is the length in characters of a shared text that is unlikely to occur by chance.
const runLength = 20

// repeatedNonces seals one state many times, in instances opened one after the other. It looks
// for tokens that share a run of characters in which others differ. The same payload under the
// same nonce gives the same bytes.
func (t trial) repeatedNonces(in *attack.Instance, tok *attack.Token) {
	if t.hidesNonce(in, tok) {
		return
	}
	search, ok := t.newRepetition(in, tok)
	if !ok {
		t.Skip("no part of a token changes throughout from one sealing to the next: there is a single nonce, or none")
		return
	}
	for range 3 {
		if t.Design.Restart != nil && t.Design.Restart() != nil {
			break
		}
		again, err := t.Open(t.Secret(0))
		if err != nil || search.collect(again, tok, 64) {
			return
		}
		in = again
	}
	if t.clockSetBack(search, in, tok) {
		return
	}
	search.collect(in, tok, t.Budget.Seals)
	t.Note("%d tokens without a repetition: random nonces of %.0f bits and less repeat in as many with 99%% probability", search.count, search.shows())
}

// shortNumbers seals one state until a 12-bit number would wrap around. It runs before the
// attacks that need many more tokens.
func (t trial) shortNumbers(in *attack.Instance, tok *attack.Token) {
	if t.hidesNonce(in, tok) {
		return
	}
	if search, ok := t.newRepetition(in, tok); ok {
		search.collect(in, tok, 1<<12+200)
	} else {
		t.Skip("no part of a token changes throughout from one sealing to the next")
	}
}

// clockSetBack seals at a time, at later ones, and at the same times again. A counter within a
// second or an hour must not start again.
func (t trial) clockSetBack(search *repetition, in *attack.Instance, tok *attack.Token) bool {
	if t.Design.OwnClock || !t.Design.IsScheme() {
		return false
	}
	for _, d := range slices.Repeat([]time.Duration{0, time.Second, time.Minute, time.Hour, 24 * time.Hour}, 2) {
		at := *tok
		at.Under = attack.Later(tok.Under, d)
		if search.collect(in, &at, 8) {
			return true
		}
	}
	return false
}

// hidesNonce reports and records whether tokens show no nonce.
func (t trial) hidesNonce(in *attack.Instance, tok *attack.Token) bool {
	switch {
	case in.Deterministic(tok):
		t.Skip("sealing is deterministic: no nonce shows")
		return true
	case t.Readable(tok) && t.Design.Claim(codecs.FreshNonces) != verdict.Stated: // a tag may have a nonce, as GMAC
		t.Skip("the state is readable: there is no key stream to repeat")
		return true
	}
	return false
}

// The numbers of tokens that [trial.severalHandles] seals after each opening and after each closing.
const (
	afterOpen  = 16
	afterClose = 64
)

// severalHandles opens the design twice under one key in one process, and twice under a ring
// whose first key it is. It seals one state after events and with all handles in turn, closes the
// handles, and looks for a repetition.
func (t trial) severalHandles(in *attack.Instance, tok *attack.Token) {
	if t.hidesNonce(in, tok) {
		return
	}
	search, ok := t.newRepetition(in, tok)
	if !ok {
		t.Skip("no part of a token changes throughout from one sealing to the next")
		return
	}
	if t.betweenOthers(search, in, tok) || t.afterEvents(search, in, tok) {
		return
	}
	var handles []*attack.Instance
	for _, ring := range [][][]byte{{t.Secret(0)}, {t.Secret(0), t.Secret(1)}} {
		for range 2 {
			h, err := t.Open(ring...)
			if err != nil {
				continue
			}
			if search.collect(h, tok, afterOpen) { // opening must not reset the state of the process
				return
			}
			handles = append(handles, h)
		}
	}
	for range 100 {
		for _, h := range handles {
			if search.collect(h, tok, 1) {
				return
			}
		}
	}
	t.afterClosing(search, handles, tok)
}

// afterEvents seals after each of several events, twice in a row and once more after all of them.
// No event may set a counter or a generator to a known value.
func (t trial) afterEvents(search *repetition, in *attack.Instance, tok *attack.Token) bool {
	events := t.nonceEvents(in, tok)
	for _, event := range slices.Repeat(events, 2) {
		for range 2 {
			event()
			if search.collect(in, tok, 2) {
				return true
			}
		}
	}
	return false
}

// unsealable are states that some designs refuse to seal.
var unsealable = [][]byte{nil, []byte("\xff"), make([]byte, 1<<16+1), make([]byte, 1<<20+1)}

// nonceEvents returns calls at which a generator of nonces may begin anew: refused, accepted and
// long tokens, alone and in a batch, another state, also one that is refused, and another handle.
func (t trial) nonceEvents(in *attack.Instance, tok *attack.Token) []func() {
	altered := bytes.Clone(tok.Text)
	altered[len(altered)/2] ^= 1
	long := append(bytes.Clone(tok.Text), bytes.Repeat([]byte("A"), 5000)...)
	var events []func()
	for _, text := range [][]byte{altered, lastAltered(tok), []byte("x"), nil, tok.Text, long} {
		events = append(events, func() { in.Unseal(text, tok.Under) })
	}
	for _, state := range unsealable {
		events = append(events, func() { in.SealQuietly(state, tok.Under) })
	}
	return append(events,
		func() { in.Unseal(tok.Text, fields.Target.Put(tok.Under, "other")) },
		func() { in.Unseal(tok.Text, attack.Later(tok.Under, 400*24*time.Hour)) },
		func() { in.UnsealTogether([][]byte{[]byte("x"), tok.Text, altered}, tok.Under) },
		func() { t.Open(t.Secret(2)) },
		func() { t.Open(t.Secret(0), t.Secret(0)) })
}

// afterClosing seals with a handle after another ring was refused, after a handle of another key
// was closed, and after each of the other handles was. Last it closes the handle and opens it
// again.
func (t trial) afterClosing(search *repetition, handles []*attack.Instance, tok *attack.Token) {
	if len(handles) == 0 {
		return
	}
	h, others := handles[0], handles[1:]
	if refused, err := t.Open(t.Secret(0), t.Secret(0)); err == nil {
		others = append(others, refused)
	}
	if other, err := t.Open(t.Secret(2)); err == nil {
		other.Seal(tok.State, tok.Under)
		others = append([]*attack.Instance{other}, others...)
	}
	for _, other := range others {
		if other.Close() != nil || search.collect(h, tok, afterClose) {
			return
		}
	}
	if h.Close() != nil {
		return
	}
	if again, err := t.Open(t.Secret(0)); err == nil {
		search.collect(again, tok, afterClose)
	}
}

// equality seals one state twice at the same time and in the same context. It also uses a
// context without a principal, because the claim of a principal may be salted.
func (t trial) equality(in *attack.Instance, tok *attack.Token) {
	anonymous := tok.Under
	anonymous.Principal = nil
	twice := func(state []byte, c codecs.Context) {
		one, okOne := in.Mint(state, c)
		two, okTwo := in.Mint(state, c)
		if !okOne || !okTwo {
			return // the design requires a principal, or does not carry this state
		}
		t.Try(codecs.Confidentiality)
		if bytes.Equal(one.Text, two.Text) {
			t.RefuteIf(codecs.Confidentiality, attack.Sealed(2), "one state sealed twice gives one token", one.Sealed, two.Sealed)
		}
	}
	for _, c := range []codecs.Context{tok.Under, tok.Under, anonymous} {
		twice(tok.State, c)
	}
	for _, n := range append(attack.RareLengths, attack.LongState, attack.LongerState) {
		twice(t.Letters(n), tok.Under)
		twice(t.State(n), tok.Under)
	}
}

// keyStream seals known states, short and long, and compares the difference between tokens with
// that between states.
func (t trial) keyStream(in *attack.Instance, tok *attack.Token) {
	if t.Readable(tok) {
		t.Skip("the state is readable: there is no key stream")
		return
	}
	for _, n := range []int{8, 12, 15, 16, 17, 24, 32} { // a design may seal short states in another way
		t.oneStream(in, tok.Under, t.Letters(n), t.Letters(n))
	}
	t.streamsOfLess(in, tok.Under)
	t.overlappingStreams(in, tok.Under)
	t.streamsOfEveryLength(in, tok.Under)
	for _, n := range []int{64, 64, 64, 64, 255, 256, 257, 1500, 4096, 5000, 20000, 65536} {
		t.oneStream(in, tok.Under, t.State(n), t.State(n))
	}
}

// streamsOfLess compares tokens in contexts without some of the optional fields.
func (t trial) streamsOfLess(in *attack.Instance, under codecs.Context) {
	if !t.Design.IsScheme() {
		return
	}
	for _, c := range fields.Reduced(under) {
		t.oneStream(in, c, t.State(48), t.State(48))
	}
}

// oneStream seals two states of one length and refutes if their tokens share a key stream.
func (t trial) oneStream(in *attack.Instance, under codecs.Context, one, two []byte) {
	a, okA := in.Mint(one, under)
	b, okB := in.Mint(two, under)
	if !okA || !okB {
		return // the design limits states
	}
	t.Try(nonceProperties...)
	switch {
	case len(tokenfmt.Find(a.Text, a.State)) > 0: // there is no key stream
		t.RefuteIf(codecs.Confidentiality, attack.Sealed(1), fmt.Sprintf("a state of %d bytes can be read in its token", len(one)), a.Sealed)
	case sameStream(a, b):
		t.RefuteEach(nonceProperties, attack.Sealed(2), fmt.Sprintf("two tokens of states of %d bytes have one key stream: their difference is that of their states", len(one)), a.Sealed, b.Sealed)
	}
}

// sameStream reports whether the difference between the states, up to 48 bytes of it, occurs in
// the difference between the tokens.
func sameStream(a, b *attack.Token) bool {
	between := bytes.TrimLeft(tokenfmt.Xor(a.State, b.State), "\x00") // states may begin alike
	return len(between) > 0 && bytes.Contains(tokenfmt.Xor(a.Bytes(), b.Bytes()), between[:min(len(between), 48)])
}

// equalBlocks seals states with equal parts, short and long. It looks for equal bytes in the
// tokens that other states do not give.
func (t trial) equalBlocks(in *attack.Instance, tok *attack.Token) {
	if t.Readable(tok) {
		t.RefuteReadable(tok)
		return
	}
	for _, n := range []int{256, 8 << 10, 1 << 20} {
		if n > t.Budget.Bytes {
			break
		}
		block := []byte("abcdefghijklmnop")
		if n > 256 {
			block = bytes.Repeat([]byte("a"), 16)
		}
		for _, more := range []string{"", "aaaaa"} { // the longer one makes the state whole blocks
			repeated, ok := in.Mint(fmt.Appendf(nil, `{"step":"%s%s"}`, bytes.Repeat(block, n/16), more), tok.Under)
			if !ok {
				continue
			}
			other, ok := in.Mint(t.Letters(len(repeated.State)), tok.Under)
			if !ok {
				continue
			}
			t.Try(codecs.Confidentiality)
			if block, ok := blockTwice(repeated.Bytes(), other.Bytes()); ok {
				t.RefuteIf(codecs.Confidentiality, attack.Sealed(1), fmt.Sprintf("a state of %d bytes in equal blocks gives equal blocks: %x", len(repeated.State), block), repeated.Sealed)
				return
			}
		}
	}
	t.equalBeginnings(in, tok)
}

// equalBeginnings seals states with a common beginning.
func (t trial) equalBeginnings(in *attack.Instance, tok *attack.Token) {
	head := t.Letters(96)
	a, okA := in.Mint(fmt.Appendf(nil, `{"step":"%s%s"}`, head, t.Letters(32)), tok.Under)
	b, okB := in.Mint(fmt.Appendf(nil, `{"step":"%s%s"}`, head, t.Letters(32)), tok.Under)
	c, okC := in.Mint(t.State(128), tok.Under)
	if !okA || !okB || !okC {
		return
	}
	if with, without := equalPositions(a.Bytes(), b.Bytes()), equalPositions(a.Bytes(), c.Bytes()); with >= without+16 {
		t.RefuteIf(codecs.Confidentiality, attack.Sealed(2), fmt.Sprintf("states that begin alike give tokens with %d equal bytes, others %d", with, without), a.Sealed, b.Sealed)
	}
}

// blockTwice returns a block of 16 bytes that occurs twice in raw, at a distance that is a
// multiple of 16, and not in other. A constant header may repeat itself.
func blockTwice(raw, other []byte) ([]byte, bool) {
	for start := range min(16, len(raw)) {
		seen := map[[16]byte]bool{}
		for at := start; at+16 <= len(raw); at += 16 {
			block := [16]byte(raw[at : at+16])
			if seen[block] && !bytes.Contains(other, block[:]) {
				return block[:], true
			}
			seen[block] = true
		}
	}
	return nil, false
}

// equalPositions returns the number of positions at which a and b have the same byte.
func equalPositions(a, b []byte) int {
	n := 0
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			n++
		}
	}
	return n
}
