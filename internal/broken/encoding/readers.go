package encoding

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
)

// LenientReaders returns controls whose reader accepts more than the writer makes: an older
// version, another case, an optional part.
func LenientReaders() []skeleton.Control {
	return []skeleton.Control{
		skeleton.NewPair("first-version", "the first version had no tag, and is read", []codecs.Property{codecs.Integrity}, []string{"FRM-05"}, firstVersion),
		skeleton.NewPair("tag-in-any-case", "a tag in hexadecimal digits behind two hyphens is read in either case", []codecs.Property{codecs.Canonical}, []string{"ENC-05"}, hexBehind),
		skeleton.NewPair("look-alikes", "a token in base32 may have 0 for O and 1 for L", []codecs.Property{codecs.Canonical}, []string{"ENC-05"}, lookAlikes),
		skeleton.NewPair("named-parts", "the parts of a token have names, and come in any order", []codecs.Property{codecs.Canonical}, []string{"ENC-07"}, namedParts),
		skeleton.NewWrappedCodec("opened-within", "a payload that is a token is opened as well", []codecs.Property{codecs.ByteExact}, []string{"PAY-02"}, func(c codecs.Codec) codecs.Codec { return nestedOpener{c} }),
		skeleton.NewPair("low-bytes", "the tag is over the low bytes of characters, and the decoder skips those over a byte", []codecs.Property{codecs.Integrity}, []string{"ENC-06"}, lowBytes),
		skeleton.NewPair("optional-glued", "the payload and an optional part behind the tag are glued under it", []codecs.Property{codecs.Integrity}, []string{"TAG-07"}, optionalGlued),
	}
}

// firstVersion returns a codec of tokens
//
//	token = "fp2." || base64url(JSON) || "." || base64url(tag[32])
//
// that also reads "fp1." || base64url(JSON).
func firstVersion(key []byte) skeleton.Pair {
	type envelope struct {
		Payload []byte `json:"payload"`
	}
	return skeleton.Pair{
		Write: func(payload []byte) string {
			inside := skeleton.InJSON(envelope{Payload: payload})
			return "fp2." + skeleton.JoinText(inside, skeleton.HMAC(key, inside))
		},
		Read: func(token string) ([]byte, error) {
			n := 2
			text, ok := strings.CutPrefix(token, "fp2.")
			if !ok {
				n = 1
				if text, ok = strings.CutPrefix(token, "fp1."); !ok {
					return nil, skeleton.ErrMalformed
				}
			}
			parts, err := skeleton.SplitText(text, n)
			if err != nil {
				return nil, err
			}
			if n == 2 && !hmac.Equal(parts[1], skeleton.HMAC(key, parts[0])) {
				return nil, skeleton.ErrUnauthentic
			}
			var e envelope
			if json.Unmarshal(parts[0], &e) != nil || e.Payload == nil {
				return nil, skeleton.ErrMalformed
			}
			return e.Payload, nil
		},
	}
}

// hexBehind returns a codec of tokens
//
//	token = base64url(payload) || "--" || hexadecimal(tag[32])
func hexBehind(key []byte) skeleton.Pair {
	const border = "--"
	return skeleton.Pair{
		Write: func(payload []byte) string {
			text := base64.RawURLEncoding.EncodeToString(payload)
			return text + border + hex.EncodeToString(skeleton.HMAC(key, []byte(text)))
		},
		Read: func(token string) ([]byte, error) {
			at := strings.LastIndex(token, border)
			if at < 0 {
				return nil, skeleton.ErrMalformed
			}
			payload, ok := skeleton.DecodeCanonical(token[:at])
			tag, err := hex.DecodeString(token[at+len(border):])
			if !ok || err != nil {
				return nil, skeleton.ErrMalformed
			}
			return payload, skeleton.Authentic(hmac.Equal(tag, skeleton.HMAC(key, []byte(token[:at]))))
		},
	}
}

// lookAlikes returns a codec of tokens
//
//	token = "la1." || base32(payload || tag[32])
func lookAlikes(key []byte) skeleton.Pair {
	const prefix = "la1."
	base32 := base32.StdEncoding.WithPadding(base32.NoPadding)
	write := func(payload, tag []byte) string { return prefix + base32.EncodeToString(slices.Concat(payload, tag)) }
	return skeleton.FormattedPair(key, write, func(token string) (payload, tag []byte, ok bool) {
		text, ok := strings.CutPrefix(token, prefix)
		text = strings.NewReplacer("0", "O", "1", "L").Replace(text)
		raw, err := base32.DecodeString(text)
		n := len(raw) - sha256.Size
		if !ok || err != nil || n < 0 || base32.EncodeToString(raw) != text {
			return nil, nil, false
		}
		return raw[:n], raw[n:], true
	})
}

