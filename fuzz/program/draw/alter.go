package draw

import (
	"bytes"
	"slices"
	"strings"

	"sealab/fuzz/program"
)

// spellings are texts that lenient decoders skip.
var spellings = [][]byte{[]byte("="), []byte("=="), []byte("\n"), []byte("\r\n"), []byte(" "), []byte("\t"), {0}, []byte("."),
	[]byte("\ufeff"), {0xff}, []byte("%3D"), []byte("v1."), []byte("A"), []byte("/"), []byte("+")}

// Alter makes one change to the text of a token.
func Alter(p *program.Program, token []byte) []byte {
	kind := p.Pick(14)
	at := Place(p, token)
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
		return Insert(token, at, spellings[p.Pick(len(spellings))])
	case 5: // insert anything
		return Insert(token, at, p.Bytes(64))
	case 6: // append a part of itself, which may double it
		return append(token, bytes.Clone(rest[:min(len(rest), 4096)])...)
	case 7: // replace everything
		return bytes.Clone(p.Bytes(2048))
	case 8: // the other alphabet from here on
		otherAlphabet(rest)
		return token
	case 9: // insert a word of the source
		return Insert(token, at, Literal(p))
	case 10: // write one over what is there
		copy(rest, Literal(p))
		return token
	case 11: // another length, by more of the same
		return resize(token, Length(p, nil))
	case 12: // exchange neighbours
		if len(rest) > 1 {
			rest[0], rest[1] = rest[1], rest[0]
		}
		return token
	default: // exchange the parts
		return append(bytes.Clone(rest), token[:at]...)
	}
}

// Place reads a place in a token: near a border of the format, or any.
func Place(p *program.Program, token []byte) int {
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
	case Anywhere:
		return p.Uint16() % (len(token) + 1)
	default: // where chunks and buffers end
		return min(len(token), Length(p, nil))
	}
}

// Anywhere begins a place that is given as a number.
const Anywhere = 7

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

func Insert(token []byte, at int, what []byte) []byte {
	return slices.Concat(token[:at], what, token[at:])
}

const Alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// neighbour returns the character whose value differs from that of c in the
// given bits, or c if it has no value.
func neighbour(c, bits byte) byte {
	if i := strings.IndexByte(Alphabet, c); i >= 0 {
		return Alphabet[(byte(i)^bits)%64]
	}
	return c
}
