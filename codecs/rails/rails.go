// Package rails is the design rails-encryptor: MessageEncryptor of Ruby on Rails with
// AES-256-GCM and the null serializer, as encrypted cookies use it (gem activesupport
// 6.1.7).
//
// Layout:
//
//	token    = base64(ciphertext) || "--" || base64(iv[12]) || "--" || base64(tag[16])
//	envelope = {"_rails":{"message":"base64(state)","exp":"2026-11-22T06:00:00.000Z","pur":purpose}}
//	ciphertext, tag = AES-256-GCM(secret, iv, envelope), without associated data
//
// base64 is padded and has the standard alphabet. The secret is the key itself
// and has exactly 32 bytes; Rails derives it from secret_key_base by PBKDF2.
// The first of the ring mints, each opens. exp is the time of minting plus the
// time to live, truncated to milliseconds, in UTC. A token is refused from exp
// on.
//
// Under the option purpose=none, the default, the purpose is null. Under
// purpose=target it is the target of the request.
//
// Under reading=sdk the scheme answers as the library does. After the tag, it
// ignores further parts after "--" if they are base64, and complete separators
// at the end. A plaintext without "_rails" is the state and never expires. A
// time has any form that Ruby's Time.iso8601 accepts. A number is a time too,
// as a Julian day, so that Unix seconds expire after five million years. Under
// reading=strict, the default, a token has three parts and an envelope as Mint
// writes it.
//
// Limits: a random 96-bit iv allows 2^32 tokens per key (NIST SP 800-38D, section 8.3).
//
// Limitations: no key separation, no commitment to the key, no nonce misuse
// resistance, no single use. Tokens have no key ID, so each key of the ring is
// tried.
package rails

import (
	"bytes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"sealab/codecs"
	"sealab/codecs/internal/framework"
	"sealab/codecs/internal/guarantee"
	"sealab/codecs/internal/keyring"
	"sealab/codecs/internal/rawjson"
	"sealab/internal/lab"
)

const (
	keySize   = 32
	nonceSize = 12
	tagSize   = 16
	timeForm  = "2006-01-02T15:04:05.000Z"
	separator = "--"

	optionPurpose = "purpose"
	purposeNone   = "none"
	purposeTarget = "target"
)

var (
	errMalformed   = codecs.Reject(codecs.Malformed, "malformed")
	errUnauthentic = codecs.Reject(codecs.Unauthentic, "tag")
	errEnvelope    = codecs.Reject(codecs.Malformed, "envelope")
	errPurpose     = codecs.Reject(codecs.Misbound, "purpose")
	errExpired     = codecs.Reject(codecs.Expired, "expired")
)

// A format is the encryptor under one key.
type format struct {
	aead    cipher.AEAD
	ttl     time.Duration
	purpose bool
	sdk     bool
}

func (f *format) SeedSize() int { return nonceSize }

func (f *format) Mint(dst, seed, state []byte, c *codecs.Context, edit lab.Edit) ([]byte, error) {
	if f.purpose && !utf8.ValidString(c.Target) {
		return dst, codecs.ErrUnsupported
	}
	if year := c.Now.Add(f.ttl).UTC().Year(); (year < 0 || year > 9999) && !f.sdk {
		return dst, codecs.ErrUnsupported // no reader accepts the time
	}
	nonce := edit.Apply(lab.StepNonce, seed)
	claims := edit.Give(lab.StepClaims, f.envelope(state, c.Now.Add(f.ttl), c.Target))
	if len(nonce) != nonceSize {
		return dst, codecs.ErrUnsupported
	}
	sealed := f.aead.Seal(nil, nonce, claims, nil)
	n := len(sealed) - tagSize
	return framework.Join(dst, edit, parts(sealed[:n], nonce, sealed[n:])...), nil
}

// envelope returns the JSON of the state with its metadata, as
// ActiveSupport::JSON encodes it. Like encoding/json it escapes <, > and &.
func (f *format) envelope(state []byte, until time.Time, target string) []byte {
	var purpose *string
	if f.purpose {
		purpose = &target
	}
	text, err := json.Marshal(map[string]any{"_rails": struct {
		Message []byte  `json:"message"`
		Exp     string  `json:"exp"`
		Pur     *string `json:"pur"`
	}{append([]byte{}, state...), until.UTC().Format(timeForm), purpose}})
	if err != nil {
		panic("rails: " + err.Error()) // strings and bytes always encode
	}
	return text
}

