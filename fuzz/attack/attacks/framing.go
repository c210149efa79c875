package attacks

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/attacks/resources"
	"sealab/fuzz/attack/tokenfmt"
)

// framingAttacks are the attacks on how a token is split into parts.
var framingAttacks = []attack.Attack{
	{ID: "FRM-01", Name: "the token truncated to every length", Refutes: integrityProperties, Layer: attack.LayerText, CWE: 354, Gain: attack.GainForgery,
		Origin: "Project Wycheproof and CCTV: truncation, partial plaintext", Run: presentChanges(tokenfmt.Truncation), Hundreds: 9},
	{ID: "FRM-02", Name: "empty token, empty segments, missing separators", Refutes: []codecs.Property{codecs.Integrity, codecs.Total}, Layer: attack.LayerText, CWE: 1284,
		Gain: "a forged token, or a crash of the server", Origin: "jose2go issue 11", Run: onToken(trial.emptySegments)},
	{ID: "FRM-03", Name: "wrong lengths, and members of other types", Refutes: []codecs.Property{codecs.Integrity, codecs.Total}, Layer: attack.LayerText, CWE: 789,
		Gain: "a forged token, or as much memory of the server as the attacker wants", Origin: "CVE-2016-9123", Run: resources.Lengths, Measures: true, Hundreds: 10},
	{ID: "FRM-05", Name: "version, algorithm and key ID set to every value", Refutes: integrityProperties, Layer: attack.LayerText, CWE: 757,
		Gain: "a format or key that the attacker chooses instead of the server", Origin: "CVE-2015-9235", Run: onToken(trial.versions), Hundreds: 40},
	{ID: "FRM-06", Name: "unknown critical header", Refutes: integrityProperties, Layer: attack.LayerText, CWE: 345,
		Gain: "a token whose restriction the server ignores", Origin: "CVE-2025-59420; RFC 7515, section 4.1.11", Run: onToken(trial.headerMembers)},
	{ID: "FRM-07", Name: "every bit of the decoded bytes flipped", Refutes: integrityProperties, Layer: attack.LayerText, CWE: 354, Gain: attack.GainForgery,
		Origin: "Fernet specification, invalid vectors", Run: onToken(trial.bitFlips), Hundreds: 30},
	{ID: "FRM-08", Name: "parts of two tokens joined", Refutes: integrityProperties, Layer: attack.LayerText, CWE: 354,
		Gain: "a token assembled from parts of others", Origin: "CCTV: chunk reordering", Run: onToken(trial.splices), Hundreds: 10},
	{ID: "FRM-09", Name: "a forged part beside a valid one", Refutes: integrityProperties, Layer: attack.LayerText, CWE: 347,
		Gain: "a forged body that is accepted because of a valid signature beside it", Origin: "CVE-2016-9122", Run: onToken(trial.doubledSegments)},
	{ID: "FRM-10", Name: "chunks of long tokens dropped, swapped and repeated", Refutes: integrityProperties, Layer: attack.LayerText, CWE: 354,
		Gain: "a state that is truncated or assembled from others", Origin: "CCTV: chunk reordering and truncation", Run: onToken(trial.chunks)},
	{ID: "FRM-11", Name: "changed and repeated ends of tokens of many lengths and of the second key", Refutes: integrityProperties, Layer: attack.LayerText, CWE: 354, Gain: attack.GainForgery,
		Origin: "rare branches of verification; CVE-2014-3566, of padding that no tag covers; CVE-2012-2459, of a hash tree", Run: onToken(trial.rareBranches), Hundreds: 30},
	{ID: "FRM-12", Name: "the constant start of a token replaced", Refutes: integrityProperties, Layer: attack.LayerText, CWE: 347,
		Gain: "an accepted token that names no key or another one", Origin: "key IDs with a special value; a search that falls back to the first key", Run: onToken(trial.heads), Hundreds: 2},
	{ID: "FRM-13", Name: "readable JSON under a tag, with altered members",
		Refutes: []codecs.Property{codecs.Integrity, codecs.Canonical}, Layer: attack.LayerText, CWE: 436,
		Gain: "claims that the server never wrote", Origin: "tags over JSON that is parsed and written again", Run: onToken(trial.members), Hundreds: 20},
	{ID: "FRM-14", Name: "readable text under a tag, with equivalent characters",
		Refutes: []codecs.Property{codecs.Integrity, codecs.Canonical}, Layer: attack.LayerText, CWE: 176,
		Gain: "a second text for one token, or claims that the server never wrote", Origin: "tags over normalized text", Run: onToken(trial.texts)},
}

func (t trial) emptySegments(in *attack.Instance, tok *attack.Token) {
	t.Try(codecs.Total)
	t.changes(in, tok, tokenfmt.EmptySegments)
}

