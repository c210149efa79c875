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

// weakTagAttacks are the attacks on tags that miss some changes.
var weakTagAttacks = []attack.Attack{
	{ID: "TAG-16", Name: "changes that checksums and block sums miss", Refutes: integrityProperties, Layer: attack.LayerText, CWE: 328, Gain: attack.GainForgery,
		Origin: "a keyed tag over CRC-32, whose collisions everybody writes down; XOR MACs without numbers: Bellare, Guerin, Rogaway 1995", Run: onToken(trial.unseenChanges), Hundreds: 20},
	{ID: "TAG-17", Name: "the tag of a token used as the key to extend it", Refutes: integrityProperties, Layer: attack.LayerText, CWE: 347,
		Gain: "a token extended with parts of the attacker's choice", Origin: "chains of HMAC: Birgisson et al. 2014, in which parts may only restrict", Run: onToken(trial.chained), Hundreds: 1},
	{ID: "TAG-18", Name: "two states with the same tag", Refutes: integrityProperties, Layer: attack.LayerOracle, CWE: 328,
		Gain: "a state under the tag of another one, found by a search without contacting the server", Origin: "tags over a short digest; the birthday bound", Run: onToken(trial.equalTags), Hundreds: 20},
	{ID: "TAG-20", Name: "two messages spliced behind the tag of the first", Refutes: integrityProperties, Layer: attack.LayerText, CWE: 347, Gain: attack.GainForgery,
		Origin: "CBC-MAC over messages of any length: Bellare, Kilian, Rogaway 1994", Run: onToken(trial.splicedChain), Hundreds: 30},
}

// unseenChanges changes tokens of several lengths so that a checksum stays the same, and
// reorders blocks of a state.
func (t trial) unseenChanges(in *attack.Instance, tok *attack.Token) {
	for _, n := range []int{24, 300, attack.LongState} {
		t.changedAt(in, t.State(n), tok.Under, tokenfmt.Unseen)
	}
	const around = 20_000
	run := bytes.Repeat([]byte("a"), around)
	if even, ok := in.Mint(fmt.Appendf(nil, `{"step":"%sb%s"}`, run, run), tok.Under); ok {
		t.Changes(in, even, tokenfmt.Moved(even.Format(), 'b', 'a'))
	}
}

// chained appends to a token its own parts, parts of another token, and letters, and caveats to a macaroon.
func (t trial) chained(in *attack.Instance, tok *attack.Token) {
	parts := [][]byte{t.Letters(8)}
	other, ok := in.Mint(t.State(24), tok.Under)
	if !ok {
		return
	}
	f, g := tok.Format(), other.Format()
	for _, i := range slices.Concat(f.Encoded(), g.Encoded()) {
		for _, format := range []tokenfmt.Format{f, g} {
			if i < len(format.Segments) && len(format.Segments[i].Bytes) > 0 {
				parts = append(parts, format.Segments[i].Bytes)
			}
		}
	}
	t.Try(codecs.Integrity)
	t.TaggedChanges(in, tok, tokenfmt.Chained(f, parts...))
	t.changes(in, tok, tokenfmt.Caveats)
}

// tagRun is the number of characters at the end of a token that belong to a tag.
const tagRun = 20

// equalTags seals many states of one length at one time and looks for two tokens with equal
// ends. Two states have the same tag by chance only if the tag, or a digest under it, is short.
func (t trial) equalTags(in *attack.Instance, tok *attack.Token) {
	const many = 800
	for _, n := range []int{24, 8 << 10} {
		var calls []verdict.Call
		for len(calls) < min(many, t.Budget.Seals) && !t.Spent() {
			states := make([][]byte, min(100, t.Budget.Seals))
			for i := range states {
				states[i] = t.State(n)
			}
			calls = append(calls, in.SealAll(states, slices.Repeat([]codecs.Context{tok.Under}, len(states)))...)
			if calls[len(calls)-1].Answer.Outcome != verdict.Done {
				return
			}
		}
		if a, b, ok := equalEnds(calls); ok {
			t.oneTag(n, a, b)
			return
		}
		t.TryTimes(len(calls), codecs.Integrity)
	}
}

