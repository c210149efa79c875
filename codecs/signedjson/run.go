package signedjson

import (
	"bytes"
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/framework"
	"sealab/codecs/internal/layouts"
	"sealab/codecs/internal/mac"
	"sealab/codecs/internal/rawjson"
)

const (
	nonceSize  = 16
	skewMs     = 60_000
	maxToken   = 32 << 20
	maxInteger = 1<<53 - 1
)

// run is the format of the npm package.
type run struct {
	ofText
	maxAge int64 // milliseconds
	json   bool  // the state is JSON, not text
}

// newRun returns the scheme for a Config that Run has completed.
func newRun(c codecs.Config) (*scheme, error) {
	return newScheme(c, time.Millisecond, func(ttl time.Duration, _ bool) format {
		return run{maxAge: ttl.Milliseconds(), json: framework.IsJSON(c.Options)}
	})
}

// The refusals, with the messages of the library's errors.
var (
	errTooLong   = codecs.Reject(codecs.Malformed, "Continuation token exceeds the 33554432 byte size limit.")
	errToken     = codecs.Reject(codecs.Malformed, "Continuation token is malformed.")
	errPayload   = codecs.Reject(codecs.Malformed, "Continuation payload is malformed.")
	errSignature = codecs.Reject(codecs.Unauthentic, "Continuation signature is invalid.")
	errEnvelope  = codecs.Reject(codecs.Malformed, "Continuation envelope is invalid.")
	errNumber    = codecs.Reject(codecs.Malformed, "Continuation contains a non-JSON value.")
	errCanonical = codecs.Reject(codecs.Malformed, "Continuation payload is not canonically encoded.")
	errOld       = codecs.Reject(codecs.Expired, "Continuation has expired.")
	errFuture    = codecs.Reject(codecs.Expired, "Continuation was issued in the future.")
	errLifetime  = codecs.Reject(codecs.Expired, "Continuation lifetime is invalid.")
)

var runLabel = []byte("run.continuation.v1\x00")

func (run) label() []byte { return runLabel }
func (run) seedSize() int { return nonceSize }

// canonical prints values with members sorted by UTF-16 code units.
var canonical = &rawjson.Printer{Quoting: rawjson.Stringify.Quoting, Number: rawjson.Stringify.Number, Members: func(members []rawjson.Member) []rawjson.Member {
	sorted := slices.Clone(rawjson.FirstPlaces(members))
	slices.SortFunc(sorted, func(a, b rawjson.Member) int { return slices.Compare(units(a.Name), units(b.Name)) })
	return sorted
}}

// units returns the UTF-16 code units of a text, which may have lone surrogates.
func units(text []byte) []uint16 {
	var out []uint16
	for len(text) > 0 {
		r, n := rawjson.DecodeRune(text)
		if r < 0x10000 {
			out = append(out, uint16(r))
		} else {
			out = utf16.AppendRune(out, r)
		}
		text = text[n:]
	}
	return out
}

func (f run) claims(dst, seed, state []byte, c *codecs.Context) ([]byte, error) {
	now := framework.Milliseconds(c.Now)
	if now < -maxInteger || now > maxInteger-f.maxAge {
		return dst, codecs.ErrUnsupported
	}
	value, ok := f.fromState(state)
	if !ok {
		return dst, codecs.ErrUnsupported
	}
	dst = strconv.AppendInt(append(dst, `{"algorithm":"HS256","expiresAtMs":`...), now+f.maxAge, 10)
	dst = strconv.AppendInt(append(dst, `,"format":"run-continuation","issuedAtMs":`...), now, 10)
	dst = hex.AppendEncode(append(dst, `,"nonce":"`...), seed)
	return append(append(append(dst, `","state":`...), value...), `,"version":1}`...), nil
}

// fromState returns the canonical JSON of the object that carries a state.
//
//mutant:equivalent vectors mint from states that the format carries
func (f run) fromState(state []byte) ([]byte, bool) {
	dst := []byte(`{"s":`)
	if !f.json {
		return append(rawjson.Stringify.Append(dst, state), '}'), utf8.Valid(state)
	}
	v, err := rawjson.Parse(state)
	return append(canonical.AppendValue(dst, &v), '}'), err == nil && utf8.Valid(state) && isFinite(&v)
}

