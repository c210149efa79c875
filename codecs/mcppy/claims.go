package mcppy

import (
	"math"
	"math/big"

	"sealab/codecs/internal/compactjson"
	"sealab/codecs/internal/rawjson"
)

// claims are the members of a payload. Texts are generalized UTF-8.
type claims struct {
	issued, expires   []byte // as Python prints them
	method, target    string
	digest, principal []byte // quoted strings; principal is nil if unauthenticated
	state             []byte
	audience          *string
}

// append appends the payload with the claims of c. It reports whether the state
// and the names are WTF-8: only then does the payload preserve their bytes.
func (c *claims) append(dst []byte) ([]byte, bool) {
	dst = append(append(dst, beforeIssued...), c.issued...)
	dst = append(append(dst, beforeExpires...), c.expires...)
	dst, names := appendNames(dst, c.method, c.target)
	dst = append(dst, c.digest...)
	dst, state := compactjson.AppendWTF8(append(dst, beforeState...), c.state)
	dst, audience := appendAudience(dst, c.audience)
	if c.principal != nil {
		dst = append(append(dst, beforePrincipal...), c.principal...)
	}
	//mutant:equivalent vectors present tokens, and all of them are minted from text
	return append(dst, '}'), names && state && audience
}

// The text before each claim.
const (
	beforeIssued    = `{"v":1,"iat":`
	beforeExpires   = `,"exp":`
	beforeState     = `,"s":`
	beforePrincipal = `,"p":`
)

// appendNames appends the claims between the expiry and the digest. It reports
// whether the names are WTF-8.
func appendNames(dst []byte, method, target string) ([]byte, bool) {
	dst, first := compactjson.AppendText(append(dst, `,"m":`...), method)
	dst, second := compactjson.AppendText(append(dst, `,"t":`...), target)
	//mutant:equivalent vectors present tokens, and all of them are minted from text
	return append(dst, `,"a":`...), first && second
}

// appendAudience appends the claim of an audience unless it is nil. It reports
// whether the audience is WTF-8.
func appendAudience(dst []byte, audience *string) ([]byte, bool) {
	if audience == nil {
		return dst, true
	}
	return compactjson.AppendText(append(dst, `,"aud":`...), *audience)
}

// longestFloat is the maximum length in bytes of a float that Python prints.
const longestFloat = 24

// received holds the parsed claims of a payload; absent ones are nil.
type received struct{ version, issued, expires, method, target, digest, state, audience, principal *rawjson.Value }

// receive collects the claims in an object. The last member of a name counts.
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

// isOne reports whether Python compares a value equal to 1. It does for true,
// 1.0 and 1e0.
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

// A numeral is a Python number: an integer of any size, or a float. It is NaN
// for a value that is not a number, so that every comparison with it is false.
type numeral struct {
	float float64    // the nearest float; the exact value if exact is nil
	exact *big.Float // an integer that a float may not hold exactly
}

// nothing is the numeral of a value that is not a number.
var nothing = numeral{float: math.NaN()}

// maxExact is the number of digits up to which a float holds every integer.
const maxExact = 15

// number returns a claim as the numeral that Python compares with a float. Like
// isinstance(v, int | float), it also takes true and false.
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
	n := numeral{float: rawjson.ParseFloat(literal)}
	if len(literal) <= maxExact || compactjson.IsFloat(literal) {
		return n
	}
	if i, ok := new(big.Int).SetString(string(literal), 10); ok {
		n.exact = new(big.Float).SetInt(i) // with no precision set, the conversion is exact
	}
	return n
}

// isTime reports whether the strict reading accepts n as a time: it must be
// finite and exact as a float.
func (n numeral) isTime() bool { return n.exact == nil && math.Abs(n.float) <= math.MaxFloat64 }

// atMost reports whether n <= f. f must be finite.
func (n numeral) atMost(f float64) bool {
	if n.exact != nil {
		return n.exact.Cmp(big.NewFloat(f)) <= 0
	}
	return n.float <= f
}

// over reports whether n > f. f must be finite.
func (n numeral) over(f float64) bool {
	if n.exact != nil {
		return n.exact.Cmp(big.NewFloat(f)) > 0
	}
	return n.float > f
}

// is reports whether n == f. f must be finite.
func (n numeral) is(f float64) bool {
	if n.exact != nil {
		return n.exact.Cmp(big.NewFloat(f)) == 0
	}
	return n.float == f
}
