package envelope

import (
	"math/big"

	"sealab/codecs/envelope/compactjson"
	"sealab/codecs/rawjson"
)

// claims are what a token says beside its state. Text is generalised UTF-8.
type claims struct {
	issued, expires        float64
	method, target, digest []byte
	state                  []byte
	hasAudience            bool
	audience               []byte
	principal              []byte // the claim's text; nil: unauthenticated
}

// append appends the payload that stands for c.
func (c *claims) append(dst []byte) []byte {
	dst = append(dst, `{"v":1,"iat":`...)
	dst = compactjson.AppendFloat(dst, c.issued)
	dst = append(dst, `,"exp":`...)
	dst = compactjson.AppendFloat(dst, c.expires)
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

// object is a parsed payload: the claims as they came.
type object struct{ rawjson.Value }

// isOne reports whether Python holds a value equal to 1, as it does true, 1.0
// and 1e0.
func isOne(v *rawjson.Value) bool {
	switch v.Kind {
	case rawjson.True:
		return true
	case rawjson.Number:
		return number(v).compare(1) == 0
	default:
		return false
	}
}

// A numeral is a number of Python: an integer of any size, or a float. The zero
// numeral compares with nothing, as NaN does.
type numeral struct{ exact *big.Float }

// incomparable is what comparing with NaN, or with what is no number, gives.
const incomparable = 2

// number returns a claim as Python compares it with a float: isinstance(v, int
// | float), which true and false are too.
func number(v *rawjson.Value) numeral {
	switch v.Kind {
	case rawjson.True:
		return numeral{big.NewFloat(1)}
	case rawjson.False:
		return numeral{big.NewFloat(0)}
	case rawjson.Number:
		return parseNumeral(v.Text)
	default:
		return numeral{}
	}
}

func parseNumeral(literal []byte) numeral {
	if compactjson.IsFloat(literal) {
		f := compactjson.ParseFloat(literal)
		if f != f {
			return numeral{}
		}
		return numeral{big.NewFloat(f)}
	}
	i, ok := new(big.Int).SetString(string(literal), 10)
	if !ok {
		return numeral{}
	}
	return numeral{new(big.Float).SetInt(i)} // with no precision set, the conversion is exact
}

// compare returns -1, 0 or 1 as n is under, at or over f, or incomparable. f is
// finite.
func (n numeral) compare(f float64) int {
	if n.exact == nil {
		return incomparable
	}
	return n.exact.Cmp(big.NewFloat(f))
}

// float returns the nearest float.
func (n numeral) float() float64 {
	if n.exact == nil {
		return 0
	}
	f, _ := n.exact.Float64()
	return f
}
