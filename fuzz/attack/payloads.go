package attack

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"

	"sealab/codecs"
	"sealab/internal/verdict"
)

// onPayloads are the attacks with states of the attacker's choice.
var onPayloads = []Refuter{
	{ID: "PAY-03", Name: "any bytes come back as they were", Refutes: []codecs.Property{codecs.ByteExact}, Layer: LayerOracle,
		Gain: "a state that the server never wrote", Origin: "round trips through text and numbers", Run: roundTrips},
	{ID: "PAY-02", Name: "numbers, surrogates, nesting, duplicate members", Refutes: []codecs.Property{codecs.ByteExact, codecs.Total}, Layer: LayerOracle,
		Gain: "a state that two readers take differently", Origin: "RFC 8259, section 6; CVE-2017-12635, CVE-2020-16250", Run: awkwardStates},
	{ID: "PAY-01", Name: "claims with a member twice, authenticated", Refutes: []codecs.Property{codecs.Total}, Layer: LayerReseal,
		Gain: "two readers of one token that disagree", Origin: "CVE-2017-12635, CVE-2020-16250", Run: duplicateClaims},
	{ID: "PAY-05", Name: "length that tells the content", Refutes: []codecs.Property{codecs.Confidentiality}, Layer: LayerOracle,
		Gain: "guesses at the state, byte by byte", Origin: "CVE-2012-4929", Run: tellingLength},
	{ID: "PAY-07", Name: "a digest of the state in the token", Refutes: []codecs.Property{codecs.Confidentiality}, Layer: LayerOracle,
		Gain: "guesses at the state that need no server", Origin: "digests of plaintext beside ciphertext", Run: digestOfState},
	{ID: "PAY-04", Name: "a short token with a long state", Refutes: []codecs.Property{codecs.Total}, Layer: LayerResources,
		Gain: "memory at will", Origin: "CVE-2024-28180", Run: decompressionBomb},
	{ID: "RES-03", Name: "arguments changed, results that alias them", Refutes: []codecs.Property{codecs.ByteExact}, Layer: LayerOracle,
		Gain: "a token or state that changes after it was judged", Origin: "buffers that are kept or reused", Run: aliasing},
	{ID: "PAY-06", Name: "the step of the token's length", Refutes: []codecs.Property{codecs.Confidentiality}, Layer: LayerText,
		Gain: "the length of the state", Origin: "every cipher without padding",
		Dropped: "the length of the state is what confidentiality as promised gives away; sealab list prints the overhead"},
}

// roundTrip seals state and expects it back, byte for byte.
func (t *Trial) roundTrip(p *Party, under verdict.Context, state []byte, what string) {
	sealed := p.seal(state, under)
	if sealed.Answer.Outcome != verdict.Done {
		return // a design may refuse what it does not carry
	}
	t.try(codecs.ByteExact)
	opened := p.unseal(sealed.Answer.Out, under)
	switch {
	case opened.Answer.Outcome == verdict.Unsupported:
	case opened.Answer.Outcome != verdict.Done && len(state) > 1000: // a bound on tokens
	case opened.Answer.Outcome != verdict.Done:
		t.refute(codecs.ByteExact, what+" is sealed, and its token refused", sealed, opened)
	case !bytes.Equal(opened.Answer.Out, state):
		t.refute(codecs.ByteExact, fmt.Sprintf("%s comes back as %.60q", what, opened.Answer.Out), sealed, opened)
	}
}

func roundTrips(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	for _, n := range []int{0, 1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 257, 1000, 4095, 4096, 4097, 65535, 65536, 65537} {
		t.roundTrip(p, tok.Under, t.bytes(n), fmt.Sprintf("a state of %d random bytes", n))
		t.roundTrip(p, tok.Under, t.letters(n), fmt.Sprintf("a state of %d letters", n))
		t.roundTrip(p, tok.Under, make([]byte, n), fmt.Sprintf("a state of %d zero bytes", n))
		if n >= 2 {
			t.roundTrip(p, tok.Under, fmt.Appendf(nil, `"%s"`, t.letters(n-2)), fmt.Sprintf("a JSON text of %d bytes", n))
		}
	}
	for _, v := range t.sweep(256) {
		b := byte(v)
		t.roundTrip(p, tok.Under, []byte{'a', b, 'b'}, fmt.Sprintf("a state with byte %#x", v))
		t.roundTrip(p, tok.Under, []byte{b, 'a', 'b', b}, fmt.Sprintf("a state between two bytes %#x", v))
	}
}

func awkwardStates(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	for _, state := range []string{
		`9007199254740993`, `{"n":9007199254740993}`, `{"n":1.0}`, `-0`, `1e400`, `{"n":1e400}`, `0.1`, `1E2`, `{"n":1e2}`, `123456789012345678901234567890`,
		`{"a":1,"a":2}`, `{"a":1,"A":2}`, `{"b":1,"a":2}`, `{ "a" : 1 }`, " {}", "{}\n", `null`, `true`, `""`, `"\ud800"`, `"\u00e9"`, `"é"`, "\"e\u0301\"", `"\/"`, `"/"`,
		`"<>&"`, "\"\u2028\"", "\"\x7f\"", `{"__proto__":{"x":1}}`, `{"1":1,"0":0}`, "\ufeff{}", "\x00", "a\x00b", " ", "\n", "\r\n", "trailing ", "\xff\xfe", "\xed\xa0\x80",
		"%00", "&amp;", "+", "=", "\\", `\u0041`, "undefined", "NaN", `{"s":"x","exp":0}`, strings.Repeat("[", 200) + strings.Repeat("]", 200),
	} {
		t.try(codecs.Total)
		t.roundTrip(p, tok.Under, []byte(state), fmt.Sprintf("the state %.40q", state))
	}
}

