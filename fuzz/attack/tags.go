package attack

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/internal/verdict"
)

// onTags are the attacks on what authenticates a token.
var onTags = []Refuter{
	{ID: "TAG-01", Name: "the tag shortened", Refutes: unforgeable, Layer: LayerText, Gain: gainForgery,
		Origin: "CVE-2009-0217", Run: shortTags},
	{ID: "TAG-02", Name: "a constant, empty or absent tag", Refutes: unforgeable, Layer: LayerText, Gain: gainForgery,
		Origin: "CVE-2020-28042", Run: constantTags},
	{ID: "TAG-03", Name: "random tags", Refutes: unforgeable, Layer: LayerText, Gain: gainForgery,
		Origin: "Project Wycheproof: ModifiedTag", Run: randomTags, Thousands: 78},
	{ID: "TAG-06", Name: "hash length extension", Refutes: unforgeable, Layer: LayerText,
		Gain: "a longer payload under a tag that is computed without the key", Origin: "Merkle-Damgard hashes keyed by a prefix", Run: lengthExtension, Thousands: 3},
	{ID: "TAG-07", Name: "the border between two pieces shifted", Refutes: spelled, Layer: LayerText,
		Gain: "a token that reads as other fields than were sealed", Origin: "signatures over fields that are joined without lengths", Run: shiftedBorders},
	{ID: "TAG-09", Name: "plaintext released on refusal", Refutes: unforgeable, Layer: LayerText,
		Gain: "an oracle for what the sender never authenticated", Origin: "CVE-2017-17688", Run: releasedPlaintext},
	{ID: "TAG-10", Name: "a signature's other form", Refutes: spelled, Layer: LayerText, Gain: gainSpelling,
		Origin: "CVE-2024-48949, CVE-2024-42459", Run: otherSignatures},
	{ID: "TAG-11", Name: "the tag of another hash, cut to length", Refutes: unforgeable, Layer: LayerKeys,
		Gain: "a tag of a weaker or other function is taken", Origin: "Rooterberg: truncated HMAC of another hash", Run: otherHashes},
	{ID: "TAG-12", Name: "room for a tag", Refutes: unforgeable, Layer: LayerText,
		Gain: "a forgery after few guesses", Origin: "NIST SP 800-38D, appendix C", Run: tagRoom},
	{ID: "TAG-13", Name: "a checksum in the place of a tag", Refutes: unforgeable, Layer: LayerText, Gain: gainForgery,
		Origin: "Borisov, Goldberg, Wagner 2001, of WEP", Run: checksummed},
	{ID: "TAG-05", Name: "a comparison that ends early", Refutes: []codecs.Property{codecs.SteadyTiming}, Layer: LayerResources,
		Gain: "a tag found byte by byte", Origin: "CVE-2009-3875",
		Dropped: "timing is judged from samples by sealab leak, which has its own controls"},
}

func shortTags(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	t.shortened(p, tok, tok.shape())
	if empty, ok := p.mint([]byte{}, tok.Under); ok { // all that is left to cut is the tag
		t.shortened(p, empty, empty.shape())
	}
}

// shortened takes bytes from either end of each piece of tok.
func (t *Trial) shortened(p *Party, tok *Token, s shape) {
	for _, i := range s.coded() {
		raw := s.pieces[i].raw
		for n := 1; n <= min(64, len(raw)); n++ {
			t.change(p, tok, s.with(i, raw[:len(raw)-n]), fmt.Sprintf("%d bytes short at the end of piece %d", n, i))
			t.change(p, tok, s.with(i, raw[n:]), fmt.Sprintf("%d bytes short at the start of piece %d", n, i))
		}
	}
}

