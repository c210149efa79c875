package broken

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
)

// lenientReaderControls returns controls whose reader accepts more than the writer makes: an older
// version, another case, an optional part.
func lenientReaderControls() []Control {
	return []Control{
		aPair("first-version", "the first version had no tag, and is read", []codecs.Property{codecs.Integrity}, []string{"FRM-05"}, firstVersion),
		aPair("tag-in-any-case", "a tag in hexadecimal digits behind two hyphens is read in either case", []codecs.Property{codecs.Canonical}, []string{"ENC-05"}, hexBehind),
		aPair("look-alikes", "a token in base32 may have 0 for O and 1 for L", []codecs.Property{codecs.Canonical}, []string{"ENC-05"}, lookAlikes),
		aPair("named-parts", "the parts of a token have names, and come in any order", []codecs.Property{codecs.Canonical}, []string{"ENC-07"}, namedParts),
		wrappedCodec("opened-within", "a payload that is a token is opened as well", []codecs.Property{codecs.ByteExact}, []string{"PAY-02"}, func(c codecs.Codec) codecs.Codec { return nestedOpener{c} }),
		aPair("low-bytes", "the tag is over the low bytes of characters, and the decoder skips those over a byte", []codecs.Property{codecs.Integrity}, []string{"ENC-06"}, lowBytes),
		aPair("optional-glued", "the payload and an optional part behind the tag are glued under it", []codecs.Property{codecs.Integrity}, []string{"TAG-07"}, optionalGlued),
	}
}

// firstVersion returns a codec of tokens
//
//	token = "fp2." || base64url(JSON) || "." || base64url(tag[32])
//
// that also reads "fp1." || base64url(JSON).
func firstVersion(key []byte) pair {
	type envelope struct {
		Payload []byte `json:"payload"`
	}
	return pair{
		seal: func(payload []byte) string {
			inside := inJSON(envelope{payload})
			return "fp2." + joinText(inside, hmacSHA256(key, inside))
		},
		unseal: func(token string) ([]byte, error) {
			n := 2
			text, ok := strings.CutPrefix(token, "fp2.")
			if !ok {
				n = 1
				if text, ok = strings.CutPrefix(token, "fp1."); !ok {
					return nil, errMalformed
				}
			}
			parts, err := splitText(text, n)
			if err != nil {
				return nil, err
			}
			if n == 2 && !hmac.Equal(parts[1], hmacSHA256(key, parts[0])) {
				return nil, errUnauthentic
			}
			var e envelope
			if json.Unmarshal(parts[0], &e) != nil || e.Payload == nil {
				return nil, errMalformed
			}
			return e.Payload, nil
		},
	}
}

// hexBehind returns a codec of tokens
//
//	token = base64url(payload) || "--" || hexadecimal(tag[32])
func hexBehind(key []byte) pair {
	const border = "--"
	return pair{
		seal: func(payload []byte) string {
			text := base64.RawURLEncoding.EncodeToString(payload)
			return text + border + hex.EncodeToString(hmacSHA256(key, []byte(text)))
		},
		unseal: func(token string) ([]byte, error) {
			at := strings.LastIndex(token, border)
			if at < 0 {
				return nil, errMalformed
			}
			payload, ok := decodeCanonical(token[:at])
			tag, err := hex.DecodeString(token[at+len(border):])
			if !ok || err != nil {
				return nil, errMalformed
			}
			return payload, refusedUnless(hmac.Equal(tag, hmacSHA256(key, []byte(token[:at]))))
		},
	}
}

// lookAlikes returns a codec of tokens
//
//	token = "la1." || base32(payload || tag[32])
func lookAlikes(key []byte) pair {
	const prefix = "la1."
	base32 := base32.StdEncoding.WithPadding(base32.NoPadding)
	return pair{
		seal: func(payload []byte) string {
			return prefix + base32.EncodeToString(slices.Concat(payload, hmacSHA256(key, payload)))
		},
		unseal: func(token string) ([]byte, error) {
			text, ok := strings.CutPrefix(token, prefix)
			text = strings.NewReplacer("0", "O", "1", "L").Replace(text)
			raw, err := base32.DecodeString(text)
			n := len(raw) - sha256.Size
			if !ok || err != nil || n < 0 || base32.EncodeToString(raw) != text {
				return nil, errMalformed
			}
			return raw[:n], refusedUnless(hmac.Equal(raw[n:], hmacSHA256(key, raw[:n])))
		},
	}
}

// lowBytes returns a codec of tokens
//
//	token = "lb1." || base64url(payload) || "." || base64url(tag[32])
//
// whose tag covers only the low byte of each preceding character, as with latin1 in Node.js.
func lowBytes(key []byte) pair {
	tag := func(text string) []byte {
		var low []byte
		for _, r := range text {
			low = append(low, byte(r))
		}
		return hmacSHA256(key, low)
	}
	const prefix = "lb1."
	return pair{
		seal: func(payload []byte) string {
			text := prefix + base64.RawURLEncoding.EncodeToString(payload)
			return text + "." + base64.RawURLEncoding.EncodeToString(tag(text))
		},
		unseal: func(token string) ([]byte, error) {
			at := max(0, strings.LastIndexByte(token, '.'))
			body, ok := strings.CutPrefix(token[:at], prefix)
			if given, okTag := decodeCanonical(strings.TrimPrefix(token[at:], ".")); !ok || !okTag || !hmac.Equal(given, tag(token[:at])) {
				return nil, errUnauthentic
			}
			payload, ok := decodeCanonical(strings.Map(func(r rune) rune {
				if r > 0xff {
					return -1
				}
				return r
			}, body))
			if !ok {
				return nil, errMalformed
			}
			return payload, nil
		},
	}
}

// namedParts returns a codec of tokens
//
//	token = "p=" || base64url(payload) || ";t=" || base64url(tag[32])
func namedParts(key []byte) pair {
	text := base64.RawURLEncoding.EncodeToString
	return pair{
		seal: func(payload []byte) string { return "p=" + text(payload) + ";t=" + text(hmacSHA256(key, payload)) },
		unseal: func(token string) ([]byte, error) {
			parts := map[string][]byte{}
			for part := range strings.SplitSeq(token, ";") {
				name, value, ok := strings.Cut(part, "=")
				raw, okValue := decodeCanonical(value)
				if _, twice := parts[name]; twice || !ok || !okValue {
					return nil, errMalformed
				}
				parts[name] = raw
			}
			if len(parts) != 2 || parts["p"] == nil || parts["t"] == nil {
				return nil, errMalformed
			}
			return parts["p"], refusedUnless(hmac.Equal(parts["t"], hmacSHA256(key, parts["p"])))
		},
	}
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
func optionalGlued(key []byte) pair {
	const prefix = "fo1."
	return pair{
		seal: func(payload []byte) string {
			return prefix + base64.RawURLEncoding.EncodeToString(slices.Concat(payload, hmacSHA256(key, payload)))
		},
		unseal: func(token string) ([]byte, error) {
			text, ok := strings.CutPrefix(token, prefix)
			body, footer, more := strings.Cut(text, ".")
			raw, okBody := decodeCanonical(body)
			behind, okFooter := decodeCanonical(footer)
			n := len(raw) - sha256.Size
			if !ok || !okBody || !okFooter || n < 0 || more && footer == "" {
				return nil, errMalformed
			}
			return raw[:n], refusedUnless(hmac.Equal(raw[n:], hmacSHA256(key, slices.Concat(raw[:n], behind))))
		},
	}
}
