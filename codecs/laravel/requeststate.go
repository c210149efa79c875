package laravel

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"sealab/codecs"
	"sealab/codecs/internal/framework"
	"sealab/codecs/internal/rawjson"
	"sealab/internal/lab"
)

// The refusals of the requestState. The original server sends them to its
// client.
var (
	errClaims  = codecs.Reject(codecs.Malformed, "claims")
	errScope   = codecs.Reject(codecs.Misbound, "different request")
	errExpired = codecs.Reject(codecs.Expired, "expired")
)

// requestState is the format of mcp-laravel under one key.
type requestState struct {
	*encrypter
	ttl time.Duration
}

const (
	beforeScope   = `a:4:{s:5:"scope";s:64:"`
	beforeExpires = `";s:9:"expiresAt";i:`
	beforeState   = `;s:14:"inputResponses";a:0:{}s:5:"state";a:1:{s:1:"s";s:`
	afterState    = `";}}`
)

// Mint implements framework.Format.
func (r *requestState) Mint(dst, seed, state []byte, c *codecs.Context, edit lab.Edit) ([]byte, error) {
	scope, err := scopeOf(c)
	if err != nil {
		return dst, codecs.ErrUnsupported
	}
	claims := serialize(scope, c.Now.Unix()+int64(r.ttl/time.Second), state)
	return r.seal(dst, seed, edit.Give(lab.StepClaims, claims), edit)
}

func serialize(scope string, expires int64, state []byte) []byte {
	return fmt.Appendf(nil, "%s%s%s%d%s%d:\"%s%s", beforeScope, scope, beforeExpires, expires, beforeState, len(state), state, afterState)
}

// Open implements framework.Format.
func (r *requestState) Open(dst, token []byte, c *codecs.Context) ([]byte, error) {
	claims, refused := r.open(token)
	if refused != nil {
		return dst, refused
	}
	scope, expires, state, ok := unserialize(claims)
	if !ok {
		return dst, errClaims
	}
	if want, err := scopeOf(c); err != nil || scope != want {
		return dst, errScope
	}
	if expires < c.Now.Unix() {
		return dst, errExpired
	}
	return append(dst, state...), nil
}

// unserialize parses a plaintext as serialize writes it.
func unserialize(claims []byte) (scope string, expires int64, state []byte, ok bool) {
	rest, ok1 := bytes.CutPrefix(claims, []byte(beforeScope))
	text, rest, ok2 := bytes.Cut(rest, []byte(beforeExpires))
	number, rest, ok3 := bytes.Cut(rest, []byte(beforeState))
	_, rest, ok4 := bytes.Cut(rest, []byte(`:"`))
	state, ok5 := bytes.CutSuffix(rest, []byte(afterState))
	expires, err := strconv.ParseInt(string(number), 10, 64)
	if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 || err != nil || !bytes.Equal(serialize(string(text), expires, state), claims) {
		return "", 0, nil, false
	}
	return string(text), expires, state, true
}

// errArguments reports a context that PHP or this package cannot digest.
var errArguments = errors.New("no digest")

