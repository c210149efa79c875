package broken

import (
	"bytes"
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/asn1"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"sealab/codecs"
	"sealab/internal/lab"
)

// segmentControls returns controls that misread formats of several segments.
func segmentControls() []Control {
	return []Control{
		aPair("open-header", "the header is outside the tag", []codecs.Property{codecs.Integrity}, []string{"FRM-06"}, openHeader),
		aPair("empty-key", "a key id that is not known stands for the empty key", []codecs.Property{codecs.Integrity}, []string{"KEY-02"}, emptyKey),
		aPair("no-key-id", "a header without a key ID stands for the empty key", []codecs.Property{codecs.Integrity}, []string{"KEY-02"}, noKeyID),
		aPair("inherited-key", "keys are members of an object of JavaScript, which has members of its own", []codecs.Property{codecs.Integrity}, []string{"KEY-02"}, inheritedKey),
		aPair("key-of-path", "a key is the file at the end of a path", []codecs.Property{codecs.Integrity}, []string{"KEY-02"}, keyOfPath),
		aPair("key-in-header", "a key that stands in the header is taken for the right one", []codecs.Property{codecs.Integrity}, []string{"KEY-02"}, keyInHeader),
		aPair("point-unbound", "the key does not depend on how the point is written", []codecs.Property{codecs.Integrity}, []string{"KEY-13"}, pointUnbound),
		aPair("any-of-several", "of several tokens one has to be good, and the last is used", []codecs.Property{codecs.Integrity}, []string{"FRM-09"}, anyOfSeveral),
		aPair("tag-length-inside", "the token states the length of its tag", []codecs.Property{codecs.Integrity}, []string{"TAG-01"}, tagLengthInside),
		aPair("short-algorithm", "the header may name an algorithm whose tag is a byte", []codecs.Property{codecs.Integrity}, []string{"JOS-05"}, shortAlgorithm),
		aPair("hash-for-version", "the tag of version 0 is a hash that needs no key", []codecs.Property{codecs.Integrity}, []string{"FRM-05"}, hashForVersion),
		aPair("byte-for-version", "the tag of version 0 has a zero byte behind the payload", []codecs.Property{codecs.Integrity}, []string{"FRM-05"}, byteForVersion),
		aPair("count-inside", "the token says how often the key is stretched", []codecs.Property{codecs.Inert}, []string{"RES-12"}, countUpTo(math.MaxUint16)),
		aPair("count-exponent", "the token says how often the key is stretched, as a power of two", []codecs.Property{codecs.Inert}, []string{"RES-12"}, powerUpTo(20)),
		aPair("count-word", "a word of the token says how often the key is stretched", []codecs.Property{codecs.Inert}, []string{"RES-12"}, countWord),
		aPair("failed-comparison", "a tag that is not ASCII cannot be compared, and the error is ignored", []codecs.Property{codecs.Integrity, codecs.Canonical}, []string{"TAG-02"}, failedComparison),
		aPair("deep-json", "a payload that nests deep ends the program before its tag is checked", []codecs.Property{codecs.Total}, []string{"RES-02"}, deepJSON),
		aPair("deep-lists", "a payload of lists in lists, in MessagePack, ends the program before its tag is checked", []codecs.Property{codecs.Total}, []string{"RES-02"}, deepLists),
		aPair("split-all", "a token is split into all its pieces before they are counted", []codecs.Property{codecs.Inert}, []string{"RES-11"}, splitAll),
		aPair("salted", "salt and payload are glued under the tag", []codecs.Property{codecs.Integrity}, []string{"TAG-07"}, saltedCodec),
		aPair("member-asserted", "a number of the header is read without asking for its type", []codecs.Property{codecs.Total}, []string{"FRM-03"}, memberAsserted),
		aPair("members-joined", "the values of members of JSON are joined under the tag", []codecs.Property{codecs.Integrity}, []string{"TAG-07"}, numberedMembers(false)),
		aPair("two-signatures", "ECDSA takes s and n - s", []codecs.Property{codecs.Canonical}, []string{"TAG-10"}, twoSignatures),
	}
}

