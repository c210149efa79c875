package attacks

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/fields"
	"sealab/fuzz/attack/tokenfmt"
	"sealab/internal/verdict"
)

// tagAttacks are the attacks on the authentication of a token.
var tagAttacks = []attack.Attack{
	{ID: "TAG-01", Name: "the tag shortened", Refutes: integrityProperties, Layer: attack.LayerText, CWE: 347, Gain: attack.GainForgery,
		Origin: "CVE-2009-0217", Run: onToken(trial.shortTags), Hundreds: 47},
	{ID: "TAG-02", Name: "a constant, empty or absent tag", Refutes: integrityProperties, Layer: attack.LayerText, CWE: 347, Gain: attack.GainForgery,
		Origin: "CVE-2020-28042", Run: presentChanges(tokenfmt.ConstantTags), Hundreds: 3},
	{ID: "TAG-03", Name: "random tags", Refutes: integrityProperties, Layer: attack.LayerText, CWE: 347, Gain: attack.GainForgery,
		Origin: "Project Wycheproof: ModifiedTag", Run: onToken(trial.randomTags), Hundreds: 780},
	{ID: "TAG-06", Name: "hash length extension", Refutes: integrityProperties, Layer: attack.LayerText, CWE: 328,
		Gain: "a longer payload under a tag that is computed without the key", Origin: "Merkle-Damgard hashes keyed by a prefix", Run: onToken(trial.lengthExtension), Hundreds: 30},
	{ID: "TAG-07", Name: "the boundary between two segments moved", Refutes: spellingProperties, Layer: attack.LayerText, CWE: 347,
		Gain: "a token that is read as other fields than were sealed", Origin: "signatures over fields that are joined without lengths", Run: onToken(trial.shiftedBorders), Hundreds: 3},
	{ID: "TAG-09", Name: "plaintext released on refusal", Refutes: integrityProperties, Layer: attack.LayerText, CWE: 200,
		Gain: "an oracle for plaintext that the sender never authenticated", Origin: "CVE-2017-17688", Run: onToken(trial.releasedPlaintext)},
	{ID: "TAG-10", Name: "the second valid form of a signature", Refutes: spellingProperties, Layer: attack.LayerText, CWE: 347, Gain: gainSpelling,
		Origin: "CVE-2024-48949, CVE-2024-42459", Run: presentSpellings(tokenfmt.SecondSignatures)},
	{ID: "TAG-11", Name: "the tag of another hash, truncated", Refutes: integrityProperties, Layer: attack.LayerKeys, CWE: 327,
		Gain: "an accepted tag of a weaker function", Origin: "Rooterberg: truncated HMAC of another hash", Run: onToken(trial.otherHashes)},
	{ID: "TAG-12", Name: "too few bytes for a tag", Refutes: integrityProperties, Layer: attack.LayerText, CWE: 326,
		Gain: "a forged token after few guesses", Origin: "NIST SP 800-38D, appendix C", Run: onToken(trial.tagRoom), Hundreds: 2},
	{ID: "TAG-13", Name: "a checksum in the place of a tag", Refutes: integrityProperties, Layer: attack.LayerText, CWE: 353, Gain: attack.GainForgery,
		Origin: "Borisov, Goldberg, Wagner 2001, of WEP", Run: onToken(trial.checksums), Hundreds: 49},
	{ID: "TAG-14", Name: "a tag that is linear in the payload or its parts, or a nonce of ECDSA that repeats", Refutes: integrityProperties, Layer: attack.LayerText, CWE: 323,
		Gain: "a payload that was never sealed, under a combination of known tags", Origin: "Joux 2006, of GCM; RFC 8439, section 4, of Poly1305; RFC 6979, section 1, of ECDSA", Run: onToken(trial.linearTags)},
	{ID: "TAG-05", Name: "a comparison that ends early", Refutes: []codecs.Property{codecs.SteadyTiming}, Layer: attack.LayerResources, CWE: 208,
		Gain: "a tag that is found byte by byte", Origin: "CVE-2009-3875",
		Dropped: "timing is judged from samples by sealab leak, which has its own negative controls"},
}

// mostShortTags is the number of shortened tags of one longer token. A token of one segment has
// fewer.
const mostShortTags = 384

