package broken

import (
	"crypto/hmac"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strings"

	"sealab/codecs"
)

// optional are mistakes of readers that take more than the writer makes: an older version,
// another case.
func optional() []Control {
	return []Control{
		aPair("first-version", "the first version had no tag, and is read", breaks(codecs.Integrity), by("FRM-05"), firstVersion),
		aPair("tag-in-any-case", "a tag in hexadecimal digits behind two hyphens is read in either case", breaks(codecs.Canonical), by("ENC-05"), hexBehind),
	}
}

// firstVersion writes
//
//	token = "fp2." || base64url(JSON) || "." || base64url(tag[32])
//
// and reads "fp1." || base64url(JSON) as well.
func firstVersion(key []byte) pair {
	type envelope struct {
		Payload []byte `json:"payload"`
	}
	return pair{
		seal: func(payload []byte) string {
			inside, err := json.Marshal(envelope{payload})
			if err != nil {
				panic("broken: " + err.Error()) // bytes always have a JSON form
			}
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

// hexBehind writes
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
			payload, ok := canonical(token[:at])
			tag, err := hex.DecodeString(token[at+len(border):])
			if !ok || err != nil {
				return nil, errMalformed
			}
			return payload, refusedUnless(hmac.Equal(tag, hmacSHA256(key, []byte(token[:at]))))
		},
	}
}
