package signedjson

import (
	"bytes"
	"strconv"
	"time"
	"unicode/utf8"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/framework"
	"sealab/codecs/internal/layouts"
	"sealab/codecs/internal/mac"
	"sealab/codecs/internal/rawjson"
)

// php is the format of the PHP SDK.
type php struct {
	ofText
	ttl      time.Duration
	faithful bool
}

// newPHP returns the scheme for a Config that PHP has completed.
func newPHP(c codecs.Config) (*scheme, error) {
	return newScheme(c, time.Second, func(ttl time.Duration, faithful bool) format { return php{ttl: ttl, faithful: faithful} })
}

// The refusals, with the messages of the SDK's exceptions.
var (
	errMalformed = codecs.Reject(codecs.Malformed, "malformed")
	errMAC       = codecs.Reject(codecs.Unauthentic, "mac")
	errExpired   = codecs.Reject(codecs.Expired, "expired")
)

func (php) label() []byte { return nil }
func (php) seedSize() int { return 0 }

func (f php) claims(dst, _, state []byte, c *codecs.Context) ([]byte, error) {
	if !utf8.Valid(state) {
		return dst, codecs.ErrUnsupported
	}
	return appendPHP(dst, c.Now.Unix()+int64(f.ttl/time.Second), state), nil
}

func appendPHP(dst []byte, expires int64, state []byte) []byte {
	dst = strconv.AppendInt(append(dst, `{"exp":`...), expires, 10)
	return append(framework.PHPQuoting.Append(append(dst, `,"data":{"s":`...), state), "}}"...)
}

func (f php) open(dst, token []byte, c *codecs.Context, keys mac.Ring) ([]byte, error) {
	body, segment, ok := bytes.Cut(token, []byte(layouts.Separator))
	if !ok || bytes.Contains(segment, []byte(layouts.Separator)) {
		return dst, errMalformed
	}
	room := base64url.GetScratch()
	defer room.Free()
	if !f.decode(room, segment) || len(room.Bytes) != mac.Size {
		return dst, errMAC
	}
	if !keys.Verify(room.Bytes, f.label(), body) {
		return dst, errMAC
	}
	room.Bytes = room.Bytes[:0]
	if !f.decode(room, body) {
		return dst, errMalformed
	}
	expires, data, ok := readPHP(room.Bytes)
	if !ok {
		return dst, errMalformed
	}
	state := data.Lookup("s")
	isText := state != nil && state.Kind == rawjson.String
	if !f.faithful && (!isText || !bytes.Equal(appendPHP(nil, expires, state.Text), room.Bytes)) {
		return dst, errMalformed
	}
	if expires < c.Now.Unix() {
		return dst, errExpired
	}
	if !isText {
		return dst, codecs.ErrUnsupported // the SDK accepts the token, but its data hold no text
	}
	return append(dst, state.Text...), nil
}

// readPHP reads the claims as json_decode does, and checks the types of exp and
// data.
func readPHP(text []byte) (expires int64, data *rawjson.Value, ok bool) {
	v, err := rawjson.PHP.Parse(text)
	if err != nil || !utf8.Valid(text) || !v.IsUTF8() {
		return 0, nil, false
	}
	exp, data := v.Lookup("exp"), v.Lookup("data")
	if exp == nil || exp.Kind != rawjson.Number || data == nil || data.Kind != rawjson.Object && data.Kind != rawjson.Array {
		return 0, nil, false
	}
	expires, err = strconv.ParseInt(string(exp.Text), 10, 64)
	return expires, data, err == nil
}

// decode appends the decoded segment to room.
func (f php) decode(room *base64url.Scratch, segment []byte) bool {
	return room.Decode(segment) || f.faithful && lenient(room, segment)
}

// lenient decodes as base64_decode does in its strict mode, with - and _ for +
// and /.
func lenient(room *base64url.Scratch, segment []byte) bool {
	segment = bytes.ReplaceAll(segment, []byte("-"), []byte("+"))
	segment = bytes.ReplaceAll(segment, []byte("_"), []byte("/"))
	out, ok := framework.PHPDecode(room.Bytes, segment)
	room.Bytes = out
	return ok
}
