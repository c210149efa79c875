package attacks

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/attacks/compressed"
	"sealab/fuzz/attack/fields"
	"sealab/fuzz/attack/tokenfmt"
	"sealab/internal/verdict"
)

// payloadAttacks are the attacks with states of the attacker's choice.
var payloadAttacks = []attack.Attack{
	{ID: "PAY-03", Name: "states of any bytes, returned unchanged", Refutes: []codecs.Property{codecs.ByteExact}, Layer: attack.LayerOracle, CWE: 838,
		Gain: "a state that the server never wrote", Origin: "round trips through text and numbers", Run: onToken(trial.roundTrips), Hundreds: 29},
	{ID: "PAY-08", Name: "states that end like padding, at multiples of a block", Refutes: []codecs.Property{codecs.ByteExact}, Layer: attack.LayerOracle, CWE: 838,
		Gain: "a truncated state", Origin: "padding that is removed without being counted: ISO/IEC 9797-1, method 1", Run: onToken(trial.paddedStates), Hundreds: 20},
	{ID: "PAY-02", Name: "numbers, surrogates, nesting, duplicate members", Refutes: []codecs.Property{codecs.ByteExact, codecs.Total}, Layer: attack.LayerOracle, CWE: 1286,
		Gain: "a state that two readers interpret differently", Origin: "RFC 8259, section 6; CVE-2017-12635, CVE-2020-16250", Run: onToken(trial.awkwardStates), Hundreds: 3},
	{ID: "PAY-01", Name: "authenticated claims with a duplicate member", Refutes: totalProperties, Layer: attack.LayerReseal, CWE: 694,
		Gain: "a token that two readers interpret differently", Origin: "CVE-2017-12635, CVE-2020-16250", Run: onTrial(trial.duplicateClaims)},
	{ID: "PAY-05", Name: "a token length that depends on the content", Refutes: []codecs.Property{codecs.Confidentiality}, Layer: attack.LayerOracle, CWE: 203,
		Gain: "guesses at the state, byte by byte, or its class", Origin: "CVE-2012-4929; texts of digits that are packed", Run: onToken(trial.tellingLength), Hundreds: 2},
	{ID: "PAY-07", Name: "a digest, a part or a bit of the state in the token", Refutes: []codecs.Property{codecs.Confidentiality}, Layer: attack.LayerOracle, CWE: 200,
		Gain: "guesses at the state without contacting the server", Origin: "digests of plaintext beside ciphertext", Run: onToken(trial.digestOfState), Hundreds: 5},
	{ID: "PAY-04", Name: "a short token with a long state", Refutes: totalProperties, Layer: attack.LayerResources, CWE: 409,
		Gain: "as much memory of the server as the attacker wants", Origin: "CVE-2024-28180", Run: onToken(trial.decompressionBomb)},
	{ID: "RES-03", Name: "modified arguments, and results that alias them", Refutes: []codecs.Property{codecs.ByteExact}, Layer: attack.LayerOracle, CWE: 374,
		Gain: "a token or state that changes after its verification", Origin: "buffers that are kept or reused", Run: onToken(trial.aliasing), Hundreds: 1},
	{ID: "PAY-06", Name: "the granularity of the token length", Refutes: []codecs.Property{codecs.Confidentiality}, Layer: attack.LayerText, CWE: 203,
		Gain: "the length of the state", Origin: "every cipher without padding",
		Dropped: "confidentiality as promised reveals the length of the state; sealab list prints the overhead"},
}

// roundTrip seals state and expects the same bytes back.
func (t trial) roundTrip(in *attack.Instance, under codecs.Context, state []byte, name string) {
	sealed := in.Seal(state, under)
	if sealed.Answer.Outcome != verdict.Done {
		return // a design may refuse a state that it cannot carry
	}
	t.Try(codecs.ByteExact)
	opened := in.Unseal(sealed.Answer.Out, under)
	switch {
	case opened.Answer.Outcome == verdict.Unsupported:
	case opened.Answer.Outcome != verdict.Done && len(state) > 1000: // a limit on the length of tokens
	case opened.Answer.Outcome != verdict.Done:
		t.Refute(codecs.ByteExact, name+" is sealed, and its token refused", sealed, opened)
	case !bytes.Equal(opened.Answer.Out, state):
		t.Refute(codecs.ByteExact, fmt.Sprintf("%s comes back as %.60q", name, opened.Answer.Out), sealed, opened)
	}
}

