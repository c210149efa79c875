package attacks

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/tokenfmt"
	"sealab/internal/verdict"
)

// paddingPlaces are the places, counted from the end of the bytes of a token, at which a change may
// reach padding. The last bytes of 16-byte blocks come first, followed by a tag of 16 or 32
// bytes, or by none.
var paddingPlaces = placesByBlock(34, 16)

func placesByBlock(n, block int) (places []int) {
	for first := 1; first <= block; first++ {
		for back := first; back <= n; back += block {
			places = append(places, back)
		}
	}
	return places
}

// inText is a place, counted from the end, before a tag of 32 bytes and the marks that end a
// text. A reader may check that the text is well formed before it checks the tag.
const inText = 40

// lastOfBlocks are the last bytes of the last block but one, before a tag of 0, 16 or 32 bytes.
var lastOfBlocks = []int{17, 33, 49}

// A place is a byte of a token.
type place struct {
	segment int
	cut     int // bytes that are cut off the end of the segment
	back    int // the distance of the byte from that end
}

// in returns the segment of a token up to the cut, or nil if the place is not in it.
func (p place) in(f tokenfmt.Format) []byte {
	if len(f.Segments) <= p.segment || len(f.Segments[p.segment].Bytes) < p.cut+p.back {
		return nil
	}
	raw := f.Segments[p.segment].Bytes
	return raw[:len(raw)-p.cut]
}

func (p place) String() string {
	if p.cut > 0 {
		return fmt.Sprintf("%d from the end without the last %d", p.back, p.cut)
	}
	return fmt.Sprintf("%d from the end", p.back)
}

// shortBlocks are numbers of 16-byte blocks, with the initialization vector, to which a token is cut. Their text
// may be too short for a tag behind it.
var shortBlocks = []int{2, 3}

// paddingOracle sets one byte of an unreadable segment to every value and expects the same
// answer for all. It repeats this with the segment cut, and with a ring in which the key is the second one.
func (t trial) paddingOracle(in *attack.Instance, tok *attack.Token) {
	if t.Readable(tok) {
		t.Skip("the state is readable: nothing is decrypted")
		return
	}
	f := tok.Format()
	i, ok := f.LongestEncoded()
	if !ok {
		t.Skip("no segment of the token is in a known encoding")
		return
	}
	raw := f.Segments[i].Bytes
	var places, ofRing []place
	for _, back := range append(slices.Clip(paddingPlaces[:max(1, min(len(paddingPlaces), t.Budget.Unseals/256))]), inText, len(raw)/2) {
		places = append(places, place{i, 0, back})
	}
	for _, n := range shortBlocks {
		if cut := len(raw) - len(raw)%16 - 16*n; cut > 0 {
			places = append(places, place{i, cut, 17})
		}
	}
	if t.oracleAt(in, in, tok, places) {
		return
	}
	for _, back := range lastOfBlocks {
		ofRing = append(ofRing, place{i, 0, back})
	}
	if ring, err := t.Open(t.Secret(1), t.Secret(0)); err == nil {
		t.oracleAt(ring, in, tok, ofRing)
	}
}

// oracleAt presents tok, which maker minted, to in. It sets each byte at some places to every value. It reports
// whether the refusals form an oracle.
func (t trial) oracleAt(in, maker *attack.Instance, tok *attack.Token, places []place) bool {
	for _, p := range places {
		if p.cut == 0 && p.back > len(tok.Format().Segments[p.segment].Bytes)-20 {
			continue
		}
		said, answers := t.refusals(in, tok, p), map[string]verdict.Call{}
		for _, call := range said {
			answers[refusalOf(call)] = call
		}
		if len(answers) > 1 && !t.ofText(in, maker, tok, p, said) {
			t.RefuteIf(codecs.UniformRefusal, attack.Differ, fmt.Sprintf("one byte of the ciphertext, %v, set to each value, is refused in %d ways", p, len(answers)), callsOf(answers)...)
			return true
		}
	}
	return false
}

// refusals sets the byte at a place to every other value. It returns the refusals by that value.
func (t trial) refusals(in *attack.Instance, tok *attack.Token, p place) map[byte]verdict.Call {
	f, said := tok.Format(), map[byte]verdict.Call{}
	altered := bytes.Clone(p.in(f))
	at := len(altered) - p.back
	honest := altered[at]
	for v := 1; v < 256; v++ {
		altered[at] = honest ^ byte(v)
		if call := in.Unseal(f.With(p.segment, altered), tok.Under); call.Answer.Outcome == verdict.Refused {
			said[altered[at]] = call
		}
		t.Try(codecs.UniformRefusal)
	}
	return said
}

// ofText reports whether refusals depend only on the text: they are the same for another state,
// or they group the values of the byte in the same way under another key. This happens if a
// segment contains text, such as hexadecimal within JSON. Refusals that depend on a decrypted
// byte vary with token and key.
func (t trial) ofText(in, maker *attack.Instance, tok *attack.Token, p place, said map[byte]verdict.Call) bool {
	if t.ofValue(in, maker, tok, p, said) {
		return true
	}
	other, err := t.Open(t.Secret(1))
	return err == nil && partAlike(said, t.refusals(other, tok, p))
}

