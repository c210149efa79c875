package signedtext

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"time"

	"sealab/codecs"
	"sealab/codecs/internal/framework"
	"sealab/codecs/internal/guarantee"
	"sealab/internal/lab"
)

// lastSecond is the end of the year 9999, the maximum of Python's datetime.
const lastSecond = 253402300799

var itsdangerous = &style{
	separator: ".", salt: "itsdangerous", newHash: sha1.New,
	appendTime: func(dst []byte, seconds int64) []byte {
		at := bytes.TrimLeft(binary.BigEndian.AppendUint64(nil, uint64(seconds)), "\x00")
		return base64.RawURLEncoding.AppendEncode(dst, at)
	},
	readTime: func(text []byte, sdk bool) (float64, bool) {
		raw, ok := framework.DecodeURL(text)
		if sdk {
			raw, ok = framework.PythonDecode(framework.Padded(text))
		}
		if !ok || len(raw) > 8 || !sdk && (len(raw) == 0 || raw[0] == 0) {
			return 0, false
		}
		seconds := binary.BigEndian.Uint64(append(make([]byte, 8-len(raw)), raw...))
		return float64(seconds), seconds <= lastSecond
	},
	decode:  func(signature []byte) ([]byte, bool) { return framework.PythonDecode(framework.Padded(signature)) },
	last:    lastSecond,
	unicode: true,
}

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

var django = &style{
	separator: ":", salt: "django.core.signing", newHash: sha256.New,
	appendTime: func(dst []byte, seconds int64) []byte {
		n := len(dst)
		for ; seconds > 0; seconds /= 62 {
			dst = append(dst, base62[seconds%62])
		}
		slices.Reverse(dst[n:])
		return dst
	},
	readTime: readBase62,
	decode:   framework.DecodeURL,
	future:   true, fraction: true, latin1: true,
}

// readBase62 reads a time. The library accepts leading zeros and a sign; a sign
// alone is zero.
func readBase62(text []byte, sdk bool) (float64, bool) {
	if len(text) == 0 {
		return 0, false
	}
	sign := 1.0
	if rest, minus := bytes.CutPrefix(text, []byte("-")); sdk && minus {
		text, sign = rest, -1
	}
	if !sdk && (text[0] == '0' || len(text) > 10) {
		return 0, false
	}
	seconds := 0.0
	for _, c := range text {
		digit := strings.IndexByte(base62, c)
		if digit < 0 {
			return 0, false
		}
		seconds = seconds*62 + float64(digit)
	}
	return sign * seconds, !math.IsInf(seconds, 0) // Python cannot convert larger integers
}

// The catalog rows.
var (
	Itsdangerous = itsdangerous.design("itsdangerous", "itsdangerous: readable JSON with its time, signed with HMAC-SHA1",
		"PyPI itsdangerous 2.2.0, URLSafeTimedSerializer", "", func(options map[string]string) []codecs.Guarantee {
			return slices.Concat(framework.Canonical(options, "Python's base64 decoder reads the signature: it skips foreign characters and ignores spare bits and everything after the padding"),
				codecs.Disclaims(codecs.Expiry, "ages are whole seconds: a token is still accepted during the second in which it expires"),
				codecs.Disclaims(codecs.KeyCommitting, "the key is derived by SHA-1, for which collisions can be computed"),
			)
		})
	Django = django.design("django-signing", "Django's signing.dumps: readable JSON with its time, signed with HMAC-SHA256",
		"PyPI Django 5.2.19, django.core.signing", ":", func(map[string]string) []codecs.Guarantee {
			return slices.Concat(codecs.HoldsBecause(codecs.Canonical, "the text of the signature is compared"),
				codecs.Disclaims(codecs.Expiry, "a token from a clock that runs ahead is accepted"),
				codecs.HoldsBecause(codecs.KeyCommitting, "the key is a SHA-256 digest, and two keys with one tag need a collision of HMAC-SHA256"),
			)
		})
)

func (s *style) design(name, doc, spec, other string, own func(map[string]string) []codecs.Guarantee) codecs.Design {
	return codecs.Design{
		Name: name, Doc: doc, Spec: spec, Format: name,
		Options: []codecs.Option{
			framework.Reading("the library"),
			framework.Payload,
		},
		Hooks: &lab.Hooks{Inspect: s.inspect, Other: other, FewVectors: true, Allocates: "segments are decoded to buffers of their own"},
		NewScheme: framework.SchemeOpener(func(secret []byte, ttl time.Duration, options map[string]string) (framework.Format, error) {
			return s.format(secret, ttl, options), nil
		}),
		Guarantees: func(options map[string]string) []codecs.Guarantee {
			return slices.Concat(own(options), s.carries(options), framework.Unbound("the format binds only a salt, which the application chooses"),
				codecs.Holds(codecs.Integrity, codecs.UniformRefusal, codecs.SteadyTiming, codecs.Total, codecs.Rotation, codecs.PrivateKeys),
				codecs.HoldsBecause(codecs.Inert, "compressed payloads are inflated after authentication"),
				guarantee.NoNonce,
				codecs.HoldsBecause(codecs.StrongKeys, "keys of at least 32 bytes; the library has no minimum"),
				codecs.Disclaims(codecs.Confidentiality, "the payload is readable, and equal payloads of one second give equal tokens"),
				codecs.Disclaims(codecs.FreshNonces, "there is no nonce: equal payloads of one second give equal tokens"),
				codecs.Disclaims(codecs.KeySeparation, "the key is a digest of a salt and the secret, without a boundary between them"),
				guarantee.Symmetric, guarantee.Stateless,
			)
		},
	}
}

func (s *style) carries(options map[string]string) []codecs.Guarantee {
	text := guarantee.WTF8
	if s.unicode {
		text = guarantee.UTF8
	}
	return framework.ByteExact(options, text, "json.dumps")
}
