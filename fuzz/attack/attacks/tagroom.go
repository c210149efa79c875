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

// spelledState returns the place and length of the state in another spelling within the
// bytes of a token; 0 and 0 if there is none.
func spelledState(raw, state []byte) (at, n int) {
	for _, spell := range []func([]byte) string{base64.RawStdEncoding.EncodeToString, base64.RawURLEncoding.EncodeToString, hex.EncodeToString} {
		text := spell(state)
		if at := bytes.Index(raw, []byte(text)); at >= 0 {
			return at, len(text)
		}
	}
	return 0, 0
}

// tagRoom compares tokens to find the number of bytes that can be a tag.
func (t trial) tagRoom(in *attack.Instance, tok *attack.Token) {
	if t.stored(in, tok, 1<<12) {
		t.Skip("tokens do not grow with the state: they name a state that is stored elsewhere")
		return
	}
	fixed := bytes.Equal(in.Seal(tok.State, tok.Under).Answer.Out, tok.Text)
	changing := map[int]bool{}
	first := tok.Bytes()
	evidence, raws := []verdict.Call{tok.Sealed}, [][]byte{first}
	for range 24 {
		other, ok := in.Mint(t.State(24), tok.Under)
		if !ok {
			return
		}
		raw := other.Bytes()
		if len(raw) != len(first) || other.Format().Words() != tok.Format().Words() {
			t.Skip("states of one length give tokens of different lengths, or the part that changes is in no known encoding")
			return
		}
		for i := range raw {
			if raw[i] != first[i] {
				changing[i] = true
			}
		}
		evidence, raws = append(evidence, other.Sealed), append(raws, raw)
	}
	t.Try(codecs.Integrity)
	withoutCopies(changing, raws)
	room, need := len(changing)-24, 12
	if !t.Readable(tok) && t.grows(in, tok) {
		room = len(changing) - len(tok.State) // all of the state is hidden, and changes
	}
	at, n := spelledState(first, tok.State)
	for i := at; i < at+n; i++ {
		delete(changing, i)
	}
	if n > 0 {
		room = len(changing)
	}
	if !fixed && n == 0 && !bytes.Contains(first, tok.State) {
		need = 17 // a nonce as well, or a synthetic one of 16 bytes and a time
	}
	if room < need {
		t.RefuteIf(codecs.Integrity, attack.Sealed(25), fmt.Sprintf("beside the state, %d bytes of a token change; they have to hold the tag and all else that is fresh", max(room, 0)), evidence...)
	}
}

// withoutCopies leaves out places whose byte changes as that of an earlier place does. All
// tokens have one length.
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

// grows reports that a token is as much longer as its state is: it is not packed.
func (t trial) grows(in *attack.Instance, tok *attack.Token) bool {
	const more = 48
	longer := in.Seal(t.State(24+more), tok.Under)
	return longer.Answer.Outcome == verdict.Done && len(in.TokenOf(longer, tok.Under).Bytes()) == len(tok.Bytes())+more
}
