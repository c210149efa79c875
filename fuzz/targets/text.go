package targets

import (
	"bytes"
	"slices"
	"strings"

	"sealab/fuzz/program"
)

var textTarget = Target{
	Name: "text", Layer: LayerText,
	Doc:   "seals, alters the token's text, opens: only the token itself opens, and only to its payload",
	Draws: true,
	Check: text,
	Seeds: textSeeds,
}

func text(p *program.Program) error {
	s := pick(p)
	seed, payload := s.seed(p), s.payload(p)
	token, err := s.codec.SealSeeded(nil, seed, payload)
	if err != nil {
		return err
	}
	n := p.Few(16)
	if n == 0 {
		return s.requireSame(token, payload)
	}
	altered := bytes.Clone(token)
	for range n {
		altered = alter(p, altered)
	}
	if own := bytes.Equal(altered, token); own || p.Pick(8) == 1 {
		if err := s.requireSame(token, payload); err != nil || own {
			return err
		}
	}
	return s.requireNoGain(token, altered, payload)
}

// spellings are texts that lenient decoders skip.
var spellings = [][]byte{[]byte("="), []byte("=="), []byte("\n"), []byte("\r\n"), []byte(" "), []byte("\t"), {0}, []byte("."),
	[]byte("\ufeff"), {0xff}, []byte("%3D"), []byte("v1."), []byte("A"), []byte("/"), []byte("+")}

// alter makes one change to the text of a token.
func alter(p *program.Program, token []byte) []byte {
	kind := p.Pick(14)
	at := spot(p, token)
	switch rest := token[at:]; kind {
	case 0: // replace a character
		if len(rest) > 0 {
			rest[0] = character(p)
		}
		return token
	case 1: // flip bits of a character's value in the alphabet
		if len(rest) > 0 {
			rest[0] = neighbour(rest[0], p.Byte())
		}
		return token
	case 2: // truncate
		return token[:at]
	case 3: // cut from the front
		return rest
	case 4: // insert what lenient decoders let through
		return insert(token, at, spellings[p.Pick(len(spellings))])
	case 5: // insert anything
		return insert(token, at, p.Bytes(64))
	case 6: // append a part of itself, which may double it
		return append(token, bytes.Clone(rest[:min(len(rest), 4096)])...)
	case 7: // replace everything
		return bytes.Clone(p.Bytes(2048))
	case 8: // the other alphabet from here on
		otherAlphabet(rest)
		return token
	case 9: // insert a word of the source
		return insert(token, at, literal(p))
	case 10: // write one over what is there
		copy(rest, literal(p))
		return token
	case 11: // another length, by more of the same
		return resize(token, length(p, nil))
	case 12: // exchange neighbours
		if len(rest) > 1 {
			rest[0], rest[1] = rest[1], rest[0]
		}
		return token
	default: // exchange the parts
		return append(bytes.Clone(rest), token[:at]...)
	}
}

// spot reads a place in a token: near a border of the format, or any.
func spot(p *program.Program, token []byte) int {
	switch p.Pick(10) {
	case 0:
		return len(token)
	case 1:
		return max(0, len(token)-1)
	case 2:
		return bytes.IndexByte(token, '.') + 1
	case 3:
		return bytes.LastIndexByte(token, '.') + 1
	case 4:
		return min(len(token), 64) // where PEM breaks a line
	case 5: // near the front, where keys are named
		return min(len(token), bytes.IndexByte(token, '.')+1+p.Pick(16))
	case 6: // near the end, where tags are
		return max(0, len(token)-p.Pick(32))
	case anywhere:
		return p.Uint16() % (len(token) + 1)
	default: // where chunks and buffers end
		return min(len(token), length(p, nil))
	}
}

// anywhere begins a place that is given as a number.
const anywhere = 7

// otherAlphabet rewrites base64url to base64, in place.
func otherAlphabet(text []byte) {
	for i, c := range text {
		switch c {
		case '-':
			text[i] = '+'
		case '_':
			text[i] = '/'
		}
	}
}

// resize returns the first n bytes of the token repeated.
func resize(token []byte, n int) []byte {
	if len(token) == 0 {
		return token
	}
	out := make([]byte, 0, n+len(token))
	for len(out) < n {
		out = append(out, token...)
	}
	return out[:n]
}

func insert(token []byte, at int, what []byte) []byte {
	return slices.Concat(token[:at], what, token[at:])
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// neighbour returns the character whose value differs from that of c in the
// given bits, or c if it has no value.
func neighbour(c, bits byte) byte {
	if i := strings.IndexByte(alphabet, c); i >= 0 {
		return alphabet[(byte(i)^bits)%64]
	}
	return c
}

// textSeeds are, for every design, a sealed token, one alteration of each kind,
// and the tokens of the committed vectors in its place.
func textSeeds() ([][]byte, error) {
	files, err := committed()
	if err != nil {
		return nil, err
	}
	var seeds [][]byte
	for i, s := range instances() {
		begin := func(seed, payload []byte) *program.Writer {
			var w program.Writer
			return w.Pick(i, len(instances())).Bytes(seed).Bytes(payload)
		}
		seed, payload := []byte("seed"), []byte("payload")
		own := [][]byte{begin(seed, payload).Program()}
		for kind := range byte(14) {
			own = append(own, begin(seed, payload).Byte(1).Byte(kind).Byte(anywhere).Uint16(20).Uint16(4).Raw([]byte("v1.A")).Program())
		}
		for _, test := range files[s.Name].distinct() {
			own = append(own, begin(test.Seed, test.Payload).Byte(1).Byte(7).Byte(0).Bytes([]byte(test.Token)).Program())
		}
		seeds = append(seeds, meant(s.dear, own)...)
	}
	return begun(seeds), nil
}