// constantTags writes constants where a tag may be, with the body as it is and
// changed.
func constantTags(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	s := tok.shape()
	for _, i := range s.coded() {
		for _, n := range []int{1, 2, 4, 8, 10, 12, 16, 20, 28, 32, 48, 64} {
			if n > len(s.pieces[i].raw) {
				break
			}
			for _, c := range []byte{0, 0xff, '0', 'A'} {
				t.constantTag(p, tok, s, i, bytes.Repeat([]byte{c}, n))
			}
		}
		for _, word := range []string{"", "null", "none", "undefined", "0", "AAAA", "true", "*"} {
			t.change(p, tok, s.withText(i, word), fmt.Sprintf("%q for piece %d", word, i))
		}
		t.withoutTag(p, tok, s, i)
	}
}

// constantTag writes a constant over the end and over the start of piece i.
func (t *Trial) constantTag(p *Party, tok *Token, s shape, i int, constant []byte) {
	raw, n, c := s.pieces[i].raw, len(constant), constant[0]
	body := bytes.Clone(raw[:len(raw)-n])
	t.change(p, tok, s.with(i, slices.Concat(body, constant)), fmt.Sprintf("%d times %#x at the end of piece %d", n, c, i))
	t.change(p, tok, s.with(i, slices.Concat(constant, raw[n:])), fmt.Sprintf("%d times %#x at the start of piece %d", n, c, i))
	if len(body) == 0 {
		return
	}
	body[len(body)/2] ^= 1
	t.change(p, tok, s.with(i, slices.Concat(body, constant)), fmt.Sprintf("%d times %#x at the end of piece %d, and a byte before it changed", n, c, i))
}

// withoutTag presents an algorithm of none in a JSON header, with the last piece
// empty, zero, or as it was, and the body changed.
func (t *Trial) withoutTag(p *Party, tok *Token, s shape, i int) {
	raw, at := s.pieces[i].raw, s.coded()
	if !bytes.HasPrefix(raw, []byte(`{"`)) || !bytes.Contains(raw, []byte(`"alg"`)) {
		return
	}
	last := at[len(at)-1]
	for _, alg := range []string{"none", "None", "nOne", "NONE", ""} {
		header := fmt.Appendf(nil, `{"alg":%q,"typ":"JWT"}`, alg)
		for _, tag := range []string{"", s.pieces[last].text} {
			t.change(p, tok, s.altered(i, header).withText(last, tag), fmt.Sprintf("alg %q with tag %q", alg, tag))
		}
	}
}

// randomTags puts random bytes where a tag may be: a compare that is right once
// in 256 times, and a tag of one or two bytes, do not survive it.
func randomTags(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	s := tok.shape()
	at := s.coded()
	if len(at) == 0 {
		t.skip("no piece of the token is in a known text code")
		return
	}
	for _, i := range at {
		raw := s.pieces[i].raw
		forged := bytes.Clone(raw)
		forged[len(raw)/2] ^= 1
		for _, n := range []int{len(raw) - 1, 32, 16} {
			if n > 0 && n <= len(raw) {
				t.guess(p, tok, s, i, raw, n, min(4096, t.Budget.Unseals))
			}
		}
		for _, n := range []int{1, 2} {
			if n < len(raw) {
				t.guess(p, tok, s, i, forged, n, min(1<<(8*n), t.Budget.Unseals))
			}
		}
	}
}

// atOnce is how many tokens are presented in one batch: a slow subject has the time
// of one request for it.
const atOnce = 128

// guess presents tries tokens in which the last n bytes of piece i are guessed;
// two bytes and fewer in turn, more at random.
func (t *Trial) guess(p *Party, tok *Token, s shape, i int, raw []byte, n, tries int) {
	for from := 0; from < tries && !t.fell(codecs.Integrity) && !t.spent(); from += atOnce {
		var texts [][]byte
		for k := from; k < min(from+atOnce, tries); k++ {
			altered := bytes.Clone(raw)
			tail := altered[len(raw)-n:]
			switch n {
			case 1:
				tail[0] = byte(k)
			case 2:
				binary.BigEndian.PutUint16(tail, uint16(k))
			default:
				copy(tail, t.bytes(n))
			}
			if text := s.with(i, altered); !bytes.Equal(text, tok.Text) {
				texts = append(texts, text)
			}
		}
		t.trials[codecs.Integrity] += len(texts)
		if call, ok := p.accepted(texts, tok.Under); ok {
			t.change(p, tok, call.Token, fmt.Sprintf("the last %d bytes of piece %d guessed in %d tries", n, i, from+atOnce))
		}
	}
}