// shortTags shortens the tags of a token, and of a token for the empty state, in which only the
// tag can be shortened.
func (t trial) shortTags(in *attack.Instance, tok *attack.Token) {
	t.changes(in, tok, tokenfmt.ShortTags)
	t.changedAt(in, []byte{}, tok.Under, tokenfmt.ShortTags)
	for _, n := range []int{40, 300, 1100, 5000, 20000} { // other branches may read these
		t.changedAt(in, t.State(n), tok.Under, t.sampled(tokenfmt.ShortTags, mostShortTags))
	}
}

// randomTags guesses tags. It finds comparisons that succeed once in 256 times, and tags of one
// or two bytes.
func (t trial) randomTags(in *attack.Instance, tok *attack.Token) {
	f := tok.Format()
	longest, ok := f.LongestEncoded()
	if !ok {
		t.Skip("no segment of the token is in a known encoding")
		return
	}
	for i, raw := range f.EncodedBytes() {
		forged := bytes.Clone(raw)
		forged[len(raw)/2] ^= 1
		for _, n := range []int{len(raw) - 1, 32, 16} {
			if n > 0 && n <= len(raw) {
				t.guess(in, tok, f, i, raw, n, min(4096, t.Budget.Unseals))
			}
		}
		for _, n := range []int{1, 2} {
			if n == 2 && i != longest { // a segment without a body holds the whole tag
				continue
			}
			if n <= len(raw) && !json.Valid(raw) { // JSON does not end in a tag
				t.guess(in, tok, f, i, forged, n, min(1<<(8*n), t.Budget.Unseals))
			}
		}
	}
}

// guess presents tokens with the last n bytes of segment i guessed: in ascending order if n is
// 1 or 2, else at random.
func (t trial) guess(in *attack.Instance, tok *attack.Token, f tokenfmt.Format, i int, raw []byte, n, tries int) {
	const atOnce = 128
	for from := 0; from < tries && !t.Fell(codecs.Integrity) && !t.Spent(); from += atOnce {
		t.Changes(in, tok, func(yield func(tokenfmt.Alteration)) {
			for k := from; k < min(from+atOnce, tries); k++ {
				altered := bytes.Clone(raw)
				tail := altered[len(raw)-n:]
				switch n {
				case 1:
					tail[0] = byte(k)
				case 2:
					binary.BigEndian.PutUint16(tail, uint16(k))
				default:
					copy(tail, t.Bytes(n))
				}
				yield(tokenfmt.Alteration{Text: f.With(i, altered), How: fmt.Sprintf("the last %d bytes of segment %d guessed, try %d", n, i, k+1)})
			}
		})
	}
}

// lengthExtension treats each run of bytes that may be a digest as that of key || message, for
// every total length, and extends it.
func (t trial) lengthExtension(in *attack.Instance, _ *attack.Token) {
	for _, state := range [][]byte{t.State(24), t.Letters(24)} {
		tok, ok := t.Mint(in, state)
		if !ok {
			continue
		}
		f := tok.Format()
		for _, c := range tokenfmt.Chains {
			for _, l := range f.Layouts(c.Size) {
				t.Changes(in, tok, t.extended(c, l))
			}
		}
	}
}

// extended yields tokens whose body is extended and whose tag is continued.
func (t trial) extended(c tokenfmt.Chain, l tokenfmt.Layout) tokenfmt.Alterations {
	suffix := t.Letters(8)
	return func(yield func(tokenfmt.Alteration)) {
		for _, extra := range t.Range(200) {
			n := len(l.Body) + extra // length of the body, the key, and everything else before the body
			digest, err := c.Extend(l.Tag, n, suffix)
			if err != nil {
				t.Skip("%v", err)
				return
			}
			body := slices.Concat(l.Body, c.Padding(n), suffix)
			yield(tokenfmt.Alteration{Text: l.Build(body, digest), How: fmt.Sprintf("%s continued from the tag, %d bytes in front of the body", c.Name, extra)})
		}
	}
}