// tellingLength seals letters that compress and letters that do not.
func tellingLength(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	for _, n := range []int{64, 300, 2000} {
		random := t.letters(n)
		half := append(bytes.Clone(random[:n/2]), random[:n/2]...)
		var lengths []int
		var calls []verdict.Call
		for _, letters := range [][]byte{random, t.letters(n), bytes.Repeat([]byte("a"), n), half} {
			sealed := p.seal(fmt.Appendf(nil, `{"step":"%s"}`, letters), tok.Under)
			if sealed.Answer.Outcome != verdict.Done {
				return
			}
			lengths, calls = append(lengths, len(sealed.Answer.Out)), append(calls, sealed)
		}
		t.try(codecs.Confidentiality)
		if d := max(lengths[0], lengths[1]) - min(lengths[2], lengths[3]); d > 8 {
			t.refute(codecs.Confidentiality, fmt.Sprintf("states of one length, %d letters, give tokens of %v characters: what repeats is shorter", n, lengths), calls[0], calls[2])
		}
	}
}

// digestOfState looks for digests of the state among the token's bytes.
func digestOfState(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	if t.readable(tok) {
		t.readableState(tok)
		return
	}
	state := tok.Returned()
	sum256, sum1, sum5, sum512 := sha256.Sum256(state), sha1.Sum(state), md5.Sum(state), sha512.Sum512(state)
	crc := crc32.ChecksumIEEE(state)
	t.try(codecs.Confidentiality)
	again, ok := p.mint(t.state(24), tok.Under)
	if !ok {
		return
	}
	for _, digest := range [][]byte{sum256[:8], sum1[:8], sum5[:8], sum512[:8], binary.BigEndian.AppendUint32(nil, crc), binary.LittleEndian.AppendUint32(nil, crc)} {
		in, elsewhere := findIn(tok.Text, digest), findIn(again.Text, digest)
		if len(in) > 0 && len(elsewhere) == 0 {
			t.refute(codecs.Confidentiality, fmt.Sprintf("the token holds a digest of the state, %x", digest), tok.Sealed)
		}
	}
}

// decompressionBomb seals long states that repeat and looks for short tokens.
func decompressionBomb(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	for _, n := range []int{1 << 14, 1 << 17, 1 << 20} {
		if n > t.Budget.Bytes {
			break
		}
		long, ok := p.mint(fmt.Appendf(nil, `{"step":"%s"}`, bytes.Repeat([]byte("a"), n)), tok.Under)
		if !ok {
			break
		}
		t.try(codecs.Total)
		if len(long.Text)*8 < n && !t.stored(p, tok, n) {
			t.refute(codecs.Total, fmt.Sprintf("a token of %d characters makes a state of %d bytes", len(long.Text), n), long.Sealed, long.Opened)
		}
	}
	if t.trials[codecs.Total] == 0 {
		t.skip("the subject seals no long states")
	}
}

// stored reports that tokens do not carry states: one of n random letters, which
// do not compress, does not make a longer token either.
func (t *Trial) stored(p *Party, tok *Token, n int) bool {
	random := p.seal(t.state(n), tok.Under)
	return random.Answer.Outcome == verdict.Done && len(random.Answer.Out)*8 < n
}

// aliasing checks that arguments are left alone and results are the caller's.
func aliasing(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	for range 8 {
		state, presented := t.state(200), bytes.Clone(tok.Text)
		kept := bytes.Clone(state)
		sealed := p.seal(state, tok.Under)
		opened := p.call(verdict.OpUnseal, presented, tok.Under, func() ([]byte, error) { return p.unsealPlain(nil, presented, tok.Under) })
		t.try(codecs.ByteExact)
		if !bytes.Equal(state, kept) || !bytes.Equal(presented, tok.Text) {
			t.refute(codecs.ByteExact, "sealing or unsealing changes its argument", sealed, opened)
		}
		before := bytes.Clone(opened.Answer.Out)
		for i := range presented {
			presented[i] = 'x'
		}
		for i := range state {
			state[i] = 'x'
		}
		if !bytes.Equal(before, opened.Answer.Out) {
			t.refute(codecs.ByteExact, "the state that came back is the token's own memory", opened)
		}
		if again := p.unseal(sealed.Answer.Out, tok.Under); again.Answer.Outcome == verdict.Done && !bytes.Equal(again.Answer.Out, kept) {
			t.refute(codecs.ByteExact, "the token is the state's own memory", sealed, again)
		}
		t.keeps(p, tok)
	}
}

// keeps checks that a state stays as it is while other tokens are opened.
func (t *Trial) keeps(p *Party, tok *Token) {
	first := p.unseal(tok.Text, tok.Under)
	before := bytes.Clone(first.Answer.Out)
	for range 4 {
		if other, ok := p.mint(t.state(24), tok.Under); ok {
			p.unseal(other.Text, tok.Under)
		}
	}
	if !bytes.Equal(before, first.Answer.Out) {
		t.refute(codecs.ByteExact, "a state that came back changes while other tokens are opened", first)
	}
}