func tagLengthInside(key []byte) pair {
	return pair{
		seal: func(payload []byte) string {
			return joinText(slices.Concat([]byte{sha256.Size}, payload, hmacSHA256(key, payload)))
		},
		unseal: func(token string) ([]byte, error) {
			parts, err := splitText(token, 1)
			if err != nil {
				return nil, err
			}
			raw := parts[0]
			if len(raw) == 0 || raw[0] == 0 || raw[0] > sha256.Size || len(raw) < 1+int(raw[0]) {
				return nil, errMalformed
			}
			n := int(raw[0])
			payload := raw[1 : len(raw)-n]
			return payload, refusedUnless(hmac.Equal(raw[len(raw)-n:], hmacSHA256(key, payload)[:n]))
		},
	}
}

// compactJWS signs as RFC 7515 does. wanted returns the tag that a token must have, or nil if the header
// is malformed. Its sign argument signs the token under a key.
func compactJWS(key []byte, header string, wanted func(header []byte, sign func(key []byte) []byte) []byte) pair {
	sign := func(key []byte, parts ...[]byte) []byte { return hmacSHA256(key, []byte(joinText(parts...))) }
	return pair{
		seal: func(payload []byte) string {
			return joinText([]byte(header), payload, sign(key, []byte(header), payload))
		},
		unseal: func(token string) ([]byte, error) {
			parts, err := splitText(token, 3)
			if err != nil {
				return nil, err
			}
			tag := wanted(parts[0], func(key []byte) []byte { return sign(key, parts[:2]...) })
			if tag == nil {
				return nil, errMalformed
			}
			return parts[1], refusedUnless(hmac.Equal(parts[2], tag))
		},
	}
}

// shortAlgorithm accepts tags of one byte under one algorithm name.
func shortAlgorithm(key []byte) pair {
	const head = `{"alg":"HS256"}`
	return compactJWS(key, head, func(header []byte, sign func(key []byte) []byte) []byte {
		var read struct{ Alg string }
		switch {
		case json.Unmarshal(header, &read) == nil && read.Alg == "HS256/8":
			return sign(key)[:1]
		case string(header) == head:
			return sign(key)
		}
		return nil
	})
}

func emptyKey(key []byte) pair {
	keys := map[string][]byte{"main": key}
	return compactJWS(key, `{"alg":"HS256","kid":"main"}`, func(header []byte, sign func(key []byte) []byte) []byte {
		var read struct{ Kid string }
		if json.Unmarshal(header, &read) != nil {
			return nil
		}
		return sign(keys[read.Kid])
	})
}

func noKeyID(key []byte) pair {
	return compactJWS(key, `{"alg":"HS256","kid":"main"}`, func(header []byte, sign func(key []byte) []byte) []byte {
		var read struct{ Kid *string }
		switch {
		case json.Unmarshal(header, &read) != nil:
			return nil
		case read.Kid == nil:
			return sign(nil)
		case *read.Kid == "main":
			return sign(key)
		}
		return nil
	})
}

func inheritedKey(key []byte) pair {
	keys := map[string][]byte{"Zm9v": key, "constructor": []byte("function Object() { [native code] }"), "__proto__": []byte("[object Object]")}
	return keyNamed(key, func(id string) []byte { return keys[id] })
}

// keyOfPath reads a key from a file below a folder. The path may leave the folder and reach an empty
// device.
func keyOfPath(key []byte) pair {
	files := map[string][]byte{"/etc/keys/Zm9v": key, "/dev/null": {}}
	return keyNamed(key, func(id string) []byte { return files[path.Join("/etc/keys", id)] })
}

