package branca

import (
	"bytes"
	"errors"
	"math/big"
)

// The longest token, and the longest state, whose token is a little shorter.
const (
	maxToken = 128 << 10
	maxState = 96_000
)

// base62 is a framework.Encoding.
type base62 struct{}

// AppendEncode appends src as one number in base 62. Zero bytes at the start are lost: a
// token starts with its version.
func (base62) AppendEncode(dst, src []byte) []byte {
	n := len(dst)
	dst = new(big.Int).SetBytes(src).Append(dst, 62)
	swapCase(dst[n:])
	return dst
}

// AppendDecode appends the bytes of a number in base 62. It is an error if src has a
// leading zero, another character or more than maxToken of them.
func (base62) AppendDecode(dst, src []byte) ([]byte, error) {
	if len(src) == 0 || len(src) > maxToken || src[0] == '0' || bytes.ContainsFunc(src, notDigit) {
		return dst, errors.New("not a number in base 62")
	}
	src = bytes.Clone(src)
	swapCase(src)
	return append(dst, number(src).Bytes()...), nil
}

// number returns the number of digits of package big. It halves long ones, because SetString
// takes time that grows with the square of the length.
func number(digits []byte) *big.Int {
	if len(digits) <= 1000 {
		n, _ := new(big.Int).SetString(string(digits), 62) // digits are always a number
		return n
	}
	half := len(digits) / 2
	n := new(big.Int).Exp(big.NewInt(62), big.NewInt(int64(half)), nil)
	n.Mul(n, number(digits[:len(digits)-half]))
	return n.Add(n, number(digits[len(digits)-half:]))
}

func notDigit(r rune) bool {
	return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}

// swapCase maps the digits of package big, which has lower case first, to those of Branca
// and back.
func swapCase(digits []byte) {
	for i, c := range digits {
		if c >= 'A' {
			digits[i] = c ^ 0x20
		}
	}
}