// linearTags seals three states, of which two differ from the first in one position each. It
// presents the sum of the states under sums of their tags. GMAC with a constant nonce is affine
// over GF(2), and Poly1305 with a constant key is affine modulo 2^130 - 5.
func (t trial) linearTags(in *attack.Instance, tok *attack.Token) {
	t.linearTokens(in, tok.Under)
	t.sharedNonces(in, tok.Under)
	base := t.Letters(48)
	var tokens [3]*attack.Token
	var layouts [3][]tokenfmt.Layout
	for i := range tokens {
		state := bytes.Clone(base)
		if i > 0 {
			state[20*i] ^= 1
		}
		var ok bool
		if tokens[i], ok = t.Mint(in, state); !ok {
			return
		}
		layouts[i] = tokens[i].Format().Layouts(16)
	}
	if n := len(layouts[0]); n != len(layouts[1]) || n != len(layouts[2]) {
		t.Skip("tokens of states of one length differ in their segments")
		return
	}
	t.Changes(in, tokens[0], func(yield func(tokenfmt.Alteration)) {
		for i, a := range layouts[0] {
			b, c := layouts[1][i], layouts[2][i]
			if len(a.Body) != len(b.Body) || len(a.Body) != len(c.Body) {
				continue
			}
			body := tokenfmt.Xor(tokenfmt.Xor(a.Body, b.Body), c.Body)
			for _, tag := range tokenfmt.TagSums(a.Tag, b.Tag, c.Tag) {
				yield(tokenfmt.Alteration{Text: a.Build(body, tag), How: "a sum of three bodies under a sum of their tags"})
			}
		}
	})
}

// linearTokens presents sums of the bytes of three tokens: of states that differ at both ends,
// and of two states and two contexts. If tags are sums over parts, such a sum carries a valid
// tag but was never sealed.
func (t trial) linearTokens(in *attack.Instance, under codecs.Context) {
	for _, n := range []int{48, 1200} {
		state := t.Letters(n)
		front, back := bytes.Clone(state), bytes.Clone(state)
		front[0] ^= 1
		back[n-1] ^= 1
		t.summed(in, [3][]byte{state, front, back}, under, under, fmt.Sprintf("states of %d letters that differ at both ends", n))
	}
	if !t.Design.IsScheme() {
		return
	}
	for _, f := range fields.All {
		other := f.Put(under, f.Unrelated()[0])
		one := t.Letters(24)
		t.summed(in, [3][]byte{one, one, t.Letters(24)}, under, other, "two states, and two values of the "+f.Name)
	}
}

// summed seals three states, the second in another context, and presents the sum of their
// tokens in that context.
func (t trial) summed(in *attack.Instance, states [3][]byte, under, other codecs.Context, how string) {
	var sealed [3]*attack.Token
	for i, c := range []codecs.Context{under, other, under} {
		var ok bool
		if sealed[i], ok = in.Mint(states[i], c); !ok {
			return
		}
	}
	text, ok := tokenfmt.Sum(sealed[0].Format(), sealed[1].Format(), sealed[2].Format())
	if !ok || slices.ContainsFunc(sealed[:], func(tok *attack.Token) bool { return bytes.Equal(text, tok.Text) }) {
		return
	}
	t.Try(codecs.Integrity)
	if call, ok := in.Accepts(text, other); ok {
		if _, ok := in.Accepts(sealed[2].Text, other); ok && sealed[2].Same(call) {
			return // a spelling of the third token, which is not bound to its context
		}
		t.Refute(codecs.Integrity, "a token that was never sealed is accepted: the sum of the bytes of three tokens of "+how, sealed[0].Sealed, sealed[1].Sealed, sealed[2].Sealed, call)
	}
}

func (t trial) shiftedBorders(in *attack.Instance, tok *attack.Token) {
	t.Spellings(in, tok, t.of(tok, tokenfmt.ShiftedBorders))
	t.changes(in, tok, tokenfmt.MovedSeparators, tokenfmt.Parted)
	for n := range 3 { // the base64 of these ends in each of the three ways
		t.changedAt(in, t.State(24+n), tok.Under, tokenfmt.MovedBetweenMembers)
	}
	for _, digits := range []string{"7799", "\xd7\x6d\xf8\xe7\xae\xfc"} { // its hexadecimal or base64 is digits
		state := slices.Concat([]byte(digits), t.Letters(6), []byte(digits))
		t.changedAt(in, state, tok.Under, tokenfmt.MovedBetweenMembers)
		t.changedAt(in, state, tok.Under, tokenfmt.MovedDigits)
	}
	if t.Tried(codecs.Integrity) == 0 {
		t.Skip("the token has one segment only")
	}
}

// releasedPlaintext looks for the state in the result of a refusal, and in the spare capacity
// of the caller's buffer.
func (t trial) releasedPlaintext(in *attack.Instance, tok *attack.Token) {
	f := tok.Format()
	marker := tok.State[len(tok.State)/2-6 : len(tok.State)/2+6]
	for _, i := range f.Encoded() {
		for _, at := range t.Places(len(f.Segments[i].Bytes)-1, 30) {
			t.released(in, tok, f.Flip(i, 8*at).Text, marker)
		}
	}
}

