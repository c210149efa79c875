package attack

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"sealab/codecs"
)

const gainForgery = "a token that the server never made and trusts"

var unforgeable = []codecs.Property{codecs.Integrity}

// onFrames are the attacks on how a token is cut into parts.
var onFrames = []Refuter{
	{ID: "FRM-01", Name: "truncation to every length", Refutes: unforgeable, Layer: LayerText, Gain: gainForgery,
		Origin: "Project Wycheproof and CCTV: truncation, partial plaintext", Run: truncation},
	{ID: "FRM-02", Name: "empty token, empty pieces, missing separators", Refutes: []codecs.Property{codecs.Integrity, codecs.Total}, Layer: LayerText,
		Gain: "a forgery, or a server that dies", Origin: "jose2go issue 11", Run: emptiness},
	{ID: "FRM-03", Name: "length fields that lie", Refutes: []codecs.Property{codecs.Integrity, codecs.Total}, Layer: LayerText,
		Gain: "a forgery, or memory at will", Origin: "CVE-2016-9123", Run: lengthLies, Measures: true},
	{ID: "FRM-05", Name: "version, algorithm and key id set to every value", Refutes: unforgeable, Layer: LayerText,
		Gain: "a choice of format or key that the server did not make", Origin: "CVE-2015-9235", Run: versions, Thousands: 4},
	{ID: "FRM-06", Name: "unknown critical header", Refutes: unforgeable, Layer: LayerText,
		Gain: "a restriction that the reader does not know is passed over", Origin: "CVE-2025-59420; RFC 7515, section 4.1.11", Run: criticalHeader},
	{ID: "FRM-07", Name: "every bit of the bytes flipped", Refutes: unforgeable, Layer: LayerText, Gain: gainForgery,
		Origin: "Fernet specification, invalid vectors", Run: bitFlips, Thousands: 3},
	{ID: "FRM-08", Name: "parts of two tokens spliced", Refutes: unforgeable, Layer: LayerText,
		Gain: "a token put together from parts of others", Origin: "CCTV: chunk reordering", Run: splices},
	{ID: "FRM-10", Name: "pieces of a long token left out, exchanged, repeated and spliced", Refutes: unforgeable, Layer: LayerText,
		Gain: "a state that is cut short or put together from others", Origin: "CCTV: chunk reordering and truncation", Run: chunks},
	{ID: "FRM-11", Name: "a long token, and one of the second key, changed behind", Refutes: unforgeable, Layer: LayerText, Gain: gainForgery,
		Origin: "paths of verification that are rarely taken", Run: rarePaths},
	{ID: "FRM-09", Name: "one good and one forged part", Refutes: unforgeable, Layer: LayerText,
		Gain: "a good signature vouches for another body", Origin: "CVE-2016-9122", Run: doubledParts},
}

func truncation(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	for n := range len(tok.Text) {
		t.change(p, tok, tok.Text[:n], fmt.Sprintf("cut to %d of %d characters", n, len(tok.Text)))
		t.change(p, tok, tok.Text[n+1:], fmt.Sprintf("the first %d characters left out", n+1))
	}
	s := tok.shape()
	for _, i := range s.coded() {
		raw := s.pieces[i].raw
		for n := range len(raw) {
			t.change(p, tok, s.with(i, raw[:n]), fmt.Sprintf("piece %d cut to %d of %d bytes", i, n, len(raw)))
			t.change(p, tok, s.with(i, raw[n+1:]), fmt.Sprintf("the first %d bytes of piece %d left out", n+1, i))
		}
	}
}

func emptiness(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	s := tok.shape()
	texts := []string{"", ".", "..", "...", "....", " ", "\n", "\x00", "{}", "[]", "null", `""`, "0", "v1", "v1.", "v1..", "=", "e30", "e30."}
	for i := range s.pieces {
		texts = append(texts, string(s.withText(i, "")))
		for j := range i {
			both := s
			both.pieces = append([]piece(nil), s.pieces...)
			both.pieces[j].text = ""
			texts = append(texts, string(both.withText(i, "")))
		}
	}
	for _, x := range texts {
		t.try(codecs.Total)
		t.change(p, tok, []byte(x), fmt.Sprintf("%.60q presented", x))
	}
}

// lengthLies writes extreme numbers over every window of the first bytes of each
// piece, as a length, a count or an offset may stand there.
func lengthLies(t *Trial) {
	if t.Subject.Memory != nil {
		t.liesElsewhere()
		return
	}
	p, tok, ok := t.base()
	if !ok {
		return
	}
	for _, lie := range t.liesIn(p, tok) {
		t.try(codecs.Total)
		before := t.allocatedAbout()
		t.change(p, tok, lie.text, lie.how)
		if t.allocatedAbout()-before < 8<<20 || t.fell(codecs.Total) {
			continue
		}
		if grown := t.allocates(16<<20, func() { p.unseal(lie.text, tok.Under) }); grown > 16<<20 {
			t.refute(codecs.Total, fmt.Sprintf("%s makes the reader allocate %d MiB for %d bytes", lie.how, grown>>20, len(tok.Text)))
		}
	}
}