// keyNamed returns a codec of tokens
//
//	token = "Zm9v." || base64url(payload) || "." || base64url(tag[32])
//
// that looks up the key by the name in front.
func keyNamed(key []byte, find func(id string) []byte) pair {
	return pair{
		seal: func(payload []byte) string {
			text := "Zm9v." + joinText(payload)
			return text + "." + joinText(hmacSHA256(key, []byte(text)))
		},
		unseal: func(token string) ([]byte, error) {
			texts := strings.Split(token, ".")
			id := strings.Join(texts[:max(0, len(texts)-2)], ".")
			parts, err := splitText(strings.TrimPrefix(token, id+"."), 2)
			found := find(id)
			if err != nil || found == nil {
				return nil, errMalformed
			}
			return parts[0], refusedUnless(hmac.Equal(parts[1], hmacSHA256(found, []byte(token[:strings.LastIndexByte(token, '.')]))))
		},
	}
}

func keyInHeader(key []byte) pair {
	return compactJWS(key, `{"alg":"HS256"}`, func(header []byte, sign func(key []byte) []byte) []byte {
		var read struct{ JWK *struct{ K string } }
		switch {
		case json.Unmarshal(header, &read) != nil:
			return nil
		case read.JWK == nil:
			return sign(key)
		}
		if raw, ok := decodeCanonical(read.JWK.K); ok {
			return sign(raw)
		}
		return sign([]byte(read.JWK.K))
	})
}

func openHeader(key []byte) pair {
	inner := splitAll(key)
	return pair{
		seal: func(payload []byte) string {
			return joinText([]byte(`{"alg":"HS256","v":1}`)) + "." + inner.seal(payload)
		},
		unseal: func(token string) ([]byte, error) {
			text, rest, _ := strings.Cut(token, ".")
			header, ok := decodeCanonical(text)
			var read struct{ V int }
			if !ok || json.Unmarshal(header, &read) != nil || read.V != 1 {
				return nil, errMalformed
			}
			return inner.unseal(rest)
		},
	}
}

// splitAll returns a sound codec of a payload and its tag.
func splitAll(key []byte) pair { return taggedCodec(key, hmac.Equal) }

// taggedCodec returns a codec of a payload and its tag that compares tags with equal.
func taggedCodec(key []byte, equal func(presented, right []byte) bool) pair {
	return pair{
		seal: func(payload []byte) string { return joinText(payload, hmacSHA256(key, payload)) },
		unseal: func(token string) ([]byte, error) {
			parts, err := splitText(token, 2)
			if err != nil {
				return nil, err
			}
			return parts[0], refusedUnless(equal(parts[1], hmacSHA256(key, parts[0])))
		},
	}
}

func anyOfSeveral(key []byte) pair {
	one := splitAll(key)
	return pair{
		seal: one.seal,
		unseal: func(tokens string) (last []byte, err error) {
			good := false
			for token := range strings.SplitSeq(tokens, ",") {
				payload, err := one.unseal(token)
				if err != nil && payload == nil {
					return nil, err
				}
				good, last = good || err == nil, payload
			}
			return last, refusedUnless(good)
		},
	}
}

// hashForVersion signs version 1 and accepts a checksum as the tag of version 0.
func hashForVersion(key []byte) pair {
	return pair{
		seal: func(payload []byte) string {
			text := "hv1." + joinText(payload)
			return text + "." + joinText(hmacSHA256(key, []byte(text)))
		},
		unseal: func(token string) ([]byte, error) {
			version, rest, _ := strings.Cut(token, ".")
			parts, err := splitText(rest, 2)
			if err != nil {
				return nil, err
			}
			text := []byte(version + "." + joinText(parts[0]))
			tags := map[string][]byte{"hv1": hmacSHA256(key, text), "hv0": sum256(text)}
			return parts[0], refusedUnless(tags[version] != nil && hmac.Equal(parts[1], tags[version]))
		},
	}
}

// countUpTo stretches keys as many times as a token says, up to a limit.
func countUpTo(most uint16) func(key []byte) pair {
	return func(key []byte) pair { return stretchedCodec(key, most) }
}