// lowBytes returns a codec of tokens
//
//	token = "lb1." || base64url(payload) || "." || base64url(tag[32])
//
// whose tag covers only the low byte of each preceding character, as with latin1 in Node.js.
func lowBytes(key []byte) skeleton.Pair {
	tag := func(text string) []byte {
		var low []byte
		for _, r := range text {
			low = append(low, byte(r))
		}
		return skeleton.HMAC(key, low)
	}
	const prefix = "lb1."
	return skeleton.Pair{
		Write: func(payload []byte) string {
			text := prefix + base64.RawURLEncoding.EncodeToString(payload)
			return text + "." + base64.RawURLEncoding.EncodeToString(tag(text))
		},
		Read: func(token string) ([]byte, error) {
			at := max(0, strings.LastIndexByte(token, '.'))
			body, ok := strings.CutPrefix(token[:at], prefix)
			if given, okTag := skeleton.DecodeCanonical(strings.TrimPrefix(token[at:], ".")); !ok || !okTag || !hmac.Equal(given, tag(token[:at])) {
				return nil, skeleton.ErrUnauthentic
			}
			payload, ok := skeleton.DecodeCanonical(strings.Map(func(r rune) rune {
				if r > 0xff {
					return -1
				}
				return r
			}, body))
			if !ok {
				return nil, skeleton.ErrMalformed
			}
			return payload, nil
		},
	}
}

// namedParts returns a codec of tokens
//
//	token = "p=" || base64url(payload) || ";t=" || base64url(tag[32])
func namedParts(key []byte) skeleton.Pair {
	text := base64.RawURLEncoding.EncodeToString
	write := func(payload, tag []byte) string { return "p=" + text(payload) + ";t=" + text(tag) }
	return skeleton.FormattedPair(key, write, func(token string) (payload, tag []byte, ok bool) {
		parts := map[string][]byte{}
		for part := range strings.SplitSeq(token, ";") {
			name, value, ok := strings.Cut(part, "=")
			raw, okValue := skeleton.DecodeCanonical(value)
			if _, twice := parts[name]; twice || !ok || !okValue {
				return nil, nil, false
			}
			parts[name] = raw
		}
		return parts["p"], parts["t"], len(parts) == 2 && parts["p"] != nil && parts["t"] != nil
	})
}

// A nestedOpener codec also opens a payload that is a token itself.
type nestedOpener struct{ codecs.Codec }

// Unseal implements codecs.Codec.
func (w nestedOpener) Unseal(dst, token []byte) ([]byte, error) {
	out, err := w.Codec.Unseal(dst, token)
	if err != nil {
		return out, err
	}
	if inner, err := w.Codec.Unseal(nil, out[len(dst):]); err == nil {
		return append(out[:len(dst)], inner...), nil
	}
	return out, nil
}

// optionalGlued returns a codec of tokens
//
//	token = "fo1." || base64url(payload || tag[32])
//
// that also reads "." || base64url(footer) after it. The tag covers payload and footer joined without a
// separator.
func optionalGlued(key []byte) skeleton.Pair {
	const prefix = "fo1."
	return skeleton.Pair{
		Write: func(payload []byte) string {
			return prefix + base64.RawURLEncoding.EncodeToString(slices.Concat(payload, skeleton.HMAC(key, payload)))
		},
		Read: func(token string) ([]byte, error) {
			text, ok := strings.CutPrefix(token, prefix)
			body, footer, more := strings.Cut(text, ".")
			raw, okBody := skeleton.DecodeCanonical(body)
			behind, okFooter := skeleton.DecodeCanonical(footer)
			n := len(raw) - sha256.Size
			if !ok || !okBody || !okFooter || n < 0 || more && footer == "" {
				return nil, skeleton.ErrMalformed
			}
			return raw[:n], skeleton.Authentic(hmac.Equal(raw[n:], skeleton.HMAC(key, slices.Concat(raw[:n], behind))))
		},
	}
}