func (t trial) roundTrips(in *attack.Instance, tok *attack.Token) {
	for _, n := range []int{0, 1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 257, 1000, 4095, 4096, 4097, 65535, 65536, 65537} {
		t.roundTrip(in, tok.Under, t.Bytes(n), fmt.Sprintf("a state of %d random bytes", n))
		t.roundTrip(in, tok.Under, t.Letters(n), fmt.Sprintf("a state of %d letters", n))
		t.roundTrip(in, tok.Under, make([]byte, n), fmt.Sprintf("a state of %d zero bytes", n))
		if n >= 2 {
			t.roundTrip(in, tok.Under, fmt.Appendf(nil, `"%s"`, t.Letters(n-2)), fmt.Sprintf("a JSON text of %d bytes", n))
		}
	}
	for _, v := range t.Range(256) {
		b := byte(v)
		t.roundTrip(in, tok.Under, []byte{'a', b, 'b'}, fmt.Sprintf("a state with byte %#x", v))
		t.roundTrip(in, tok.Under, []byte{b, 'a', 'b', b}, fmt.Sprintf("a state between two bytes %#x", v))
	}
	t.roundTripsOfEveryLength(in, tok.Under)
	t.alikeStates(in, tok.Under)
}

// alikeStates seals two states with a common beginning before it opens the first.
func (t trial) alikeStates(in *attack.Instance, under codecs.Context) {
	for _, n := range []int{8, 16, 32, 64, 256, 1024, 4096, 32768, 65536} {
		head := t.Letters(n)
		one, two := append(bytes.Clone(head), "one"...), append(bytes.Clone(head), "two"...)
		sealed, other := in.Seal(one, under), in.Seal(two, under)
		if sealed.Answer.Outcome != verdict.Done || other.Answer.Outcome != verdict.Done {
			continue
		}
		t.Try(codecs.ByteExact)
		if opened := in.Unseal(sealed.Answer.Out, under); opened.Answer.Outcome == verdict.Done && !bytes.Equal(opened.Answer.Out, one) {
			t.Refute(codecs.ByteExact, fmt.Sprintf("after another state with the same first %d bytes was sealed, a state comes back otherwise", n), sealed, other, opened)
		}
	}
}

// paddedStates seals states that end like padding. Their lengths are multiples of a block of 8
// to 256 bytes, and the neighbors of a block.
func (t trial) paddedStates(in *attack.Instance, tok *attack.Token) {
	for _, block := range []int{8, 16, 32, 64, 128, 256} {
		for _, n := range []int{block - 1, block, block + 1, 2 * block, 3 * block} {
			for _, pad := range []int{1, 2, 8, block - 1, block} {
				if pad < 1 || pad > n || pad > 255 {
					continue
				}
				head := t.Letters(n - pad)
				last := append(make([]byte, pad-1), byte(pad))
				for name, end := range map[string][]byte{
					"zeros": make([]byte, pad), "PKCS #7": bytes.Repeat([]byte{byte(pad)}, pad), "a bit and zeros": append([]byte{0x80}, make([]byte, pad-1)...),
					"zeros and a count": last, "spaces": bytes.Repeat([]byte(" "), pad), "equals signs": bytes.Repeat([]byte("="), pad),
				} {
					t.roundTrip(in, tok.Under, append(bytes.Clone(head), end...), fmt.Sprintf("a state of %d bytes that ends in %d bytes of %s", n, pad, name))
				}
			}
		}
	}
}