// A lengthLie is a token in which a number is another one.
type lengthLie struct {
	piece, at int
	number    []byte
	text      []byte
	how       string
}

// liesIn are the lies that fit in tok.
func (t *Trial) liesIn(p *Party, tok *Token) []lengthLie {
	var all []lengthLie
	s := tok.shape()
	for _, i := range s.coded() {
		raw := s.pieces[i].raw
		for at := range min(len(raw), 40) {
			for _, number := range lies(len(raw) - at) {
				altered := bytes.Clone(raw)
				copy(altered[at:], number)
				all = append(all, lengthLie{i, at, number, s.with(i, altered), fmt.Sprintf("%x written at byte %d of piece %d", number, at, i)})
			}
		}
	}
	return all
}

// lies are numbers of one to eight bytes that no honest length is.
func lies(room int) [][]byte {
	all := [][]byte{{0}, {0x7f}, {0xff}, {0xff, 0xff}, {0x7f, 0xff, 0xff, 0xff}, {0xff, 0xff, 0xff, 0xff}, {0xff, 0xff, 0xff, 0x7f},
		binary.BigEndian.AppendUint32(nil, 1<<30), binary.LittleEndian.AppendUint32(nil, 1<<30),
		binary.BigEndian.AppendUint64(nil, 1<<62), bytes.Repeat([]byte{0xff}, 8), make([]byte, 4), make([]byte, 8)}
	var fit [][]byte
	for _, lie := range all {
		if len(lie) <= room {
			fit = append(fit, lie)
		}
	}
	return fit
}

// versions sets words and leading bytes to other values, with the body as it is
// and with its last byte changed, as a version without a tag would take it.
func versions(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	s := tok.shape()
	for i, piece := range s.pieces {
		if piece.coded {
			t.leadingBytes(p, tok, s, i)
			continue
		}
		for _, word := range otherWords(piece.text) {
			altered := s.withText(i, word)
			t.change(p, tok, altered, fmt.Sprintf("%q for %q", word, piece.text))
			for _, state := range [][]byte{t.state(24), []byte(`{"admin":true}`)} {
				t.unsigned(p, tok, word, state)
			}
		}
	}
}

// leadingBytes sets each of the first bytes of a piece to every value.
func (t *Trial) leadingBytes(p *Party, tok *Token, s shape, i int) {
	for at := range min(8, len(s.pieces[i].raw)) {
		for _, v := range t.sweep(256) {
			altered := bytes.Clone(s.pieces[i].raw)
			altered[at] = byte(v)
			t.change(p, tok, s.with(i, altered), fmt.Sprintf("byte %d of piece %d set to %d", at, i, v))
		}
	}
}

// otherWords are other values of a version, algorithm or separator.
func otherWords(word string) []string {
	words := []string{"", "none", "None", "nOne", "NONE", "null", "v0", "v1", "v2", "v3", "v4", "v9", "v1e", "v1s", "legacy", "plain", "dev", "test", "debug", "unsafe", "raw"}
	for i := range word {
		for _, c := range "0123456789" {
			if word[i] >= '0' && word[i] <= '9' {
				words = append(words, word[:i]+string(c)+word[i+1:])
			}
		}
		words = append(words, word[:i]+"X"+word[i+1:], word[:i]+word[i+1:])
	}
	for _, sep := range ".-_:" {
		if strings.HasSuffix(word, string(sep)) {
			words = append(words, "v0"+string(sep), "none"+string(sep), "plain"+string(sep), "legacy"+string(sep), "test"+string(sep))
		}
	}
	return words
}

// unsigned presents a state of the attacker's choice under a word, without tag.
func (t *Trial) unsigned(p *Party, tok *Token, word string, state []byte) {
	code := textCodes[5]
	for _, sep := range []string{"", ".", ":"} {
		for _, body := range []string{code.encode(state), string(state)} {
			for _, tail := range []string{"", sep} {
				t.change(p, tok, []byte(word+sep+body+tail), fmt.Sprintf("a state without tag after %q", word))
			}
		}
	}
}

// criticalHeader adds members to every piece that holds a JSON object.
func criticalHeader(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	s := tok.shape()
	for _, i := range s.coded() {
		raw := s.pieces[i].raw
		if !bytes.HasPrefix(raw, []byte("{")) {
			continue
		}
		for _, member := range []string{`"crit":["x"],"x":1,`, `"b64":false,"crit":["b64"],`, `"zip":"DEF",`, `"kid":"../../dev/null",`, `"alg":"none",`} {
			altered := append([]byte("{"+member), raw[1:]...)
			t.change(p, tok, s.with(i, altered), fmt.Sprintf("%s added to piece %d", member, i))
			tail := append(bytes.TrimSuffix(bytes.Clone(raw), []byte("}")), ","+strings.TrimSuffix(member, ",")+"}"...)
			t.change(p, tok, s.with(i, tail), fmt.Sprintf("%s added at the end of piece %d", member, i))
		}
	}
	if t.trials[codecs.Integrity] == 0 {
		t.skip("no piece of the token is a readable JSON object")
	}
}