// splicedChain appends a message to another one, with the tag of the first combined by XOR with the
// first block of the second. The tag of the second is right for the whole if it is a CBC-MAC, whose
// state behind the first message is its tag.
func (t trial) splicedChain(in *attack.Instance, tok *attack.Token) {
	second, ok := in.Mint(t.State(40), tok.Under)
	if !ok {
		return
	}
	for n := range chainBlock {
		state := t.State(40 + n)
		first, ok := in.Mint(state, tok.Under)
		if !ok {
			return
		}
		ends, begins := first.Format().Layouts(chainBlock), second.Format().Layouts(chainBlock)
		for i := range min(len(ends), len(begins)) {
			if bytes.Contains(ends[i].Body, state) {
				t.spliceMessages(in, first, ends[i], begins[i])
			}
		}
	}
}

// chainBlock is the length of a block of AES, and of the tag of its CBC-MAC, in bytes.
const chainBlock = 16

func (t trial) spliceMessages(in *attack.Instance, tok *attack.Token, end, begin tokenfmt.Layout) {
	next := begin.Messages(begin.Body)
	for k, message := range end.Messages(end.Body) {
		head, whole := bytes.CutSuffix(message, end.Body)
		if !whole || len(next[k]) < chainBlock {
			continue
		}
		follows := slices.Concat(tokenfmt.Xor(next[k][:chainBlock], end.Tag), next[k][chainBlock:])
		for _, padding := range blockPaddings(len(message)) {
			forged := slices.Concat(message, padding, follows)
			t.Change(in, tok, end.Build(forged[len(head):], begin.Tag), fmt.Sprintf("the second message behind the first, padded with %d bytes, and its tag", len(padding)))
		}
	}
}

// blockPaddings returns the paddings of a message of n bytes to whole blocks: none, zeros, a bit and
// zeros (ISO/IEC 9797-1, methods 1 and 2), and PKCS #7.
func blockPaddings(n int) [][]byte {
	missing := chainBlock - n%chainBlock
	zeros := make([]byte, missing)
	bit := append([]byte{0x80}, zeros[1:]...)
	all := [][]byte{bit, bytes.Repeat([]byte{byte(missing)}, missing)}
	if missing == chainBlock {
		return append(all, nil)
	}
	return append(all, zeros)
}

// equalEnds returns two calls whose tokens have equal ends, if each character of the ends takes
// many values.
func equalEnds(calls []verdict.Call) (a, b verdict.Call, ok bool) {
	seen := map[string]verdict.Call{}
	var values [tagRun]map[byte]bool
	for _, call := range calls {
		out := call.Answer.Out
		if len(out) < 2*tagRun {
			return a, b, false
		}
		end := out[len(out)-tagRun:]
		for i, c := range end {
			if values[i] == nil {
				values[i] = map[byte]bool{}
			}
			values[i][c] = true
		}
		if earlier, known := seen[string(end)]; known && !ok {
			a, b, ok = earlier, call, true
		}
		seen[string(end)] = call
	}
	for _, v := range values {
		if len(v) < 8 {
			return a, b, false // part of the end does not belong to a tag
		}
	}
	return a, b, ok
}

// oneTag records two tokens with equal ends.
func (t trial) oneTag(n int, a, b verdict.Call) {
	shows := func(calls []verdict.Call) bool {
		if len(calls) != 2 || bytes.Equal(calls[0].State, calls[1].State) {
			return false
		}
		x, y := calls[0].Answer.Out, calls[1].Answer.Out
		return min(len(x), len(y)) > tagRun && bytes.Equal(x[len(x)-tagRun:], y[len(y)-tagRun:])
	}
	t.RefuteIf(codecs.Integrity, shows, fmt.Sprintf("two states of %d letters have one tag: the last %d characters of their tokens are the same", n, tagRun), a, b)
}