// toState appends the state of an object to dst. It returns
// codecs.ErrUnsupported for other values that the library accepts.
func (f run) toState(dst []byte, v *rawjson.Value) ([]byte, error) {
	state := v.Lookup("s")
	if state == nil || len(rawjson.FirstPlaces(v.Members)) != 1 {
		return dst, codecs.ErrUnsupported
	}
	if f.json {
		return rawjson.Stringify.AppendValue(dst, state), nil
	}
	if state.Kind != rawjson.String || !utf8.Valid(state.Text) {
		return dst, codecs.ErrUnsupported
	}
	return append(dst, state.Text...), nil
}

// isFinite reports whether every number in v is in the range of a float.
func isFinite(v *rawjson.Value) bool {
	if v.Kind == rawjson.Number {
		return !math.IsInf(v.Float(), 0)
	}
	for i := range v.Items {
		if !isFinite(&v.Items[i]) {
			return false
		}
	}
	for _, m := range rawjson.FirstPlaces(v.Members) {
		if !isFinite(&m.Value) {
			return false
		}
	}
	return true
}

func (f run) open(dst, token []byte, c *codecs.Context, keys mac.Ring) ([]byte, error) {
	//mutant:equivalent no vector is as long
	if len(token) > maxToken {
		return dst, errTooLong
	}
	dot := layouts.LastSeparator(token)
	if dot <= 0 {
		return dst, errToken
	}
	room, tag := base64url.GetScratch(), base64url.GetScratch()
	defer room.Free()
	defer tag.Free()
	if !room.Decode(token[:dot]) {
		return dst, errPayload
	}
	if !tag.Decode(token[dot+1:]) {
		return dst, errSignature
	}
	if !keys.Verify(tag.Bytes, f.label(), token[:dot]) {
		return dst, errSignature
	}
	v, err := rawjson.Parse(bytes.ToValidUTF8(room.Bytes, []byte("\ufffd")))
	if err != nil {
		return dst, errPayload
	}
	issued, expires, ok := readRun(&v)
	if !ok {
		return dst, errEnvelope
	}
	if !isFinite(&v) {
		return dst, errNumber
	}
	if !bytes.Equal(canonical.AppendValue(make([]byte, 0, len(room.Bytes)), &v), room.Bytes) {
		return dst, errCanonical
	}
	now := float64(framework.Milliseconds(c.Now))
	switch {
	case expires <= now:
		return dst, errOld
	case issued > now+skewMs:
		return dst, errFuture
	case expires-issued > float64(f.maxAge):
		return dst, errLifetime
	}
	return f.toState(dst, v.Lookup("state"))
}

// readRun checks the envelope and returns its times.
func readRun(v *rawjson.Value) (issued, expires float64, ok bool) {
	names := []string{"algorithm", "expiresAtMs", "format", "issuedAtMs", "nonce", "state", "version"}
	if v.Kind != rawjson.Object || len(rawjson.FirstPlaces(v.Members)) != len(names) {
		return 0, 0, false
	}
	for _, name := range names {
		if v.Lookup(name) == nil {
			return 0, 0, false
		}
	}
	issued, okIssued := safeInteger(v.Lookup("issuedAtMs"))
	expires, okExpires := safeInteger(v.Lookup("expiresAtMs"))
	version, okVersion := safeInteger(v.Lookup("version"))
	state := v.Lookup("state").Kind
	return issued, expires, okIssued && okExpires && expires > issued && okVersion && version == 1 &&
		v.Lookup("format").IsString("run-continuation") && v.Lookup("algorithm").IsString("HS256") &&
		isNonce(v.Lookup("nonce")) && (state == rawjson.Object || state == rawjson.Array)
}

// safeInteger returns a number that JavaScript holds exactly as an integer.
func safeInteger(v *rawjson.Value) (float64, bool) {
	if v.Kind != rawjson.Number {
		return 0, false
	}
	f := v.Float()
	return f, f == math.Trunc(f) && math.Abs(f) <= maxInteger
}

func isNonce(v *rawjson.Value) bool {
	if v.Kind != rawjson.String || len(v.Text) != 2*nonceSize {
		return false
	}
	return len(bytes.Trim(v.Text, "0123456789abcdef")) == 0
}