// bitFlips flips every bit of a short token, and bits of longer ones.
func bitFlips(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	s := tok.shape()
	for _, i := range s.coded() {
		for _, bit := range t.sweep(8 * len(s.pieces[i].raw)) {
			t.flip(p, tok, s, i, bit)
		}
	}
	for _, i := range t.sweep(len(tok.Text)) {
		c, other := tok.Text[i], byte('A')
		if c == other {
			other = 'Q'
		}
		altered := bytes.Clone(tok.Text)
		altered[i] = other
		t.change(p, tok, altered, fmt.Sprintf("%q for %q at %d", other, c, i))
	}
	for _, n := range []int{1, 80, 300, 2000, 20000} {
		tok, ok := t.mint(p, t.state(n))
		if !ok {
			continue
		}
		s := tok.shape()
		for _, i := range s.coded() {
			for _, at := range t.places(len(s.pieces[i].raw), 60) {
				t.flip(p, tok, s, i, min(at*8+t.IntN(8), len(s.pieces[i].raw)*8-1))
			}
		}
	}
}

func (t *Trial) flip(p *Party, tok *Token, s shape, i, bit int) {
	altered := bytes.Clone(s.pieces[i].raw)
	altered[bit/8] ^= 1 << (bit % 8)
	t.change(p, tok, s.with(i, altered), fmt.Sprintf("bit %d of byte %d of %d in piece %d flipped", bit%8, bit/8, len(altered), i))
}

// splices puts parts of two tokens together, by pieces and by bytes, and moves
// blocks inside one.
func splices(t *Trial) {
	p, a, ok := t.base()
	if !ok {
		return
	}
	b, ok := t.mint(p, t.state(24))
	if !ok {
		return
	}
	sa, sb := a.shape(), b.shape()
	if len(sa.pieces) != len(sb.pieces) {
		t.skip("two tokens of one length have different shapes")
		return
	}
	for i := range sa.pieces {
		t.splice(p, a, b, sa.withText(i, sb.pieces[i].text), fmt.Sprintf("piece %d of another token", i))
	}
	for i := range sa.pieces {
		for j := i + 2; j < len(sa.pieces); j++ {
			mixed := shape{pieces: slices.Concat(sa.pieces[:i], sb.pieces[i:j+1], sa.pieces[j+1:])}
			t.splice(p, a, b, mixed.text(), fmt.Sprintf("pieces %d to %d of another token", i, j))
		}
	}
	for _, i := range sa.coded() {
		ra, rb := sa.pieces[i].raw, sb.pieces[i].raw
		for n := 1; n < min(len(ra), len(rb)); n++ {
			joined := append(bytes.Clone(rb[:n]), ra[n:]...)
			t.splice(p, a, b, sa.with(i, joined), fmt.Sprintf("the first %d bytes of piece %d from another token", n, i))
		}
	}
	t.blocks(p)
}

// splice presents what was put together from a and b, unless it is one of them.
func (t *Trial) splice(p *Party, a, b *Token, altered []byte, how string) {
	if !bytes.Equal(altered, b.Text) {
		t.change(p, a, altered, how)
	}
}

// blocks exchanges, repeats and leaves out blocks of 16 bytes of a long token.
func (t *Trial) blocks(p *Party) {
	tok, ok := t.mint(p, t.state(200))
	if !ok {
		return
	}
	s := tok.shape()
	for _, i := range s.coded() {
		raw := s.pieces[i].raw
		for from := 0; from+32 <= len(raw); from += 4 {
			x, y := raw[from:from+16], raw[from+16:from+32]
			for _, middle := range [][][]byte{{y, x}, {y}, {x}, {x, x, y}} {
				altered := slices.Concat(raw[:from], slices.Concat(middle...), raw[from+32:])
				t.change(p, tok, s.with(i, altered), fmt.Sprintf("the 16-byte blocks at byte %d of piece %d exchanged, repeated or left out", from, i))
			}
		}
	}
}

// doubledParts repeats pieces, once as they are and once altered.
func doubledParts(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	s := tok.shape()
	for _, i := range s.coded() {
		forged := bytes.Clone(s.pieces[i].raw)
		forged[len(forged)/2] ^= 1
		good, bad := s.pieces[i].text, s.pieces[i].code.encode(forged)
		for _, sep := range []string{".", ":", ",", "|", "~"} {
			for _, doubled := range []string{good + sep + bad, bad + sep + good, good + sep + good} {
				t.spelling(p, tok, s.withText(i, doubled), fmt.Sprintf("piece %d twice, joined by %q", i, sep))
			}
		}
	}
	for _, sep := range []string{",", " ", ".", "&"} {
		at := s.coded()
		if len(at) == 0 {
			return
		}
		forged := bytes.Clone(s.pieces[at[0]].raw)
		forged[len(forged)/3] ^= 1
		altered := s.with(at[0], forged)
		t.spelling(p, tok, fmt.Appendf(nil, "%s%s%s", tok.Text, sep, altered), "a good and a forged token")
		t.spelling(p, tok, fmt.Appendf(nil, "%s%s%s", altered, sep, tok.Text), "a forged and a good token")
	}
}