func (t trial) awkwardStates(in *attack.Instance, tok *attack.Token) {
	t.roundTrip(in, tok.Under, bytes.Repeat([]byte("€"), 24_000), "a state of 24,000 characters of three bytes, one across each power of two")
	for _, form := range []string{"%s", `"%s"`, `{"token":"%s"}`} {
		t.roundTrip(in, tok.Under, fmt.Appendf(nil, form, tok.Text), "a state that holds a token")
	}
	for _, state := range []string{
		`9007199254740993`, `{"n":9007199254740993}`, `{"n":1.0}`, `-0`, `1e400`, `{"n":1e400}`, `0.1`, `1E2`, `{"n":1e2}`, `123456789012345678901234567890`,
		`{"a":1,"a":2}`, `{"a":1,"A":2}`, `{"b":1,"a":2}`, `{ "a" : 1 }`, " {}", "{}\n", `null`, `true`, `""`, `"\ud800"`, `"\u00e9"`, `"é"`, "\"e\u0301\"", `"\/"`, `"/"`,
		`"<>&"`, "\"\u2028\"", "\"\x7f\"", `{"__proto__":{"x":1}}`, `{"1":1,"0":0}`, "\ufeff{}", "\x00", "a\x00b", " ", "\n", "\r\n", "trailing ", "\xff\xfe", "\xed\xa0\x80",
		"%00", "&amp;", "+", "=", "\\", `\u0041`, "undefined", "NaN", `{"s":"x","exp":0}`, strings.Repeat("[", 200) + strings.Repeat("]", 200),
		string(compressed.Compressors["gzip"]([]byte("a text that is compressed"))), string(compressed.Compressors["zlib"]([]byte("a text that is compressed"))),
		"BZh91AY&SY", "\x28\xb5\x2f\xfd\x04\x00", "PK\x03\x04", "\x80\x04N.", "\x80\x04\x8c\x01a\x94.", "a:1:{i:0;i:1;}", "s:1:\"a\";", "\x04\bI\"\x06a",
		"\xac\xed\x00\x05", "eyJhIjoxfQ", "eyJhIjoxfQ==", "7b7d", ".eJw",
		"b64:aGVsbG8", "base64:aGVsbG8=", "base64url:aGVsbG8", "data:;base64,aGVsbG8=", "hex:68656c6c6f", "0x68656c6c6f", `\\x68656c6c6f`, "json:{}", "text:a", "str:a", "s:a", "t:a",
		"utf8:a", "raw:a", "bin:a", "plain:a", "!!binary aGVsbG8=", "gz:H4sI", "deflate:eJw", `{"$binary":"aGVsbG8="}`, `{"type":"Buffer","data":[1]}`,
	} {
		t.Try(codecs.Total)
		t.roundTrip(in, tok.Under, []byte(state), fmt.Sprintf("the state %.40q", state))
		long := slices.Concat(t.Letters(300), []byte(state), t.Letters(300))
		t.roundTrip(in, tok.Under, long, fmt.Sprintf("%.40q between 600 letters", state))
	}
}

// tellingLength seals orderly states, and the same bytes in random order. An encoding with a
// length per byte gives both the same length. If the orderly state gives shorter tokens, it is
// compressed or partly omitted. So is a text of few characters if another character lengthens it.
func (t trial) tellingLength(in *attack.Instance, tok *attack.Token) {
	t.packedTexts(in, tok)
	for _, n := range []int{64, 300, 2000, attack.LongerState} {
		if n > 2000 && n > t.Budget.Bytes {
			return
		}
		part := t.Letters(min(n/2, 1000)) // fits the window of a compressor
		orderly := [][]byte{bytes.Repeat(part, n/len(part))}
		for _, b := range []byte{'a', ' ', '0', 0, 0xff} {
			orderly = append(orderly, append(t.Letters(n/2), bytes.Repeat([]byte{b}, n/2)...))
		}
		for _, state := range orderly {
			if t.shorterInOrder(in, tok, state) {
				return
			}
		}
	}
}

// shorterInOrder refutes if a state gives shorter tokens than the same bytes in random order.
func (t trial) shorterInOrder(in *attack.Instance, tok *attack.Token, state []byte) bool {
	mixed := bytes.Clone(state)
	t.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	if !slices.ContainsFunc(state, func(b byte) bool { return b < ' ' || b > '~' }) {
		state, mixed = fmt.Appendf(nil, `{"step":"%s"}`, state), fmt.Appendf(nil, `{"step":"%s"}`, mixed)
	}
	return t.shorterThan(in, tok, state, mixed)
}