// partAlike reports whether the refusals of two readers group the same values in the same way.
func partAlike(one, two map[byte]verdict.Call) bool {
	there, back := map[string]string{}, map[string]string{}
	for v, call := range one {
		a, b := refusalOf(call), refusalOf(two[v])
		if x, ok := there[a]; ok && x != b {
			return false
		}
		if x, ok := back[b]; ok && x != a {
			return false
		}
		there[a], back[b] = b, a
	}
	return true
}

// ofValue reports whether refusals depend only on the value of a byte: tokens of three other
// states of the same maker give the same refusals. An oracle does so for one of them once in 256
// times.
func (t trial) ofValue(in, maker *attack.Instance, tok *attack.Token, p place, said map[byte]verdict.Call) bool {
	for range 3 {
		other, ok := maker.Mint(t.State(len(tok.State)-len(t.State(0))), tok.Under)
		if !ok || len(other.Text) != len(tok.Text) || p.in(other.Format()) == nil {
			return false
		}
		for v, call := range t.refusals(in, other, p) {
			if first, ok := said[v]; ok && refusalOf(first) != refusalOf(call) {
				return false
			}
		}
	}
	return true
}

// partlyRight changes one byte at each place of the end of a token, which may be a tag. It also
// does so in tokens that end like another token, where every part of a tag is wrong. Both must
// give the same refusals.
func (t trial) partlyRight(in *attack.Instance, tok *attack.Token) {
	f := tok.Format()
	i, ok := f.LastEncoded()
	if !ok {
		t.Skip("no segment of the token is in a known encoding")
		return
	}
	raw := f.Segments[i].Bytes
	for _, n := range []int{16, 32} {
		if n > len(raw) {
			continue
		}
		wrong := map[string]verdict.Call{}
		for range 4 {
			other, ok := in.Mint(t.State(24), tok.Under)
			if !ok || len(other.Format().Segments) <= i || len(other.Format().Segments[i].Bytes) < n {
				return
			}
			theirs := other.Format().Segments[i].Bytes
			t.refusalsOfEnd(in, tok, i, slices.Concat(raw[:len(raw)-n], theirs[len(theirs)-n:]), n, wrong)
		}
		right := map[string]verdict.Call{}
		t.refusalsOfEnd(in, tok, i, raw, n, right)
		for said, call := range right {
			if _, ok := wrong[said]; !ok && repeatsRefusal(in, call, tok.Under) {
				t.RefuteIf(codecs.UniformRefusal, attack.Differ, fmt.Sprintf("a token with a part of the right tag is refused as %.80q, and one with "+
					"none as %.80q", said, slices.Sorted(maps.Keys(wrong))), append(callsOf(wrong), call)...)
			}
		}
	}
}

// repeatsRefusal reports whether a refused text is refused in the same way each time. A refusal
// that contains a serial number or a random word does not tell about the token.
func repeatsRefusal(in *attack.Instance, call verdict.Call, under codecs.Context) bool {
	for range 4 {
		if again := in.Unseal(call.Token, under); refusalOf(again) != refusalOf(call) {
			return false
		}
	}
	return true
}

// refusalsOfEnd changes each of the last n bytes of raw in turn, and adds the refusals to said.
func (t trial) refusalsOfEnd(in *attack.Instance, tok *attack.Token, i int, raw []byte, n int, said map[string]verdict.Call) {
	for k := len(raw) - n; k < len(raw); k++ {
		altered := bytes.Clone(raw)
		altered[k] ^= 1
		if call := in.Unseal(tok.Format().With(i, altered), tok.Under); call.Answer.Outcome == verdict.Refused {
			t.Try(codecs.UniformRefusal)
			said[refusalOf(call)] = call
		}
	}
}

// refusalOf returns the stage, reason and text of a refusal, joined.
func refusalOf(c verdict.Call) string {
	return c.Answer.Stage + "/" + c.Answer.Reason + "/" + c.Answer.Text
}

// refusalsDiffer records that two refusals tell something apart. The issue is continued by both.
func (t trial) refusalsDiffer(a, b verdict.Call, issue string, args ...any) {
	said := fmt.Sprintf(": %.120q and %.120q", refusalOf(a), refusalOf(b))
	t.RefuteIf(codecs.UniformRefusal, attack.Differ, fmt.Sprintf(issue, args...)+said, a, b)
}

// callsOf returns up to three of the calls, in the order of their keys.
func callsOf(answers map[string]verdict.Call) []verdict.Call {
	names := slices.Sorted(maps.Keys(answers))
	var calls []verdict.Call
	for _, k := range names[:min(3, len(names))] {
		calls = append(calls, answers[k])
	}
	return calls
}
