package branca

import (
	"bytes"
	"errors"
	"math/big"
)

// The maximum lengths of a token and of a state in bytes. The token of the
// longest state is a little shorter than maxToken.
const (
	maxToken = 128 << 10
	maxState = 96_000
)

// base62 is a framework.Encoding.
type base62 struct{}

// AppendEncode appends src as one number in base 62. It loses leading zero
// bytes, but a token starts with its version.
func (base62) AppendEncode(dst, src []byte) []byte {
	n := len(dst)
	dst = new(big.Int).SetBytes(src).Append(dst, 62)
	swapCase(dst[n:])
	return dst
}

// AppendDecode appends the bytes of a number in base 62. It fails if src has a
// leading zero, an invalid character or more than maxToken characters.
func (base62) AppendDecode(dst, src []byte) ([]byte, error) {
	if len(src) == 0 || len(src) > maxToken || src[0] == '0' || bytes.ContainsFunc(src, notDigit) {
		return dst, errors.New("not a number in base 62")
	}
	src = bytes.Clone(src)
	swapCase(src)
	return append(dst, number(src).Bytes()...), nil
}

// number parses digits of package big. It splits long numbers in halves,
// because SetString takes quadratic time.
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

// swapCase converts between the digits of package big, which has lower case
// first, and those of Branca.
func swapCase(digits []byte) {
	for i, c := range digits {
		if c >= 'A' {
			digits[i] = c ^ 0x20
		}
	}
}