func (t trial) released(in *attack.Instance, tok *attack.Token, altered, marker []byte) {
	room := make([]byte, 4, 4+4*len(altered))
	t.Try(codecs.Integrity)
	call := in.UnsealInto(room, altered, tok.Under)
	switch {
	case call.Answer.Outcome != verdict.Refused:
	case len(call.Answer.Out) > len(room) && t.Design.Worker == nil: // a worker may put other values beside a refusal
		t.RefuteIf(codecs.Integrity, attack.Anything, "a refusal returns bytes beside the error", tok.Sealed, call)
	case bytes.Contains(room[:cap(room)], marker):
		t.RefuteIf(codecs.Integrity, attack.Anything, "a refusal leaves the state in the caller's buffer", tok.Sealed, call)
	}
}

// otherHashes computes the tag with every other known function, whole and truncated to the
// length of the tag.
func (t trial) otherHashes(in *attack.Instance, tok *attack.Token) {
	c, ok := tok.Format().Recognize(t.Secret(0))
	if !ok || c.Retag == nil {
		t.Skip("the way in which the tag is made from the secret was not recognized")
		return
	}
	for _, m := range tokenfmt.MACs {
		for _, altered := range c.Retag(m, c.Body) {
			t.Change(in, tok, altered, "the tag is "+m.Name)
		}
	}
	t.Try(codecs.Integrity)
}

// checksums changes the state and adjusts a checksum. If the payload is readable, or encrypted
// by a key stream, this makes a token without the key.
func (t trial) checksums(in *attack.Instance, tok *attack.Token) {
	f := tok.Format()
	for _, sum := range tokenfmt.Checksums() {
		for _, back := range []int{3, 8, 16} {
			state := bytes.Clone(tok.State)
			state[len(state)-back] ^= 1
			delta := tokenfmt.Xor(sum.Sum(tok.State), sum.Sum(state))
			t.Changes(in, tok, func(yield func(tokenfmt.Alteration)) {
				for _, text := range f.Patched(back, delta) {
					yield(tokenfmt.Alteration{Text: text, How: fmt.Sprintf("the byte %d before the end of the state changed, and its %s", back, sum.Name)})
				}
			})
		}
	}
	t.Try(codecs.Integrity)
	t.runningHashes(in)
	t.maskedDigests(in, tok)
}

// maskedDigests looks for tags that differ from a digest of the body by the same mask in two
// tokens. The tag of any body then follows from one token.
func (t trial) maskedDigests(in *attack.Instance, a *attack.Token) {
	b, ok := t.Mint(in, t.State(24))
	if !ok {
		return
	}
	for _, sum := range tokenfmt.Checksums() {
		size := len(sum.Sum(nil))
		as, bs := a.Format().Layouts(size), b.Format().Layouts(size)
		if size < 16 || len(as) != len(bs) {
			continue // a short mask may be equal by chance
		}
		for i, l := range as {
			if bytes.Equal(l.Body, bs[i].Body) {
				continue
			}
			others := bs[i].Messages(bs[i].Body)
			for k, message := range l.Messages(l.Body) {
				if bytes.Equal(tokenfmt.Xor(l.Tag, sum.Sum(message)), tokenfmt.Xor(bs[i].Tag, sum.Sum(others[k]))) {
					t.Refute(codecs.Integrity, "the tags of two tokens are "+sum.Name+" of their bodies under one mask: the tag of any body follows from a token", a.Sealed, b.Sealed, b.Opened)
				}
			}
		}
	}
}

// runningHashes appends spaces, which JSON ignores, and extends every hash that can be extended
// without a key. Bodies of each length modulo three are tried, because some end on a whole
// group of base64.
func (t trial) runningHashes(in *attack.Instance) {
	for n := range 3 {
		tok, ok := t.Mint(in, t.State(24+n))
		if !ok {
			return
		}
		f := tok.Format()
		for _, h := range tokenfmt.RunningHashes() {
			for spaces := 1; spaces <= 3; spaces++ {
				t.Changes(in, tok, func(yield func(tokenfmt.Alteration)) {
					for _, text := range f.Continued(h, bytes.Repeat([]byte(" "), spaces)) {
						yield(tokenfmt.Alteration{Text: text, How: fmt.Sprintf("%d spaces appended, and %s continued", spaces, h.Name)})
					}
				})
			}
		}
	}
}
