package attacks

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/internal/verdict"
)

// spelledState returns the position and length of the state in base64 or hexadecimal within the
// bytes of a token, or 0 and 0.
func spelledState(raw, state []byte) (at, n int) {
	for _, spell := range []func([]byte) string{base64.RawStdEncoding.EncodeToString, base64.RawURLEncoding.EncodeToString, hex.EncodeToString} {
		text := spell(state)
		if at := bytes.Index(raw, []byte(text)); at >= 0 {
			return at, len(text)
		}
	}
	return 0, 0
}

// tagRoom compares tokens to find how many bytes can hold a tag. It also uses short and long
// states, whose tag may be shorter.
func (t trial) tagRoom(in *attack.Instance, tok *attack.Token) {
	if t.stored(in, tok, 1<<12) {
		t.Skip("tokens do not grow with the state: they name a state that is stored elsewhere")
		return
	}
	grows := t.grows(in, tok)
	if why := t.roomBeside(in, tok.Under, 24, grows, t.State); why != "" {
		t.Skip("%s", why)
		return
	}
	for _, n := range []int{1, 4} {
		t.roomBeside(in, tok.Under, n, grows, t.Letters)
	}
	t.roomBeside(in, tok.Under, 5000, grows, t.State)
}

// roomBeside is tagRoom for states of n letters. If tokens cannot be compared, it returns the
// reason.
func (t trial) roomBeside(in *attack.Instance, under codecs.Context, n int, grows bool, state func(n int) []byte) (why string) {
	tok, ok := in.Mint(state(n), under)
	if !ok {
		return "the design does not seal such a state"
	}
	fixed := bytes.Equal(in.Seal(tok.State, under).Answer.Out, tok.Text)
	evidence, raws, texts := []verdict.Call{tok.Sealed}, [][]byte{tok.Bytes()}, [][]byte{tok.Text}
	words := true
	for range 24 {
		other, ok := in.Mint(state(n), under)
		if !ok {
			return "the design does not seal such a state again"
		}
		words = words && other.Format().Words() == tok.Format().Words()
		evidence, raws, texts = append(evidence, other.Sealed), append(raws, other.Bytes()), append(texts, other.Text)
	}
	if !words { // a segment is too short for its encoding to be inferred; a character holds at most one byte
		raws = texts
	}
	first, changing := raws[0], map[int]bool{}
	for _, raw := range raws {
		if len(raw) != len(first) {
			return "states of one length give tokens of different lengths"
		}
		for i := range raw {
			if raw[i] != first[i] {
				changing[i] = true
			}
		}
	}
	t.Try(codecs.Integrity)
	withoutCopies(changing, raws)
	room, need := len(changing)-n, 12
	if len(tok.State) > n && !t.Readable(tok) && grows {
		room = len(changing) - len(tok.State) // the whole state is encrypted and changes
	}
	at, spelled := spelledState(first, tok.State)
	for i := at; i < at+spelled; i++ {
		delete(changing, i)
	}
	if spelled > 0 {
		room = len(changing)
	}
	if !fixed && spelled == 0 && !bytes.Contains(first, tok.State) {
		need = 17 // a nonce too, or a synthetic one of 16 bytes and a time
	}
	if room < need {
		t.RefuteIf(codecs.Integrity, attack.Sealed(25), fmt.Sprintf("beside a state of %d bytes, %d bytes of a token change; they have to hold the tag "+
			"and all else that is fresh", len(tok.State), max(room, 0)), evidence...)
	}
	return ""
}

// withoutCopies removes positions whose byte changes in the same way as that of an earlier
// position. All tokens must have the same length.
func withoutCopies(changing map[int]bool, raws [][]byte) {
	known := map[string]bool{}
	for _, at := range slices.Sorted(maps.Keys(changing)) {
		var changes []byte
		for _, raw := range raws {
			changes = append(changes, raw[at]^raws[0][at])
		}
		if known[string(changes)] {
			delete(changing, at)
		}
		known[string(changes)] = true
	}
}

// grows reports whether a token grows by the same number of bytes as its state, so that it is
// not compressed.
func (t trial) grows(in *attack.Instance, tok *attack.Token) bool {
	const more = 48
	longer := in.Seal(t.State(24+more), tok.Under)
	return longer.Answer.Outcome == verdict.Done && len(in.TokenOf(longer, tok.Under).Bytes()) == len(tok.Bytes())+more
}
