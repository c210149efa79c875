package attacks

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"time"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/fields"
	"sealab/fuzz/attack/tokenfmt"
	"sealab/internal/verdict"
)

// sweptLengths is the number of consecutive lengths of states that are tried. It covers each
// remainder modulo a block of up to 256 bytes.
const sweptLengths = 272

// stateForms are texts around letters that are not ordinary JSON objects, or that programs
// mistake for another type: a text, a list, an encoded or compressed state, a record.
var stateForms = []string{"%s", `"%s"`, `["%s"]`, "7%s", "eyJ%s", "ey%s.e30.", "\x1f\x8b\x08%s", "\xff\xfe%s", "\x00%s", "\x80%s", "<x>%s</x>", "k=%s&l=1", "%s\n", "enc:%s", "$1$%s", "a:1:{%s}",
	`{"public":true,"step":"%s"}`, `{"debug":true,"step":"%s"}`, `{"step":null,"x":"%s"}`, `{"step":{"x":"%s"}}`}

// formedStates returns short JSON texts, random bytes, and a state of each form.
func (t trial) formedStates() [][]byte {
	states := [][]byte{[]byte("{}"), []byte("[]"), []byte("null"), []byte("true"), []byte("0"), []byte(`""`), t.Bytes(24), t.Bytes(300)}
	for _, form := range stateForms {
		states = append(states, fmt.Appendf(nil, form, t.Letters(24)))
	}
	return states
}

// seals seals states in one context and returns the calls that gave a token.
func (t trial) seals(in *attack.Instance, under codecs.Context, states [][]byte) []verdict.Call {
	calls := in.SealAll(states, slices.Repeat([]codecs.Context{under}, len(states)))
	return slices.DeleteFunc(calls, func(c verdict.Call) bool { return c.Answer.Outcome != verdict.Done })
}

// sweptStates returns one state of each swept length: a JSON text, or letters if it is too
// short for JSON.
func (t trial) sweptStates() (states [][]byte) {
	for n := range len(t.State(0)) {
		states = append(states, t.Letters(n))
	}
	for _, n := range t.Range(sweptLengths) {
		states = append(states, t.State(n))
	}
	return states
}

// behindEnds are the places, counted from the end of a segment, that are changed in tokens of
// every length. They lie in a tag, or in the last blocks before one.
var behindEnds = []int{1, 17, 30, 33, 46, 60}

// changedAtEveryLength changes the ends of the segments of tokens of every length. If one is
// accepted, a new token of that length is attacked in the usual way.
func (t trial) changedAtEveryLength(in *attack.Instance, under codecs.Context) {
	for _, call := range t.seals(in, under, t.sweptStates()) {
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
	states := t.sweptStates()
	for _, n := range t.Range(sweptLengths) {
		states = append(states, t.Bytes(n), t.Letters(n))
	}
	for calls := range slices.Chunk(t.seals(in, under, states), sealBatchSize) {
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

// boundAtEveryLength presents tokens of states of every length, and of long states, with each
// bound field changed, and after their expiry.
func (t trial) boundAtEveryLength(in *attack.Instance, under codecs.Context, bound map[string]bool) {
	calls := t.seals(in, under, slices.Concat(t.sweptStates(), t.formedStates(), [][]byte{t.State(longState), t.State(longerState)}))
	if len(calls) == 0 {
		return
	}
	texts := attack.TextsOf(calls)
	ask := func(p codecs.Property, to codecs.Context, how string) {
		t.TryTimes(len(texts), p)
		call, ok := in.FirstAccepted(texts, to)
		if !ok {
			return
		}
		k := slices.IndexFunc(texts, func(text []byte) bool { return bytes.Equal(text, call.Token) })
		t.Refute(p, fmt.Sprintf("a token of a state of %d bytes, %.16q, is accepted %s", len(calls[k].State), calls[k].State, how), calls[k], call)
	}
	for _, f := range fields.All {
		if bound[f.Name] {
			ask(f.Property, f.Put(under, f.Unrelated()[0]), "with another "+f.Name)
		}
	}
	if late := attack.Later(under, 400*24*time.Hour); !t.Design.OwnClock && !t.acceptsFirst(in, in.TokenOf(calls[0], under), late) {
		ask(codecs.Expiry, late, "400 days after it was minted")
	}
}

// streamsOfEveryLength seals two states of every length and checks whether they share a key
// stream. It leaves out states with few letters, whose difference may occur by chance.
func (t trial) streamsOfEveryLength(in *attack.Instance, under codecs.Context) {
	const letters = 8
	ones, twos := t.seals(in, under, t.sweptStates()), t.seals(in, under, t.sweptStates())
	for k := range min(len(ones), len(twos)) {
		if len(ones[k].State) != len(twos[k].State) {
			return // the design seals only some of the states
		}
		if len(ones[k].State) < len(t.State(letters)) {
			continue
		}
		t.Try(codecs.FreshNonces, codecs.Confidentiality)
		if a, b := in.TokenOf(ones[k], under), in.TokenOf(twos[k], under); sameStream(a, b) {
			t.oneStream(in, under, a.State, b.State)
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