// shorterThan refutes if a state always gives shorter tokens than another one of its length.
func (t trial) shorterThan(in *attack.Instance, tok *attack.Token, state, other []byte) bool {
	calls := in.Seals(tok.Under, [][]byte{other, other, state, state})
	if len(calls) < 4 {
		return false
	}
	t.Try(codecs.Confidentiality)
	shows := func(calls []verdict.Call) bool { return len(calls[0].Answer.Out) > len(calls[1].Answer.Out)+8 }
	told := []verdict.Call{calls[1], calls[2]}
	if !shows(told) || !t.alwaysShorter(in, tok, calls) {
		return false
	}
	t.RefuteIf(codecs.Confidentiality, shows, fmt.Sprintf("a state of %d bytes gives a token of %d characters, and another state of that length one of %d",
		len(state), len(told[1].Answer.Out), len(told[0].Answer.Out)), told...)
	return true
}

// alwaysShorter seals four states repeatedly. It reports whether one of the last two always
// gives shorter tokens than the first two, which padding of random length does not cause.
func (t trial) alwaysShorter(in *attack.Instance, tok *attack.Token, calls []verdict.Call) bool {
	const times = 8
	lengths := func(c verdict.Call) []int {
		all := []int{len(c.Answer.Out)}
		for range times {
			all = append(all, len(in.Seal(c.State, tok.Under).Answer.Out))
		}
		return all
	}
	first := slices.Min(slices.Concat(lengths(calls[0]), lengths(calls[1])))
	return first > min(slices.Max(lengths(calls[2])), slices.Max(lengths(calls[3])))
}

// digestOfState looks for digests of the state in the bytes of the token.
func (t trial) digestOfState(in *attack.Instance, tok *attack.Token) {
	if t.Readable(tok) {
		t.RefuteReadable(tok)
		return
	}
	t.showsState(in, tok.Under)
	t.readableElsewhere(in, tok.Under)
	state := tok.Returned()
	crc := crc32.ChecksumIEEE(state)
	digests := [][]byte{binary.BigEndian.AppendUint32(nil, crc), binary.LittleEndian.AppendUint32(nil, crc)}
	for _, hash := range tokenfmt.Hashes {
		digests = append(digests, hash.Sum(state)[:8])
	}
	t.Try(codecs.Confidentiality)
	again, ok := in.Mint(t.State(24), tok.Under)
	if !ok {
		return
	}
	for _, digest := range digests {
		here, elsewhere := tokenfmt.Find(tok.Text, digest), tokenfmt.Find(again.Text, digest)
		if len(here) > 0 && len(elsewhere) == 0 {
			t.Refute(codecs.Confidentiality, fmt.Sprintf("the token holds a digest of the state, %x", digest), tok.Sealed)
		}
	}
	if how, ok := saltedDigest(tok, again); ok {
		t.Refute(codecs.Confidentiality, "the token holds "+how+", by which a guess at the state is checked", tok.Sealed, again.Sealed)
	}
}

// readableElsewhere looks for the state in tokens with fewer fields, of other methods, of other
// lengths and of other forms. A design may seal these in another way.
func (t trial) readableElsewhere(in *attack.Instance, under codecs.Context) {
	ask := func(letters int, c codecs.Context) {
		tok, ok := in.Mint(t.State(letters), c)
		if !ok {
			return
		}
		t.Try(codecs.Confidentiality)
		if t.Readable(tok) {
			t.RefuteIf(codecs.Confidentiality, attack.Sealed(1), fmt.Sprintf("the state, of %d letters, can be read in a token of the context %s", letters, fields.Describe(c)), tok.Sealed)
		}
	}
	for _, n := range []int{300, attack.LongState, attack.LongerState} {
		if n <= max(attack.LongState, t.Budget.Bytes) {
			ask(n, under)
		}
	}
	for _, form := range attack.StateForms {
		letters := t.Letters(24)
		tok, ok := in.Mint(fmt.Appendf(nil, form, letters), under)
		if !ok {
			continue
		}
		t.Try(codecs.Confidentiality)
		if len(tokenfmt.Find(tok.Text, letters)) > 0 {
			t.RefuteIf(codecs.Confidentiality, attack.Sealed(1), fmt.Sprintf("the state %.16q can be read in its token", tok.State), tok.Sealed)
		}
	}
	if !t.Design.IsScheme() {
		return
	}
	for _, c := range fields.Reduced(under) {
		ask(24, c)
	}
	for _, m := range fields.OtherMethods {
		ask(24, fields.Method.Put(under, m))
	}
}