// versions presents other versions with the body unchanged, with a tag that needs no key, and
// without a tag.
func (t trial) versions(in *attack.Instance, tok *attack.Token) {
	f := tok.Format()
	t.changes(in, tok, tokenfmt.Versions, tokenfmt.Unkeyed, tokenfmt.Unsigned)
	if ended, ok := in.Mint(append(t.Letters(24), 0), tok.Under); ok {
		t.Changes(in, ended, versionsOfLess(ended.Format()))
	}
	for _, s := range f.Segments {
		if s.Encoded() {
			continue
		}
		for _, word := range tokenfmt.OtherWords(s.Text) {
			for _, state := range [][]byte{t.State(24), []byte(`{"admin":true}`)} {
				t.Changes(in, tok, unsignedTokens(word, state))
			}
		}
	}
}

// versionsOfLess leaves out the byte before the tag and sets each of the first bytes to several
// other values. Some version may append that byte to the message before it computes the tag.
func versionsOfLess(f tokenfmt.Format) tokenfmt.Alterations {
	return func(yield func(tokenfmt.Alteration)) {
		for _, size := range []int{32, 16} {
			for _, l := range f.Layouts(size) {
				less := l.Body[:len(l.Body)-1]
				for at := range min(8, len(less)) {
					for _, v := range []byte{0, 1, 2, 3, 4, less[at] - 1, less[at] + 1, less[at] ^ 0x80} {
						altered := bytes.Clone(less)
						altered[at] = v
						yield(tokenfmt.Alteration{Text: l.Build(altered, l.Tag), How: fmt.Sprintf("byte %d set to %d, and the byte in front of a tag of %d bytes left out", at, v, size)})
					}
				}
			}
		}
	}
}

// unsignedTokens yields tokens that consist of a word and a state of the attacker's choice, without
// a tag.
func unsignedTokens(word string, state []byte) tokenfmt.Alterations {
	return func(yield func(tokenfmt.Alteration)) {
		for _, sep := range []string{"", ".", ":"} {
			for _, body := range []string{tokenfmt.Base64URL.Encode(state), string(state)} {
				for _, tail := range []string{"", sep} {
					yield(tokenfmt.Alteration{Text: []byte(word + sep + body + tail), How: fmt.Sprintf("a state without a tag behind %q", word)})
				}
			}
		}
	}
}

func (t trial) headerMembers(in *attack.Instance, tok *attack.Token) {
	t.changes(in, tok, tokenfmt.HeaderMembers)
	if t.Tried(codecs.Integrity) == 0 {
		t.Skip("no segment of the token is a readable JSON object")
	}
}

// bitFlips flips every bit of a short token, and some bits of longer ones, all of their first bytes among them:
// these may say how the rest is to be read, as that of a state that shrinks when it is compressed.
func (t trial) bitFlips(in *attack.Instance, tok *attack.Token) {
	t.changes(in, tok, tokenfmt.BitFlips)
	states := [][]byte{append([]byte{0xff}, t.Bytes(80)...), bytes.Repeat([]byte("a"), 400)} // no UTF-8; repeated
	for _, n := range []int{1, 80, 300, 2000, 20000} {
		states = append(states, t.State(n))
	}
	for _, state := range states {
		tok, ok := t.Mint(in, state)
		if !ok {
			continue
		}
		f := tok.Format()
		t.Changes(in, tok, func(yield func(tokenfmt.Alteration)) {
			for _, i := range f.Encoded() {
				for at := range 8 * min(4, len(f.Segments[i].Bytes)) {
					yield(f.Flip(i, at))
				}
				for _, at := range t.Places(len(f.Segments[i].Bytes), 60) {
					yield(f.Flip(i, min(at*8+t.IntN(8), len(f.Segments[i].Bytes)*8-1)))
				}
			}
		})
	}
}

func (t trial) doubledSegments(in *attack.Instance, tok *attack.Token) {
	t.Spellings(in, tok, t.of(tok, tokenfmt.DoubledSegments))
}

// splices combines parts of two tokens, by segments and by bytes, and moves blocks within one.
func (t trial) splices(in *attack.Instance, a *attack.Token) {
	b, ok := t.Mint(in, t.State(24))
	if !ok {
		return
	}
	fa, fb := a.Format(), b.Format()
	if len(fa.Segments) != len(fb.Segments) {
		t.Skip("two tokens of one length have different formats")
		return
	}
	t.Changes(in, a, splicedTokens(fa, fb))
	t.Changes(in, a, splicedTags(fa, fb))
	if c, ok := in.Mint(t.State(24), attack.Later(a.Under, time.Second)); ok { // minted at another time
		t.Changes(in, c, splicedTags(c.Format(), fa))
	}
	t.splicedBytes(in, a.Under)
	t.changedAt(in, t.State(200), a.Under, tokenfmt.Blocks)
	t.changedAt(in, t.State(1500), a.Under, tokenfmt.Exchanged) // blocks lie within the state in every encoding
}