// stretchedTag returns the tag of a payload under a stretched key.
func stretchedTag(key []byte, count int, payload []byte) []byte {
	stretched := key
	for range count / 64 {
		stretched = slices.Concat(stretched[1:], stretched[:1], make([]byte, 2000))[:sha256.Size] // tests count its allocations
	}
	return hmacSHA256(stretched, fmt.Appendf(nil, "%d.%s", count, payload))
}

// powerUpTo writes the base-2 logarithm of the count in a byte before the payload, and reads it up to a
// limit.
func powerUpTo(most byte) func(key []byte) pair {
	const usual = 8
	return func(key []byte) pair {
		return pair{
			seal: func(payload []byte) string {
				return joinText(append([]byte{usual}, payload...), stretchedTag(key, 1<<usual, payload))
			},
			unseal: func(token string) ([]byte, error) {
				parts, err := splitText(token, 2)
				if err != nil || len(parts[0]) == 0 || parts[0][0] > most {
					return nil, errMalformed
				}
				payload := parts[0][1:]
				return payload, refusedUnless(hmac.Equal(parts[1], stretchedTag(key, 1<<parts[0][0], payload)))
			},
		}
	}
}

// countWord writes the count before the payload, as a letter and digits.
func countWord(key []byte) pair {
	return pair{
		seal: func(payload []byte) string { return "r10." + joinText(payload, stretchedTag(key, 10, payload)) },
		unseal: func(token string) ([]byte, error) {
			word, rest, _ := strings.Cut(token, ".")
			count, err := strconv.ParseUint(strings.TrimPrefix(word, "r"), 10, 20)
			parts, malformed := splitText(rest, 2)
			if err != nil || malformed != nil || word != fmt.Sprintf("r%d", count) {
				return nil, errMalformed
			}
			return parts[0], refusedUnless(hmac.Equal(parts[1], stretchedTag(key, int(count), parts[0])))
		},
	}
}

func deepJSON(key []byte) pair {
	return pair{
		seal: splitAll(key).seal,
		unseal: func(token string) ([]byte, error) {
			parts, err := splitText(token, 2)
			if err != nil || len(parts[1]) != sha256.Size {
				return nil, errMalformed
			}
			if bytes.Count(parts[0], []byte("{")) > 1000 {
				panic("broken: the stack of a recursive parser is full")
			}
			return parts[0], refusedUnless(hmac.Equal(parts[1], hmacSHA256(key, parts[0])))
		},
	}
}

func failedComparison(key []byte) pair {
	return pair{
		seal: splitAll(key).seal,
		unseal: func(token string) ([]byte, error) {
			text, tag, _ := strings.Cut(token, ".")
			payload, ok := decodeCanonical(text)
			if !ok {
				return nil, errMalformed
			}
			ascii := strings.IndexFunc(tag, func(r rune) bool { return r > unicode.MaxASCII }) < 0
			return payload, refusedUnless(!ascii || tag == joinText(hmacSHA256(key, payload)))
		},
	}
}

// deepLists reads base64url(0x91 || payload || tag[32]). The byte 0x91 opens a list of one element.
func deepLists(key []byte) pair {
	return pair{
		seal: func(payload []byte) string {
			return joinText(slices.Concat([]byte{0x91}, payload, hmacSHA256(key, payload)))
		},
		unseal: func(token string) ([]byte, error) {
			parts, err := splitText(token, 1)
			if err != nil || len(parts[0]) < 1+sha256.Size || parts[0][0] != 0x91 {
				return nil, errMalformed
			}
			payload, tag := parts[0][1:len(parts[0])-sha256.Size], parts[0][len(parts[0])-sha256.Size:]
			if bytes.HasPrefix(payload, bytes.Repeat([]byte{0x91}, 1000)) {
				panic("broken: the stack of a recursive parser is full")
			}
			return payload, refusedUnless(hmac.Equal(tag, hmacSHA256(key, payload)))
		},
	}
}

