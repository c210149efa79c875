package tokenfmt

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

const (
	decimalDigits = "0123456789"
	smallLetters  = "abcdefghijklmnopqrstuvwxyz"
)

// baseDigits are the digits, in order, of bases that are not powers of two.
var baseDigits = []string{
	decimalDigits + strings.ToUpper(smallLetters) + smallLetters, decimalDigits + smallLetters + strings.ToUpper(smallLetters), strings.ToUpper(smallLetters) + smallLetters + decimalDigits,
	"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", // Bitcoin's base 58
	decimalDigits + smallLetters, decimalDigits + strings.ToUpper(smallLetters),
}

// Overflows adds 2^(8*size) to numbers in other bases, so that the sum needs one byte more. It
// alters blocks that encode 4 to 32 bytes, and whole segments of up to longestNumber digits. A
// reader that truncates numbers to their size treats both as equal.
func Overflows(f Format, _ *Source, yield func(Alteration)) {
	for i, s := range f.Segments {
		for _, digits := range baseDigits {
			if len(s.Text) < minEncoded || strings.Trim(s.Text, digits) != "" {
				continue
			}
			sizes := []int{4, 8, 16, 20, 32, bytesIn(min(len(s.Text), longestNumber), len(digits))}
			slices.Sort(sizes)
			for _, size := range slices.Compact(sizes) {
				width := digitsOf(size, len(digits))
				for _, at := range overflowPlaces(len(s.Text), width) {
					if more, ok := addOverflow(s.Text[at:at+width], digits, size); ok {
						yield(Alteration{f.WithText(i, s.Text[:at]+more+s.Text[at+width:]), fmt.Sprintf("2^%d added to the digits of base %d from %d of segment %d", 8*size, len(digits), at, i)})
					}
				}
			}
		}
	}
}

// longestPrefix is the length of the longest prefix that may stand in one segment with a number.
const longestPrefix = 6

// overflowPlaces returns the places of blocks of width digits in a text of n: the first one, also
// behind a prefix, and the last one.
func overflowPlaces(n, width int) []int {
	var all []int
	for at := 0; at <= longestPrefix && at+width <= n; at++ {
		all = append(all, at)
	}
	if last := (n/width - 1) * width; last > longestPrefix {
		all = append(all, last)
	}
	return all
}

// longestNumber is the length of the longest segment that is read as one number. The work grows
// with the square of the length.
const longestNumber = 4 << 10

// bytesIn returns the largest number of bytes whose values all fit into width digits.
func bytesIn(width, base int) int {
	return (new(big.Int).Exp(big.NewInt(int64(base)), big.NewInt(int64(width)), nil).BitLen() - 1) / 8
}

// digitsOf returns the number of digits needed for size bytes.
func digitsOf(size, base int) int {
	n, limit := 0, new(big.Int).Lsh(big.NewInt(1), uint(8*size))
	for power := big.NewInt(1); power.Cmp(limit) < 0; power.Mul(power, big.NewInt(int64(base))) {
		n++
	}
	return n
}

// addOverflow adds 2^(8*size) to the number in text. It reports false if the sum needs more
// digits.
func addOverflow(text, digits string, size int) (string, bool) {
	base, n := big.NewInt(int64(len(digits))), new(big.Int)
	for _, c := range text {
		n.Add(n.Mul(n, base), big.NewInt(int64(strings.IndexRune(digits, c))))
	}
	n.Add(n, new(big.Int).Lsh(big.NewInt(1), uint(8*size)))
	more := make([]byte, len(text))
	for i := range more {
		var digit big.Int
		n.DivMod(n, base, &digit)
		more[len(more)-1-i] = digits[digit.Int64()]
	}
	return string(more), n.Sign() == 0
}
