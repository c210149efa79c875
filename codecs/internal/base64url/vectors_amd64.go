//go:build !purego

package base64url

import (
	"github.com/segmentio/asm/cpu"
	"github.com/segmentio/asm/cpu/x86"
)

// wide converts 48 bytes or 64 characters at a time with AVX-512 VBMI. Its
// decoder looks up every character in both halves of ASCII, so that it accepts
// no foreign character. It pads the tail of a text with characters of value 0:
// nonzero spare bits are then bits after the result.
type wide struct{}

func fastest() coder {
	if cpu.X86.Has(x86.AVX512BW) && cpu.X86.Has(x86.AVX512VBMI) { // these imply BMI2
		return wide{}
	}
	return vectors
}

func (wide) encode(dst, src []byte) { encodeWide(dst, src, &tables) }

//mutant:processor a processor without AVX-512 VBMI does not call it
func (wide) decode(dst, src []byte) bool { return decodeWide(dst, src, &tables) }

// encodeWide writes the text of src to dst, which has its length.
//
//go:noescape
func encodeWide(dst, src []byte, t *[6][64]byte)

// decodeWide writes the bytes of the text src to dst, which has their number. It
// reports false if src is not canonical. Its length is not 1 modulo 4.
//
//go:noescape
func decodeWide(dst, src []byte, t *[6][64]byte) (ok bool)

// The indexes of the tables, as in the assembly.
const (
	spread  = iota // bytes to the groups of 4 bytes that have 4 characters each
	shifts         // the first bits of the characters in 8 bytes
	letters        // values to characters
	low            // characters under 64 to values, foreign ones to 0x80
	high           // characters from 64 on
	pack           // groups of 4 bytes to their 3 bytes
)

var tables = func() (t [6][64]byte) {
	for i := range t[low] {
		t[low][i], t[high][i] = 0x80, 0x80
	}
	for i := range byte(16) {
		copy(t[spread][4*i:], []byte{3*i + 1, 3 * i, 3*i + 2, 3*i + 1})
		copy(t[pack][3*i:], []byte{4*i + 2, 4*i + 1, 4 * i})
		copy(t[shifts][4*i:], []byte{10 + i%2*32, 4 + i%2*32, 22 + i%2*32, 16 + i%2*32})
	}
	for i := 48; i < 64; i++ {
		t[pack][i] = 3 // a byte that is 0
	}
	copy(t[letters][:], alphabet)
	for value, letter := range []byte(alphabet) {
		t[low+int(letter/64)][letter%64] = byte(value)
	}
	return t
}()