// scopeOf returns the digest of the request.
func scopeOf(c *codecs.Context) (string, error) {
	name, uri := []byte("null"), []byte("null")
	target := framework.PHPQuoting.AppendText(nil, c.Target)
	if c.Method == "resources/read" {
		uri = target
	} else {
		name = target
	}
	principal := []byte("null")
	if c.Principal != nil {
		principal = framework.PHPQuoting.AppendText(nil, *c.Principal)
	}
	//mutant:equivalent a vector's context cannot hold the bytes
	if !utf8.ValidString(c.Method) || !utf8.ValidString(c.Target) || c.Principal != nil && !utf8.ValidString(*c.Principal) {
		return "", errArguments
	}
	text := append(framework.PHPQuoting.AppendText([]byte("["), c.Method), ',')
	text = append(append(append(append(text, name...), ','), uri...), ',')
	text, err := appendArguments(text, c.Arguments)
	if err != nil {
		return "", err
	}
	text = append(append(append(text, ','), principal...), ']')
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// appendArguments appends the canonical JSON of raw arguments, which must be an
// object.
func appendArguments(dst, raw []byte) ([]byte, error) {
	if raw == nil {
		return append(dst, "[]"...), nil
	}
	v, err := rawjson.Dialect{MaxDepth: 500}.Parse(raw)
	if err != nil ||
		!utf8.Valid(raw) { //mutant:equivalent a vector's context cannot hold the bytes
		return dst, errArguments
	}
	entries, err := phpArray(&v)
	isObject := v.Kind == rawjson.Object || v.Kind == rawjson.Array
	if err != nil || !isObject || len(entries) > 0 && isList(entries) {
		return dst, errArguments
	}
	return appendPHP(dst, &v)
}

// An entry is a member of a PHP array. Its key is an integer or a text.
type entry struct {
	isInt bool
	index int64
	name  []byte
	value *rawjson.Value
}

// phpArray returns the members of an array or object, sorted as ksort does.
func phpArray(v *rawjson.Value) ([]entry, error) {
	var all []entry
	for i := range v.Items {
		all = append(all, entry{isInt: true, index: int64(i), value: &v.Items[i]})
	}
	integers := 0
	for _, m := range rawjson.ByName(v.Members) {
		e := entry{name: m.Name, value: &m.Value}
		if n, err := strconv.ParseInt(string(m.Name), 10, 64); err == nil && strconv.FormatInt(n, 10) == string(m.Name) {
			e.isInt, e.index = true, n
			integers++
		} else if isNumeric(m.Name) || !utf8.Valid(m.Name) {
			return nil, errArguments
		}
		all = append(all, e)
	}
	if integers > 0 && integers < len(all) {
		return nil, errArguments
	}
	slices.SortStableFunc(all, func(a, b entry) int {
		if a.isInt {
			return cmp.Compare(a.index, b.index)
		}
		return bytes.Compare(a.name, b.name)
	})
	return all, nil
}

// isNumeric reports whether PHP may compare a name as a number.
func isNumeric(name []byte) bool {
	text := strings.Trim(string(name), " \t\n\r\v\f")
	_, err := strconv.ParseFloat(text, 64)
	return text != "" && (err == nil || errors.Is(err, strconv.ErrRange)) && !strings.ContainsAny(text, "xXnN_pP")
}

func isList(entries []entry) bool {
	for i, e := range entries {
		if !e.isInt || e.index != int64(i) {
			return false
		}
	}
	return true
}

// appendPHP appends a value as json_encode writes it after json_decode and ksort.
func appendPHP(dst []byte, v *rawjson.Value) ([]byte, error) {
	switch v.Kind {
	case rawjson.Null:
		return append(dst, "null"...), nil
	case rawjson.True:
		return append(dst, "true"...), nil
	case rawjson.False:
		return append(dst, "false"...), nil
	case rawjson.String:
		if !utf8.Valid(v.Text) {
			return dst, errArguments
		}
		return framework.PHPQuoting.Append(dst, v.Text), nil
	case rawjson.Number:
		return appendNumber(dst, v)
	}
	entries, err := phpArray(v)
	if err != nil {
		return dst, err
	}
	list := isList(entries)
	opening, closing := byte('{'), byte('}')
	if list {
		opening, closing = '[', ']'
	}
	dst = append(dst, opening)
	for i, e := range entries {
		if i > 0 {
			dst = append(dst, ',')
		}
		if e.isInt && !list {
			dst = append(strconv.AppendInt(append(dst, '"'), e.index, 10), `":`...)
		} else if !list {
			dst = append(framework.PHPQuoting.Append(dst, e.name), ':')
		}
		if dst, err = appendPHP(dst, e.value); err != nil {
			return dst, err
		}
	}
	return append(dst, closing), nil
}

// appendNumber appends a 64-bit integer, or the shortest text of a float.
func appendNumber(dst []byte, v *rawjson.Value) ([]byte, error) {
	if n, err := strconv.ParseInt(string(v.Text), 10, 64); err == nil {
		return strconv.AppendInt(dst, n, 10), nil
	}
	f := v.Float()
	if math.IsInf(f, 0) {
		return dst, errArguments
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
	power, _ := strconv.Atoi(exponent) // FormatFloat wrote it
	if f == 0 || -5 < power && power < 17 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64), nil
	}
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	return fmt.Appendf(dst, "%se%+d", mantissa, power), nil
}