// decompressionBomb seals long repetitive states and looks for short tokens.
func (t trial) decompressionBomb(in *attack.Instance, tok *attack.Token) {
	var short func() // short records the finding. It is nil if a longer state is refused or gives a long token.
	for _, n := range []int{1 << 14, 1 << 17, 1 << 20} {
		if n > t.Budget.Bytes {
			break
		}
		t.Try(codecs.Total)
		long, ok := in.Mint(fmt.Appendf(nil, `{"step":"%s"}`, bytes.Repeat([]byte("a"), n)), tok.Under)
		if !ok {
			short = nil // the design limits the length of states
			break
		}
		short = nil
		if len(long.Text)*8 < n && !t.stored(in, tok, n) {
			short = func() {
				t.Refute(codecs.Total, fmt.Sprintf("a token of %d characters makes a state of %d bytes", len(long.Text), n), long.Sealed, long.Opened)
			}
		}
	}
	if short != nil {
		short()
	}
	if t.Tried(codecs.Total) == 0 {
		t.Skip("the design seals no long states")
	}
}

// stored reports whether tokens do not contain the state: even a state of n random letters,
// which do not compress, gives a short token.
func (t trial) stored(in *attack.Instance, tok *attack.Token, n int) bool {
	random := in.Seal(t.State(n), tok.Under)
	return random.Answer.Outcome == verdict.Done && len(random.Answer.Out)*8 < n
}

// aliasing checks that calls do not change their arguments, and that results do not share
// memory with them.
func (t trial) aliasing(in *attack.Instance, tok *attack.Token) {
	for range 8 {
		state, presented := t.State(200), bytes.Clone(tok.Text)
		kept := bytes.Clone(state)
		sealed := in.Seal(state, tok.Under)
		text := bytes.Clone(sealed.Answer.Out)
		opened := in.Ask(presented, tok.Under)
		t.Try(codecs.ByteExact)
		if !bytes.Equal(state, kept) || !bytes.Equal(presented, tok.Text) {
			t.Refute(codecs.ByteExact, "sealing or unsealing changes its argument", sealed, opened)
		}
		before := bytes.Clone(opened.Answer.Out)
		for i := range presented {
			presented[i] = 'x'
		}
		for i := range state {
			state[i] = 'x'
		}
		if !bytes.Equal(before, opened.Answer.Out) {
			t.Refute(codecs.ByteExact, "the state that comes back is the memory of the token", opened)
		}
		if again := in.Unseal(sealed.Answer.Out, tok.Under); !bytes.Equal(text, sealed.Answer.Out) || bytes.Contains(again.Answer.Out, state[:16]) {
			t.Refute(codecs.ByteExact, "the token is the memory of the state", sealed, again)
		}
		t.keeps(in, tok)
	}
	t.statesOfBatch(in, tok, 24, 24, 24)
	t.statesOfBatch(in, tok, 200, 24, 5000)
}

// keeps checks that a returned state does not change while other tokens are opened.
func (t trial) keeps(in *attack.Instance, tok *attack.Token) {
	first := in.Unseal(tok.Text, tok.Under)
	before := bytes.Clone(first.Answer.Out)
	for range 4 {
		if other, ok := in.Mint(t.State(24), tok.Under); ok {
			in.Unseal(other.Text, tok.Under)
		}
	}
	if !bytes.Equal(before, first.Answer.Out) {
		t.Refute(codecs.ByteExact, "a state that came back changes while other tokens are opened", first)
	}
}