func parts(body, nonce, tag []byte) []framework.Part {
	e, sep := base64.StdEncoding, framework.Text(lab.WireSep, []byte(separator))
	return []framework.Part{
		framework.Encoded(e, lab.WireBody, body), sep, framework.Encoded(e, lab.WireNonce, nonce), sep, framework.Encoded(e, lab.WireTag, tag),
	}
}

// parse splits and decodes a token.
func parse(token []byte, sdk bool) (body, nonce, tag []byte, ok bool) {
	segments := bytes.Split(token, []byte(separator))
	for sdk && len(segments) > 0 && len(segments[len(segments)-1]) == 0 {
		segments = segments[:len(segments)-1]
	}
	if len(segments) < 3 || len(segments) > 3 && !sdk {
		return nil, nil, nil, false
	}
	var raw [3][]byte
	for i, s := range segments {
		decoded, ok := framework.Decode(base64.StdEncoding, s)
		if !ok {
			return nil, nil, nil, false
		}
		if i < len(raw) {
			raw[i] = decoded
		}
	}
	return raw[0], raw[1], raw[2], len(raw[0]) > 0 && len(raw[1]) == nonceSize && len(raw[2]) == tagSize
}

func (f *format) Open(dst, token []byte, c *codecs.Context) ([]byte, error) {
	body, nonce, tag, ok := parse(token, f.sdk)
	if !ok {
		return dst, errMalformed
	}
	claims, err := f.aead.Open(nil, nonce, append(body, tag...), nil)
	if err != nil {
		return dst, errUnauthentic
	}
	state, refused := f.judge(claims, c)
	if refused != nil {
		return dst, refused
	}
	return append(dst, state...), nil
}

// judge returns the state of an authentic plaintext.
func (f *format) judge(claims []byte, c *codecs.Context) ([]byte, *codecs.RejectError) {
	v, err := rawjson.Ruby.Parse(claims)
	inside := v.Lookup("_rails")
	if err != nil || v.Kind != rawjson.Object || inside == nil {
		if f.sdk && (!f.purpose || c.Target == "") {
			return claims, nil
		}
		return nil, errEnvelope
	}
	message, exp, purpose := inside.Lookup("message"), inside.Lookup("exp"), inside.Lookup("pur")
	if message == nil || message.Kind != rawjson.String {
		return nil, errEnvelope
	}
	state, ok := framework.Decode(base64.StdEncoding, message.Text)
	if !ok {
		return nil, errEnvelope
	}
	var until time.Time
	fresh := true
	switch {
	case exp == nil || exp.Kind == rawjson.Null:
	case exp.Kind == rawjson.Number:
		fresh = beforeDay(c.Now, exp)
	default:
		if until, ok = readTime(string(exp.Text)); !ok { // only the text of a string can be a time
			return nil, errEnvelope
		}
		fresh = c.Now.Before(until)
	}
	given := purposeOf(purpose)
	if !f.sdk && string(f.envelope(state, until, given)) != string(claims) {
		return nil, errEnvelope
	}
	switch want := c.Target; {
	case f.purpose && given != want, !f.purpose && given != "":
		return nil, errPurpose
	case !fresh:
		return nil, errExpired
	}
	return state, nil
}

// purposeOf returns a purpose as the library compares it. A number is its
// literal.
func purposeOf(v *rawjson.Value) string {
	switch {
	case v == nil || v.Kind == rawjson.Null:
		return ""
	case v.Kind == rawjson.String || v.Kind == rawjson.Number:
		return string(v.Text)
	}
	return string(v.Raw) // true, false, lists and objects, which are never ""
}

// epochDay is the number of seconds from the start of Julian day 0 to the Unix
// epoch.
const epochDay = 2_440_587*86_400 + 43_200

// beforeDay reports whether now is before a number that ActiveSupport compares
// with a time: a Julian day with a fraction.
func beforeDay(now time.Time, number *rawjson.Value) bool {
	since := new(big.Int).Add(big.NewInt(now.Unix()), big.NewInt(epochDay))
	since.Add(since.Mul(since, big.NewInt(1e9)), big.NewInt(int64(now.Nanosecond())))
	day := new(big.Rat).SetFrac(since, big.NewInt(86_400e9))
	if n, ok := new(big.Int).SetString(string(number.Text), 10); ok {
		return day.Cmp(new(big.Rat).SetInt(n)) < 0
	}
	at, _ := day.Float64()
	return at < number.Float()
}

// rubyTime matches the times that Ruby's Time.iso8601 reads.
var rubyTime = regexp.MustCompile(`(?i)^[\s\v]*(-?\d+)-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)((?:\.\d+)?)((?:Z|[+-]\d\d(?::?\d\d)?)?)[\s\v]*$`)

