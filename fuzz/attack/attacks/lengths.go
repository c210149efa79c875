package attacks

import (
	"bytes"
	"fmt"
	"iter"
	"slices"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/tokenfmt"
	"sealab/internal/verdict"
)

// behindEnds are the places, counted from the end of a segment, that are changed in tokens of
// every length. They lie in a tag, or in the last blocks before one.
var behindEnds = []int{1, 17, 30, 33, 46, 60}

// changedAtEveryLength changes the ends of the segments of tokens of every length. If one is
// accepted, a new token of that length is attacked in the usual way.
func (t trial) changedAtEveryLength(in *attack.Instance, under codecs.Context) {
	for _, call := range in.Seals(under, t.SweptStates()) {
		tok := in.TokenOf(call, under)
		var texts [][]byte
		for a := range endsChanged(tok.Format()) {
			texts = append(texts, a.Text)
		}
		t.TryTimes(len(texts), codecs.Integrity)
		if _, ok := in.FirstAccepted(texts, under); !ok {
			continue
		}
		if again, ok := in.Mint(call.State, under); ok {
			t.Changes(in, again, endsChanged(again.Format()))
			return
		}
	}
}

// endsChanged yields the token with one byte changed near the end of each segment.
func endsChanged(f tokenfmt.Format) iter.Seq[tokenfmt.Alteration] {
	return tokenfmt.Each(func(yield func(tokenfmt.Alteration)) {
		for _, i := range f.Encoded() {
			for _, back := range behindEnds {
				if at := len(f.Segments[i].Bytes) - back; at >= 0 {
					yield(f.Flip(i, 8*at))
				}
			}
		}
	})
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
			if err != nil || len(answers) != len(calls) || answers[k].Err != nil || !bytes.Equal(answers[k].Payload, call.State) {
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
	if err != nil || len(answers) != len(sealed) {
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
