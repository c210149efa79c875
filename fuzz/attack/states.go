package attack

import (
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/internal/verdict"
)

// Lengths of states: LongState may need several chunks, LongerState does not fit a two-byte
// length, and LongestState exceeds a buffer of 1 MiB.
const (
	LongState    = 5000
	LongerState  = 70_000
	LongestState = 2 << 20
)

// SweptLengths is the number of consecutive lengths of states that are tried. It covers each
// remainder modulo a block of up to 256 bytes.
const SweptLengths = 272

// StateForms are texts around letters that are not ordinary JSON objects, or that programs
// mistake for another type: a text, a list, an encoded or compressed state, a record.
var StateForms = []string{"%s", `"%s"`, `["%s"]`, "7%s", "eyJ%s", "ey%s.e30.", "\x1f\x8b\x08%s", "\xff\xfe%s", "\x00%s", "\x80%s", "<x>%s</x>", "k=%s&l=1", "%s\n", "enc:%s", "$1$%s", "a:1:{%s}",
	`{"public":true,"step":"%s"}`, `{"debug":true,"step":"%s"}`, `{"step":null,"x":"%s"}`, `{"step":{"x":"%s"}}`}

// FormedStates returns short JSON texts, random bytes, and a state of each form.
func (t *T) FormedStates() [][]byte {
	states := [][]byte{[]byte("{}"), []byte("[]"), []byte("null"), []byte("true"), []byte("0"), []byte(`""`), t.Bytes(24), t.Bytes(300)}
	for _, form := range StateForms {
		states = append(states, fmt.Appendf(nil, form, t.Letters(24)))
	}
	return states
}

// Seals seals states in one context and returns the calls that gave a token.
func (in *Instance) Seals(under codecs.Context, states [][]byte) []verdict.Call {
	calls := in.SealAll(states, slices.Repeat([]codecs.Context{under}, len(states)))
	return slices.DeleteFunc(calls, func(c verdict.Call) bool { return c.Answer.Outcome != verdict.Done })
}

// SweptStates returns one state of each swept length: a JSON text, or letters if it is too
// short for JSON.
func (t *T) SweptStates() (states [][]byte) {
	for n := range len(t.State(0)) {
		states = append(states, t.Letters(n))
	}
	for _, n := range t.Range(SweptLengths) {
		states = append(states, t.State(n))
	}
	return states
}

// BatchSize is the number of tokens that searches seal in one batch.
const BatchSize = 256

// RareLengths are lengths of states near those at which readers take another branch.
var RareLengths = []int{0, 1, 15, 16, 17, 31, 32, 33, 127, 128, 255, 256, 257, 4095, 4096, 4097}

// Resealed seals the state of tok n more times.
func (in *Instance) Resealed(tok *Token, n int) []verdict.Call {
	return in.SealAll(slices.Repeat([][]byte{tok.State}, n), slices.Repeat([]codecs.Context{tok.Under}, n))
}
