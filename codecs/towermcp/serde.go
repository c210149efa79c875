package towermcp

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf8"

	"sealab/codecs/internal/rawjson"
)

// The limits of serde_json 1.0.154. The crate enables its feature
// preserve_order but not float_roundtrip.
const (
	// maxDepth is the maximum nesting of a state: the limit of serde_json is
	// 128, and the envelope is one level.
	maxDepth = 126
	// maxIgnored bounds the nesting of ignored members, which serde_json does
	// not bound.
	maxIgnored = 100_000
)

var ignoring = rawjson.Dialect{MaxDepth: maxIgnored}

// serde prints values as serde_json does.
var serde = &rawjson.Printer{
	Quoting: rawjson.NewQuoting(false, '"', `""\\`+"\nn\rr\tt\ff\bb", rawjson.EscapeByte),
	Number: func(dst, literal []byte) []byte {
		dst, _ = appendNumber(dst, literal)
		return dst
	},
	Members: rawjson.FirstPlaces,
}

// isValue reports whether serde_json can read v as a Value of limited depth:
// strings must be UTF-8 and numbers in the range of a float.
func isValue(v *rawjson.Value, depth int) bool {
	switch v.Kind {
	case rawjson.Number:
		_, ok := appendNumber(nil, v.Text)
		return ok
	case rawjson.String:
		return utf8.Valid(v.Text)
	case rawjson.Array, rawjson.Object:
		if depth == 0 {
			return false
		}
	}
	for i := range v.Items {
		if !isValue(&v.Items[i], depth-1) {
			return false
		}
	}
	for i := range v.Members {
		if !utf8.Valid(v.Members[i].Name) || !isValue(&v.Members[i].Value, depth-1) {
			return false
		}
	}
	return true
}

// readUint reads a number as a u64, which has only digits.
func readUint(v *rawjson.Value) (uint64, bool) {
	if v.Kind != rawjson.Number {
		return 0, false
	}
	n, err := strconv.ParseUint(string(v.Text), 10, 64)
	return n, err == nil
}

// appendNumber appends a number as serde_json reads and prints it: as an unsigned or
// signed integer of 64 bits, else as a float. It fails if the float is infinite.
func appendNumber(dst, literal []byte) ([]byte, bool) {
	digits, negative := bytes.CutPrefix(literal, []byte("-"))
	n := decimal{rest: digits}
	whole := n.integer()
	if whole && (!negative || 0 < n.significand && n.significand <= 1<<63) {
		if negative {
			dst = append(dst, '-')
		}
		return strconv.AppendUint(dst, n.significand, 10), true
	}
	f, ok := n.float()
	if !ok {
		return dst, false
	}
	if negative {
		f = math.Copysign(f, -1)
	}
	return appendFloat(dst, f), true
}

// A decimal parses a number digit by digit into a significand, which stops
// before it overflows, and a power of ten.
type decimal struct {
	rest        []byte // the rest of the literal, which is valid JSON
	significand uint64
	exponent    int
}

// push appends a digit. It reports false if the significand would overflow.
func (n *decimal) push(digit byte) bool {
	d := uint64(digit - '0')
	if n.significand > (math.MaxUint64-d)/10 {
		return false
	}
	n.significand = n.significand*10 + d
	return true
}

// digit returns the next byte if it is a digit, or 0.
func (n *decimal) digit() byte {
	if len(n.rest) > 0 && '0' <= n.rest[0] && n.rest[0] <= '9' {
		return n.rest[0]
	}
	return 0
}

// integer reads the digits before a point or exponent. It reports whether the
// number ends there and fits.
func (n *decimal) integer() bool {
	fits := true
	for d := n.digit(); d != 0; d = n.digit() {
		if fits = fits && n.push(d); !fits {
			n.exponent++
		}
		n.rest = n.rest[1:]
	}
	return fits && len(n.rest) == 0
}

// float reads the rest of the number and returns its value as serde_json
// computes it, which is not always the nearest float. It fails if the value is
// infinite.
func (n *decimal) float() (float64, bool) {
	if len(n.rest) > 0 && n.rest[0] == '.' {
		n.rest = n.rest[1:]
		fits := true
		for d := n.digit(); d != 0; d = n.digit() {
			if fits = fits && n.push(d); fits {
				n.exponent--
			}
			n.rest = n.rest[1:]
		}
	}
	if len(n.rest) == 0 {
		return scale(n.significand, n.exponent)
	}
	text := bytes.TrimPrefix(n.rest[1:], []byte("+"))
	power, err := strconv.ParseInt(string(text), 10, 32)
	if err != nil || power == math.MinInt32 { // the exponent does not fit into 31 bits
		return 0, n.significand == 0 || text[0] == '-'
	}
	return scale(n.significand, min(max(n.exponent+int(power), math.MinInt32), math.MaxInt32))
}

// scale returns significand times a power of ten, multiplied in floating point.
func scale(significand uint64, exponent int) (float64, bool) {
	f := float64(significand)
	for exponent < -maxPower && f != 0 {
		f /= powers[maxPower]
		exponent += maxPower
	}
	switch {
	case f == 0:
		return 0, true
	case exponent > maxPower:
		return 0, false
	case exponent < 0:
		return f / powers[-exponent], true
	}
	f *= powers[exponent]
	return f, !math.IsInf(f, 0)
}

const maxPower = 308

// powers holds the nearest floats of the powers of ten.
var powers = func() (p [maxPower + 1]float64) {
	for i := range p {
		p[i], _ = strconv.ParseFloat("1e"+strconv.Itoa(i), 64) // always in range
	}
	return p
}()

// appendFloat appends the shortest digits that parse as f: with an exponent if
// the value is under 1e-5 or at least 1e16, else with a point.
func appendFloat(dst []byte, f float64) []byte {
	a := math.Abs(f)
	if a != 0 && (a < 1e-5 || a >= 1e16) {
		text := strconv.AppendFloat(nil, f, 'e', -1, 64)
		digits, exponent, _ := bytes.Cut(text, []byte("e"))
		dst = append(append(dst, digits...), 'e', exponent[0])
		return append(dst, bytes.TrimLeft(exponent[1:], "0")...)
	}
	n := len(dst)
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	if bytes.IndexByte(dst[n:], '.') < 0 {
		dst = append(dst, ".0"...)
	}
	return dst
}