// splicedBytes splices tokens whose states are not UTF-8.
func (t trial) splicedBytes(in *attack.Instance, under codecs.Context) {
	a, okA := in.Mint(append([]byte{0xff}, t.Bytes(24)...), under)
	b, okB := in.Mint(append([]byte{0xff}, t.Bytes(24)...), under)
	if okA && okB && len(a.Format().Segments) == len(b.Format().Segments) {
		t.Changes(in, a, splicedTokens(a.Format(), b.Format()))
	}
}

// splicedTokens yields combinations of the parts of a and b.
func splicedTokens(a, b tokenfmt.Format) tokenfmt.Alterations {
	return func(yield func(tokenfmt.Alteration)) {
		whole := b.Text()
		give := func(text []byte, format string, args ...any) {
			if !bytes.Equal(text, whole) {
				yield(tokenfmt.Alteration{Text: text, How: fmt.Sprintf(format, args...)})
			}
		}
		for i := range a.Segments {
			for j := i; j < len(a.Segments); j++ {
				mixed := tokenfmt.Format{Segments: slices.Concat(a.Segments[:i], b.Segments[i:j+1], a.Segments[j+1:])}
				if j != i+1 {
					give(mixed.Text(), "segments %d to %d of another token", i, j)
				}
			}
		}
		for _, i := range a.Encoded() {
			ra, rb := a.Segments[i].Bytes, b.Segments[i].Bytes
			for n := 1; n < min(len(ra), len(rb)); n++ {
				give(a.With(i, slices.Concat(rb[:n], ra[n:])), "the first %d bytes of segment %d from another token", n, i)
			}
		}
	}
}

// mostCuts is the number of places at which [splicedTags] cuts the body of a token.
const mostCuts = 400

// splicedTags yields tokens that start like b and end like a, both in the body and in the tag.
// Each half of a tag may cover only a part of the body.
func splicedTags(a, b tokenfmt.Format) tokenfmt.Alterations {
	return func(yield func(tokenfmt.Alteration)) {
		for _, size := range []int{16, 32, 64} {
			as, bs := a.Layouts(size), b.Layouts(size)
			for i := range min(len(as), len(bs)) {
				x, y := as[i], bs[i]
				if len(x.Body) != len(y.Body) {
					continue
				}
				tag := slices.Concat(y.Tag[:size/2], x.Tag[size/2:])
				for n := 1; n < min(len(x.Body), mostCuts); n++ {
					if altered := x.Build(slices.Concat(y.Body[:n], x.Body[n:]), tag); !bytes.Equal(altered, b.Text()) {
						yield(tokenfmt.Alteration{Text: altered, How: fmt.Sprintf("the first %d bytes of the body and half of the tag of %d bytes from another token", n, size)})
					}
				}
			}
		}
	}
}

// rareBranches changes the last bytes of each segment, which may be a tag. Its tokens reach
// rare branches: they have unusual lengths, or were sealed by the second key of a ring.
func (t trial) rareBranches(in *attack.Instance, tok *attack.Token) {
	for _, n := range attack.RareLengths {
		for _, state := range [][]byte{t.State(n), t.Letters(n), t.State(max(0, n-len(t.State(0))))} {
			if rare, ok := in.Mint(state, tok.Under); ok {
				t.Changes(in, rare, t.changedOnce(rare, 6, 6))
			}
		}
	}
	swept := in.Seals(tok.Under, t.SweptStates())
	t.changedAtEveryLength(in, swept, tok.Under)
	t.paddingReplaced(in, swept, tok.Under)
	if long, ok := in.Mint(t.State(attack.LongState), tok.Under); ok {
		t.changedBehind(in, long)
	}
	if t.Budget.Bytes >= 2*attack.LongerState {
		if longer, ok := in.Mint(t.State(attack.LongerState), tok.Under); ok {
			t.Changes(in, longer, t.changedOnce(longer, 40, 40))
		}
	}
	if t.Budget.Bytes >= 4*attack.LongestState {
		if longest, ok := in.Mint(t.State(attack.LongestState), tok.Under); ok {
			t.Changes(in, longest, t.changedOnce(longest, 0, 8))
		}
	}
	t.changedUnderRings(in, tok.Under)
}

