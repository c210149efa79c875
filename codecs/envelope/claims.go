package envelope

import (
	"math"
	"math/big"

	"sealab/codecs/envelope/compactjson"
	"sealab/codecs/rawjson"
)

// claims are what a token says beside its state. Text is generalised UTF-8.
type claims struct {
	issued, expires        []byte // as Python prints them
	method, target, digest []byte
	state                  []byte
	hasAudience            bool
	audience               []byte
	principal              []byte // the claim's text; nil: unauthenticated
}

// append appends the payload that stands for c.
func (c *claims) append(dst []byte) []byte {
	dst = append(append(dst, `{"v":1,"iat":`...), c.issued...)
	dst = append(append(dst, `,"exp":`...), c.expires...)
	dst = compactjson.AppendString(append(dst, `,"m":`...), c.method)
	dst = compactjson.AppendString(append(dst, `,"t":`...), c.target)
	dst = compactjson.AppendString(append(dst, `,"a":`...), c.digest)
	dst = compactjson.AppendString(append(dst, `,"s":`...), c.state)
	if c.hasAudience {
		dst = compactjson.AppendString(append(dst, `,"aud":`...), c.audience)
	}
	if c.principal != nil {
		dst = compactjson.AppendString(append(dst, `,"p":`...), c.principal)
	}
	return append(dst, '}')
}

// areText reports whether a payload can hold the state and the names so that they
// come back as the same bytes.
func (c *claims) areText() bool {
	for _, text := range [][]byte{c.state, c.method, c.target, c.audience} {
		if !rawjson.ValidWTF8(text) {
			return false
		}
	}
	return true
}

// longestFloat is the room in bytes that a float takes as Python prints it.
const longestFloat = 24

// received are the claims of a payload as they came, nil where absent.
type received struct{ version, issued, expires, method, target, digest, state, audience, principal *rawjson.Value }

// receive takes the claims out of an object. The last member of a name counts.
func receive(members []rawjson.Member) (r received) {
	for i := range members {
		value := &members[i].Value
		switch string(members[i].Name) {
		case "v":
			r.version = value
		case "iat":
			r.issued = value
		case "exp":
			r.expires = value
		case "m":
			r.method = value
		case "t":
			r.target = value
		case "a":
			r.digest = value
		case "s":
			r.state = value
		case "aud":
			r.audience = value
		case "p":
			r.principal = value
		}
	}
	return r
}

// isOne reports whether Python holds a value equal to 1, as it does true, 1.0
// and 1e0.
func isOne(v *rawjson.Value) bool {
	switch v.Kind {
	case rawjson.True:
		return true
	case rawjson.Number:
		return number(v).is(1)
	default:
		return false
	}
}

// A numeral is a number of Python: an integer of any size, or a float. NaN
// stands for what compares with nothing.
type numeral struct {
	float float64    // the nearest float, and the number itself where exact is nil
	exact *big.Float // an integer that may not be a float
}

// nothing is what is no number.
var nothing = numeral{float: math.NaN()}

// maxExact is the number of digits of integers that all are floats.
const maxExact = 15

// number returns a claim as Python compares it with a float: isinstance(v, int
// | float), which true and false are too.
func number(v *rawjson.Value) numeral {
	switch v.Kind {
	case rawjson.True:
		return numeral{float: 1}
	case rawjson.False:
		return numeral{float: 0}
	case rawjson.Number:
		return parseNumeral(v.Text)
	default:
		return nothing
	}
}

func parseNumeral(literal []byte) numeral {
	n := numeral{float: compactjson.ParseFloat(literal)}
	if len(literal) <= maxExact || compactjson.IsFloat(literal) {
		return n
	}
	if i, ok := new(big.Int).SetString(string(literal), 10); ok {
		n.exact = new(big.Float).SetInt(i) // with no precision set, the conversion is exact
	}
	return n
}

// isTime reports whether n may be a time in the strict reading: finite, and
// exact as a float.
func (n numeral) isTime() bool { return n.exact == nil && math.Abs(n.float) <= math.MaxFloat64 }

// atMost reports whether n <= f, which is finite.
func (n numeral) atMost(f float64) bool {
	if n.exact != nil {
		return n.exact.Cmp(big.NewFloat(f)) <= 0
	}
	return n.float <= f
}

// over reports whether n > f, which is finite.
func (n numeral) over(f float64) bool {
	if n.exact != nil {
		return n.exact.Cmp(big.NewFloat(f)) > 0
	}
	return n.float > f
}

// is reports whether n == f, which is finite.
func (n numeral) is(f float64) bool {
	if n.exact != nil {
		return n.exact.Cmp(big.NewFloat(f)) == 0
	}
	return n.float == f
}