// readTime reads a time as Time.iso8601 does if the local time is UTC. A day up
// to 31 and 24:00:00 may belong to the next month or day. A fraction of a
// nanosecond is rounded up, so that a time in whole nanoseconds is before the
// result exactly if it is before the text.
func readTime(text string) (time.Time, bool) {
	parts := rubyTime.FindStringSubmatch(text)
	if parts == nil {
		return time.Time{}, false
	}
	var n [6]int // year to second
	for i := range n {
		n[i], _ = strconv.Atoi(parts[1+i]) // Atoi returns the largest integer if it is out of range
	}
	year, month, day, hour, minute, second := min(max(n[0], -9999), 9999), n[1], n[2], n[3], n[4], n[5]
	if month < 1 || month > 12 || day < 1 || day > 31 || minute > 59 || second > 60 || hour > 24 || hour == 24 && minute+second > 0 {
		return time.Time{}, false
	}
	fraction := strings.TrimPrefix(parts[7], ".") + "000000000"
	nanoseconds, _ := strconv.Atoi(fraction[:9])
	if strings.Trim(fraction[9:], "0") != "" {
		nanoseconds++
	}
	at := time.Date(year, time.Month(month), day, hour, minute, second, nanoseconds, time.UTC)
	if zone := strings.ReplaceAll(parts[8], ":", ""); len(zone) > 1 {
		hours, _ := strconv.Atoi(zone[:3]) // includes the sign
		minutes, _ := strconv.Atoi("0" + zone[3:])
		if zone[0] == '-' {
			minutes = -minutes
		}
		offset := time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute
		if offset.Abs() >= 24*time.Hour { // Time.localtime refuses it
			return time.Time{}, false
		}
		at = at.Add(-offset)
	}
	return at, true
}

// inspect splits a token into fields.
func inspect(token []byte) ([]lab.Field, error) {
	body, nonce, tag, ok := parse(token, false)
	if !ok {
		return nil, errors.New("not the ciphertext, iv and tag of a MessageEncryptor with AES-256-GCM")
	}
	return framework.Fields(nil, parts(body, nonce, tag)...), nil
}

// Design is the catalog row.
var Design = codecs.Design{
	Name:    "rails-encryptor",
	Doc:     "Rails' MessageEncryptor: AES-256-GCM with expiry and purpose inside",
	Spec:    "gem activesupport 6.1.7, ActiveSupport::MessageEncryptor and Messages::Metadata",
	Format:  "rails-encryptor",
	KeySize: keySize,
	Options: []codecs.Option{
		framework.Reading("the library"),
		{Name: optionPurpose, Doc: "the purpose that tokens are minted for and verified against", Values: []string{purposeNone, purposeTarget}},
	},
	Hooks: &lab.Hooks{Inspect: inspect, Other: "+/=", FewVectors: true, Allocates: "segments are decoded to buffers of their own"},
	NewScheme: framework.SchemeOpener(func(secret []byte, ttl time.Duration, options map[string]string) (framework.Format, error) {
		aead, err := keyring.AESGCM(secret)
		return &format{aead, ttl, options[optionPurpose] == purposeTarget, framework.IsSDK(options)}, err
	}),
	Guarantees: guarantees,
}

func guarantees(options map[string]string) []codecs.Guarantee {
	bindings := framework.Unbound("the format binds only a purpose")
	if options[optionPurpose] == purposeTarget {
		bindings = slices.DeleteFunc(bindings, func(g codecs.Guarantee) bool { return g.Property == codecs.BindsTarget })
		bindings = append(bindings, codecs.HoldsBecause(codecs.BindsTarget, "the purpose is the target")...)
	}
	expiry := codecs.Disclaims(codecs.Expiry, "the format has no time of issue, so a token from a clock that runs ahead is accepted")
	return slices.Concat(bindings, framework.Canonical(options, "parts after the tag and separators at the end are ignored"), expiry,
		codecs.Holds(codecs.Integrity, codecs.Confidentiality, codecs.UniformRefusal, codecs.Total, codecs.ByteExact, codecs.PrivateKeys, codecs.Rotation),
		codecs.HoldsBecause(codecs.Inert, "with the null serializer; the default of Rails 6, Marshal, runs code after authentication"),
		codecs.HoldsBecause(codecs.StrongKeys, "keys of exactly 32 bytes"),
		guarantee.AESTiming, guarantee.Nonce96, guarantee.GCMTwoKeys, guarantee.RepeatedStream,
		guarantee.KeyItself, guarantee.Symmetric, guarantee.Stateless,
	)
}