func stretchedCodec(key []byte, most uint16) pair {
	tag := func(count uint16, payload []byte) []byte { return stretchedTag(key, int(count), payload) }
	return pair{
		seal: func(payload []byte) string { return joinText(slices.Concat([]byte{0, 9}, payload, tag(9, payload))) },
		unseal: func(token string) ([]byte, error) {
			parts, err := splitText(token, 1)
			if err != nil || len(parts[0]) < 2+sha256.Size {
				return nil, errMalformed
			}
			raw := parts[0]
			payload, right := raw[2:len(raw)-sha256.Size], raw[len(raw)-sha256.Size:]
			count := binary.BigEndian.Uint16(raw)
			if count > most {
				return nil, errMalformed
			}
			return payload, refusedUnless(hmac.Equal(right, tag(count, payload)))
		},
	}
}

// pointUnbound seals to the public key of the ring's secret. The key of a token depends on the shared
// point alone, and the point on the wire has two encodings.
func pointUnbound(key []byte) pair {
	private, err := ecdh.X25519().NewPrivateKey(key)
	if err != nil {
		panic("broken: " + err.Error()) // a key has 32 bytes
	}
	return pair{
		seal: func(payload []byte) string {
			fresh, err := ecdh.X25519().NewPrivateKey(randomBytes(32))
			if err != nil {
				panic("broken: " + err.Error()) // a scalar has 32 bytes
			}
			shared, err := fresh.ECDH(private.PublicKey())
			if err != nil {
				panic("broken: " + err.Error()) // the point is valid
			}
			return joinText(fresh.PublicKey().Bytes(), newGCM(shared).Seal(nil, make([]byte, gcmNonce), payload, nil))
		},
		unseal: func(token string) ([]byte, error) {
			parts, err := splitText(token, 2)
			if err != nil {
				return nil, err
			}
			point, err := ecdh.X25519().NewPublicKey(parts[0])
			if err != nil {
				return nil, errMalformed
			}
			shared, err := private.ECDH(point)
			if err != nil {
				return nil, errMalformed
			}
			return openGCM(shared, make([]byte, gcmNonce), parts[1], nil)
		},
	}
}

func saltedCodec(key []byte) pair {
	return pair{
		seal: func(payload []byte) string {
			salt := randomBytes(16)
			return joinText(salt, payload, hmacSHA256(key, slices.Concat(salt, payload)))
		},
		unseal: func(token string) ([]byte, error) {
			parts, err := splitText(token, 3)
			if err != nil {
				return nil, err
			}
			return parts[1], refusedUnless(hmac.Equal(parts[2], hmacSHA256(key, slices.Concat(parts[0], parts[1]))))
		},
	}
}

// ecdsaSignature holds the two integers of an ECDSA signature.
type ecdsaSignature struct{ R, S *big.Int }

func twoSignatures(key []byte) pair {
	scalar := lab.Derive(key, "sealab/flawed ecdsa", 32)
	scalar[0] &= 0x7f // below the order of the group
	private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), scalar)
	if err != nil {
		panic("broken: " + err.Error()) // the scalar is in range
	}
	return pair{
		seal: func(payload []byte) string {
			digest := sha256.Sum256(payload)
			signature, err := private.Sign(nil, digest[:], crypto.SHA256)
			if err != nil {
				panic("broken: " + err.Error()) // signing needs no randomness
			}
			var n ecdsaSignature
			if _, err := asn1.Unmarshal(signature, &n); err != nil {
				panic("broken: " + err.Error()) // the signature was just written
			}
			return joinText(payload, n.R.FillBytes(make([]byte, 32)), n.S.FillBytes(make([]byte, 32)))
		},
		unseal: func(token string) ([]byte, error) {
			parts, err := splitText(token, 3)
			if err != nil || len(parts[1]) != 32 || len(parts[2]) != 32 {
				return nil, errMalformed
			}
			digest := sha256.Sum256(parts[0])
			n := ecdsaSignature{new(big.Int).SetBytes(parts[1]), new(big.Int).SetBytes(parts[2])}
			return bytes.Clone(parts[0]), refusedUnless(ecdsa.Verify(&private.PublicKey, digest[:], n.R, n.S))
		},
	}
}