// changedUnderRings changes tokens that were sealed by the second or a later key of a ring.
func (t trial) changedUnderRings(in *attack.Instance, under codecs.Context) {
	for _, n := range []int{2, 3, 5, 9} {
		keys := t.firstSecrets(n)
		slices.Reverse(keys)
		ring, err := t.Open(keys...)
		if err != nil {
			return
		}
		if last, ok := in.Mint(t.State(24), under); ok && n == 2 {
			t.changedBehind(ring, last)
		} else if ok {
			t.Changes(ring, last, t.changedOnce(last, 8, 8))
		}
		if long, ok := in.Mint(t.State(attack.LongState), under); ok && n == 2 {
			t.changedBehind(ring, long)
		}
	}
}

// changedBehind changes single bytes of tok, and guesses the last byte of each segment.
func (t trial) changedBehind(in *attack.Instance, tok *attack.Token) {
	t.Changes(in, tok, t.changedOnce(tok, 40, 100))
	f := tok.Format()
	for _, i := range f.Encoded() {
		forged := bytes.Clone(f.Segments[i].Bytes)
		forged[len(forged)/2] ^= 1
		t.guess(in, tok, f, i, forged, 1, min(256, t.Budget.Unseals))
	}
}

// changedOnce yields tok with one byte changed: each of the last bytes of a segment, and some
// random ones.
func (t trial) changedOnce(tok *attack.Token, last, some int) tokenfmt.Alterations {
	f := tok.Format()
	return func(yield func(tokenfmt.Alteration)) {
		for i, raw := range f.EncodedBytes() {
			at := t.Places(len(raw)-1, some)
			for k := max(0, len(raw)-last); k < len(raw); k++ {
				at = append(at, k)
			}
			for _, k := range t.Range(len(at)) {
				altered := bytes.Clone(raw)
				altered[at[k]] ^= 1 << t.IntN(8)
				yield(tokenfmt.Alteration{Text: f.With(i, altered), How: fmt.Sprintf("byte %d of %d in segment %d changed", at[k], len(raw), i)})
			}
		}
	}
}

// heads replaces the constant head of tokens as a whole: by constants, by neighboring values,
// and by the heads of tokens of other keys, in the ring and outside it.
func (t trial) heads(in *attack.Instance, tok *attack.Token) {
	f := tok.Format()
	t.changes(in, tok, tokenfmt.Heads)
	segment, n, ok := t.HeadOf(in, tok)
	if !ok {
		return
	}
	ring, err := t.Open(t.Secret(0), t.Secret(1))
	if err != nil {
		ring = in
	}
	heads := [][]byte{nil}
	for _, k := range []int{1, 2} {
		other, err := t.Open(t.Secret(k))
		if err != nil {
			continue
		}
		if theirs, ok := other.Mint(t.State(24), tok.Under); ok {
			if g := theirs.Format(); segment < len(g.Segments) && len(g.Segments[segment].Bytes) >= n {
				heads = append(heads, g.Segments[segment].Bytes[:n])
			}
		}
	}
	raw := f.Segments[segment].Bytes
	for _, holder := range []*attack.Instance{in, ring} {
		for _, head := range heads {
			t.Change(holder, tok, f.With(segment, slices.Concat(head, raw[n:])), fmt.Sprintf("the first %d bytes of segment %d, which are one for all tokens of a key, replaced by %x", n, segment, head))
		}
		t.Changes(holder, tok, func(yield func(tokenfmt.Alteration)) { f.WithHead(segment, n, yield) })
	}
}

// members alters readable JSON under the tag. The states contain objects, texts and numbers, so
// that each kind of member occurs.
func (t trial) members(in *attack.Instance, tok *attack.Token) {
	for _, state := range [][]byte{
		fmt.Appendf(nil, `{"step":"%s","n":7,"ok":true,"list":[1,2],"deep":{"a":1}}`, t.Letters(24)),
		fmt.Appendf(nil, `{"step": "%s", "n": 7}`, t.Letters(24)),
	} {
		t.changedAt(in, state, tok.Under, tokenfmt.Members)
	}
	if t.Tried(codecs.Integrity) == 0 {
		t.Skip("no JSON object can be read in the token")
		return
	}
	t.Try(codecs.Canonical)
}

// texts alters readable text under the tag. The states contain characters that have canonical
// equivalents.
func (t trial) texts(in *attack.Instance, tok *attack.Token) {
	for _, state := range []string{"K;\u00e9\u00c5 step %s end", "first\nsecond; K %s ", `{"step":"%s; K\u00e9 "}`} {
		t.changedAt(in, fmt.Appendf(nil, state, t.Letters(24)), tok.Under, tokenfmt.Texts)
	}
	if t.Tried(codecs.Integrity) == 0 {
		t.Skip("no text can be read in the token")
		return
	}
	t.Try(codecs.Canonical)
}