// shiftedBorders moves bytes from the end of one piece to the start of the next
// and back.
func shiftedBorders(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	s := tok.shape()
	at := s.coded()
	for k := 1; k < len(at); k++ {
		i, j := at[k-1], at[k]
		both := append(bytes.Clone(s.pieces[i].raw), s.pieces[j].raw...)
		for cut := 1; cut < len(both); cut++ {
			moved := shape{pieces: append([]piece(nil), s.pieces...)}
			moved.pieces[i].text = s.pieces[i].code.encode(both[:cut])
			t.spelling(p, tok, moved.with(j, both[cut:]), fmt.Sprintf("pieces %d and %d cut at %d instead of %d", i, j, cut, len(s.pieces[i].raw)))
		}
	}
	if t.trials[codecs.Integrity] == 0 {
		t.skip("the token has one piece only")
	}
}

// releasedPlaintext looks for the state in what a refusal returns and in the
// spare room of the caller's buffer.
func releasedPlaintext(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	s := tok.shape()
	marker := tok.State[len(tok.State)/2-6 : len(tok.State)/2+6]
	for _, i := range s.coded() {
		for _, at := range t.places(len(s.pieces[i].raw)-1, 30) {
			altered := bytes.Clone(s.pieces[i].raw)
			altered[min(at, len(altered)-1)] ^= 1
			t.released(p, tok, s.with(i, altered), marker)
		}
	}
}

func (t *Trial) released(p *Party, tok *Token, altered, marker []byte) {
	room := make([]byte, 4, 4+4*len(altered))
	t.try(codecs.Integrity)
	var out []byte
	call := p.call(verdict.OpUnseal, altered, tok.Under, func() (_ []byte, err error) {
		out, err = p.unsealPlain(room, altered, tok.Under)
		return out, err
	})
	switch {
	case call.Answer.Outcome != verdict.Refused:
	case len(out) > len(room):
		t.refute(codecs.Integrity, "a refusal returns bytes beside the error", tok.Sealed, call)
	case bytes.Contains(room[:cap(room)], marker):
		t.refute(codecs.Integrity, "a refusal leaves the state in the caller's buffer", tok.Sealed, call)
	}
}

// tagRoom compares tokens to find how many bytes can be a tag at all.
func tagRoom(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	if t.stored(p, tok, 1<<12) {
		t.skip("tokens do not grow with the state: they name what is stored elsewhere")
		return
	}
	a := p.seal(tok.State, tok.Under).Answer.Out
	fixed := bytes.Equal(a, tok.Text)
	changing := map[int]bool{}
	first := tok.raws()
	for range 24 {
		other, ok := p.mint(t.state(24), tok.Under)
		if !ok {
			return
		}
		raw := other.raws()
		if len(raw) != len(first) || other.shape().words() != tok.shape().words() {
			t.skip("states of one length give tokens of different lengths, or what changes in them is in no known text code")
			return
		}
		for i := range raw {
			if raw[i] != first[i] {
				changing[i] = true
			}
		}
	}
	t.try(codecs.Integrity)
	room, need := len(changing)-24, 12
	if !fixed && !bytes.Contains(first, tok.State) {
		need = 17 // a nonce as well, or a synthetic one of 16 bytes and a time
	}
	if room < need {
		t.refute(codecs.Integrity, fmt.Sprintf("beside the state, %d bytes of a token change, which have to hold the tag and what else is fresh", max(room, 0)), tok.Sealed)
	}
}
