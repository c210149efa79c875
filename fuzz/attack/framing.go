package attack

import (
	"bytes"
	"fmt"

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
