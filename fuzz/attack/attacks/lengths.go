package attacks

import (
	"bytes"
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/tokenfmt"
	"sealab/internal/verdict"
)

// behindEnds are the places, counted from the end of a segment, that are changed in tokens of
// every length. They lie in a tag, or in the last blocks before one.
var behindEnds = []int{1, 17, 30, 33, 46, 60}

// changedAtEveryLength changes the ends of the segments of tokens of every length, as sealed by
// calls. If one is accepted, a new token of that length is attacked in the usual way.
func (t trial) changedAtEveryLength(in *attack.Instance, calls []verdict.Call, under codecs.Context) {
	for _, call := range calls {
		tok := in.TokenOf(call, under)
		var texts [][]byte
		endsChanged(tok.Format(), len(call.State))(func(a tokenfmt.Alteration) { texts = append(texts, a.Text) })
		t.TryTimes(len(texts), codecs.Integrity)
		if _, ok := in.FirstAccepted(texts, under); !ok {
			continue
		}
		if again, ok := in.Mint(call.State, under); ok {
			t.Changes(in, again, endsChanged(again.Format(), len(call.State)))
			return
		}
	}
}

// endsChanged yields the token of a state of n bytes with one byte changed near the end of each
// segment, and with repeated ends of the body.
func endsChanged(f tokenfmt.Format, n int) tokenfmt.Alterations {
	return func(yield func(tokenfmt.Alteration)) {
		for _, i := range f.Encoded() {
			for _, back := range behindEnds {
				if at := len(f.Segments[i].Bytes) - back; at >= 0 {
					yield(f.Flip(i, 8*at))
				}
			}
		}
		for _, block := range []int{8, 16, 32, 64} {
			if 2*block <= n && n < 4*block { // one of these bodies is an odd number of blocks, three or more
				endsRepeated(f, block, yield)
			}
		}
	}
}

// endsRepeated yields the token with the last block of its body repeated in front of the tag. A
// tree of hashes that pairs its last leaf with itself has the same root.
func endsRepeated(f tokenfmt.Format, block int, yield func(tokenfmt.Alteration)) {
	for _, size := range []int{32, 16} {
		for _, l := range f.Layouts(size) {
			if end := l.Body[max(0, len(l.Body)-block):]; len(end) == block {
				yield(tokenfmt.Alteration{Text: l.Build(slices.Concat(l.Body, end), l.Tag), How: fmt.Sprintf("the last %d bytes in front of a tag of %d bytes repeated", block, size)})
			}
		}
	}
}

// Padding of block ciphers: the number of lengths of states at which it is replaced, the tries for
// each length, and the lengths of tags that may follow it. If a reader checks only the last byte of
// the padding, it accepts one of 256 blocks.
const (
	paddedLengths = 2
	paddingTries  = 768
)

var tagsBehindPadding = []int{0, 32, 16, 20}

// paddingReplaced replaces the last block of tokens by random bytes. It chooses lengths of states at
// which a segment has just grown by a block, so that the last block may hold only padding.
func (t trial) paddingReplaced(in *attack.Instance, calls []verdict.Call, under codecs.Context) {
	grown := 0
	for k := 1; k < len(calls) && grown < paddedLengths; k++ {
		before, after := calls[k-1], calls[k]
		if len(after.State) != len(before.State)+1 || len(after.Answer.Out) < len(before.Answer.Out)+8 {
			continue
		}
		tok, ok := in.Mint(after.State, under)
		if !ok || len(tok.Text) != len(after.Answer.Out) {
			continue
		}
		segment, block := grownByBlock(in.TokenOf(before, under).Format(), tok.Format())
		if block == 0 {
			continue
		}
		grown++
		for _, tag := range tagsBehindPadding {
			t.Changes(in, tok, t.blocksReplaced(tok.Format(), segment, tag, block))
		}
	}
}

// grownByBlock returns the first segment that has grown by blocks of 8 or 16 bytes between two tokens,
// and the length of a block; 0 if there is none.
func grownByBlock(before, after tokenfmt.Format) (segment, block int) {
	if len(before.Segments) != len(after.Segments) {
		return 0, 0
	}
	for _, i := range after.Encoded() {
		switch n := len(after.Segments[i].Bytes) - len(before.Segments[i].Bytes); {
		case n > 0 && n%16 == 0:
			return i, 16
		case n > 0 && n%8 == 0:
			return i, 8
		}
	}
	return 0, 0
}

// blocksReplaced yields tokens with random bytes in place of the last block before a tag.
func (t trial) blocksReplaced(f tokenfmt.Format, segment, tag, block int) tokenfmt.Alterations {
	raw := f.Segments[segment].Bytes
	end := len(raw) - tag
	return func(yield func(tokenfmt.Alteration)) {
		for range paddingTries {
			if end < block || t.Fell(codecs.Integrity) || t.Spent() {
				return
			}
			altered := slices.Concat(raw[:end-block], t.Bytes(block), raw[end:])
			yield(tokenfmt.Alteration{Text: f.With(segment, altered), How: fmt.Sprintf("the last block of %d bytes before a tag of %d bytes replaced", block, tag)})
		}
	}
}

// roundTripsOfEveryLength seals states of every length, of letters and of random bytes, and
// opens them in batches. It retries a state alone if it does not come back.
func (t trial) roundTripsOfEveryLength(in *attack.Instance, under codecs.Context) {
	states := t.SweptStates()
	for _, n := range t.Range(attack.SweptLengths) {
		states = append(states, t.Bytes(n), t.Letters(n))
	}
	for calls := range slices.Chunk(in.Seals(under, states), attack.BatchSize) {
		answers, err := in.UnsealBatch(attack.TextsOf(calls), under)
		for k, call := range calls {
			if err != nil || answers[k].Err != nil || !bytes.Equal(answers[k].Payload, call.State) {
				t.roundTrip(in, under, call.State, fmt.Sprintf("a state of %d bytes", len(call.State)))
				continue
			}
			t.Try(codecs.ByteExact)
		}
	}
}

// statesOfBatch checks that each token of a batch gives its own state. States have the given
// lengths.
func (t trial) statesOfBatch(in *attack.Instance, tok *attack.Token, lengths ...int) {
	var sealed []verdict.Call
	for _, n := range lengths {
		call := in.Seal(t.State(n), tok.Under)
		if call.Answer.Outcome != verdict.Done {
			return
		}
		sealed = append(sealed, call)
	}
	answers, err := in.UnsealBatch(attack.TextsOf(sealed), tok.Under)
	if err != nil {
		return
	}
	for i, a := range answers {
		t.Try(codecs.ByteExact)
		if a.Err == nil && !bytes.Equal(a.Payload, sealed[i].State) {
			t.RefuteIf(codecs.ByteExact, attack.Sealed(1), "in a batch, a token comes back as the state of another one", sealed[i])
			return
		}
	}
}
