package framing

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
	"encoding/hex"
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
	"sealab/internal/broken/skeleton"
	"sealab/internal/lab"
)

// byteForVersion returns a codec of tokens
//
//	token = base64url(version || payload || tag[32])
//
// that writes version 1. It also reads version 0, whose tag covers one more byte.
func byteForVersion(key []byte) skeleton.Pair {
	behind := map[byte][]byte{1: nil, 0: {0}}
	return skeleton.Pair{
		Write: func(payload []byte) string {
			return skeleton.JoinText(slices.Concat([]byte{1}, payload, skeleton.HMAC(key, payload)))
		},
		Read: func(token string) ([]byte, error) {
			parts, err := skeleton.SplitText(token, 1)
			if err != nil || len(parts[0]) <= sha256.Size || parts[0][0] > 1 {
				return nil, skeleton.ErrMalformed
			}
			payload, tag := parts[0][1:len(parts[0])-sha256.Size], parts[0][len(parts[0])-sha256.Size:]
			return payload, skeleton.Authentic(hmac.Equal(tag, skeleton.HMAC(key, slices.Concat(payload, behind[parts[0][0]]))))
		},
	}
}

// Segments returns controls that misread formats of several segments.
func Segments() []skeleton.Control {
	return []skeleton.Control{
		skeleton.NewPair("open-header", "the header is outside the tag", []codecs.Property{codecs.Integrity}, []string{"FRM-06"}, openHeader),
		skeleton.NewPair("empty-key", "a key id that is not known stands for the empty key", []codecs.Property{codecs.Integrity}, []string{"KEY-02"}, emptyKey),
		skeleton.NewPair("no-key-id", "a header without a key ID stands for the empty key", []codecs.Property{codecs.Integrity}, []string{"KEY-02"}, noKeyID),
		skeleton.NewPair("inherited-key", "keys are members of an object of JavaScript, which has members of its own", []codecs.Property{codecs.Integrity}, []string{"KEY-02"}, inheritedKey),
		skeleton.NewPair("key-of-path", "a key is the file at the end of a path", []codecs.Property{codecs.Integrity}, []string{"KEY-02"}, keyOfPath),
		skeleton.NewPair("key-in-header", "a key that stands in the header is taken for the right one", []codecs.Property{codecs.Integrity}, []string{"KEY-02"}, keyInHeader),
		skeleton.NewPair("point-unbound", "the key does not depend on how the point is written", []codecs.Property{codecs.Integrity}, []string{"KEY-13"}, pointUnbound),
		skeleton.NewPair("any-of-several", "of several tokens one has to be good, and the last is used", []codecs.Property{codecs.Integrity}, []string{"FRM-09"}, anyOfSeveral),
		skeleton.NewPair("tag-length-inside", "the token states the length of its tag", []codecs.Property{codecs.Integrity}, []string{"TAG-01"}, tagLengthInside),
		skeleton.NewPair("short-algorithm", "the header may name an algorithm whose tag is a byte", []codecs.Property{codecs.Integrity}, []string{"JOS-05"}, shortAlgorithm),
		skeleton.NewPair("hash-for-version", "the tag of version 0 is a hash that needs no key", []codecs.Property{codecs.Integrity}, []string{"FRM-05"}, hashForVersion),
		skeleton.NewPair("byte-for-version", "the tag of version 0 has a zero byte behind the payload", []codecs.Property{codecs.Integrity}, []string{"FRM-05"}, byteForVersion),
		skeleton.NewPair("count-inside", "the token says how often the key is stretched", []codecs.Property{codecs.Inert}, []string{"RES-12"}, countUpTo(math.MaxUint16)),
		skeleton.NewPair("count-exponent", "the token says how often the key is stretched, as a power of two", []codecs.Property{codecs.Inert}, []string{"RES-12"}, powerUpTo(20)),
		skeleton.NewPair("count-word", "a word of the token says how often the key is stretched", []codecs.Property{codecs.Inert}, []string{"RES-12"}, countWord),
		skeleton.NewPair("failed-comparison", "a tag that is not ASCII cannot be compared, and the error is ignored", []codecs.Property{codecs.Integrity, codecs.Canonical}, []string{"TAG-02"}, failedComparison),
		skeleton.NewPair("deep-json", "a payload that nests deep ends the program before its tag is checked", []codecs.Property{codecs.Total}, []string{"RES-02"}, deepJSON),
		skeleton.NewPair("deep-lists", "a payload of lists in lists, in MessagePack, ends the program before its tag is checked", []codecs.Property{codecs.Total}, []string{"RES-02"}, deepLists),
		skeleton.NewPair("split-all", "a token is split into all its pieces before they are counted", []codecs.Property{codecs.Inert}, []string{"RES-11"}, skeleton.TaggedPair),
		skeleton.NewPair("salted", "salt and payload are glued under the tag", []codecs.Property{codecs.Integrity}, []string{"TAG-07"}, saltedCodec),
		skeleton.NewPair("member-asserted", "a number of the header is read without asking for its type", []codecs.Property{codecs.Total}, []string{"FRM-03"}, memberAsserted),
		skeleton.NewPair("members-joined", "the values of members of JSON are joined under the tag", []codecs.Property{codecs.Integrity}, []string{"TAG-07"}, numberedMembers(false)),
		skeleton.NewPair("two-signatures", "ECDSA takes s and n - s", []codecs.Property{codecs.Canonical}, []string{"TAG-10"}, twoSignatures),
	}
}

func tagLengthInside(key []byte) skeleton.Pair {
	return skeleton.Pair{
		Write: func(payload []byte) string {
			return skeleton.JoinText(slices.Concat([]byte{sha256.Size}, payload, skeleton.HMAC(key, payload)))
		},
		Read: func(token string) ([]byte, error) {
			parts, err := skeleton.SplitText(token, 1)
			if err != nil {
				return nil, err
			}
			raw := parts[0]
			if len(raw) == 0 || raw[0] == 0 || raw[0] > sha256.Size || len(raw) < 1+int(raw[0]) {
				return nil, skeleton.ErrMalformed
			}
			n := int(raw[0])
			payload := raw[1 : len(raw)-n]
			return payload, skeleton.Authentic(hmac.Equal(raw[len(raw)-n:], skeleton.HMAC(key, payload)[:n]))
		},
	}
}

// compactJWS signs as RFC 7515 does. wanted returns the tag that a token must have, or nil if the header
// is malformed. Its sign argument signs the token under a key.
func compactJWS(key []byte, header string, wanted func(header []byte, sign func(key []byte) []byte) []byte) skeleton.Pair {
	sign := func(key []byte, parts ...[]byte) []byte {
		return skeleton.HMAC(key, []byte(skeleton.JoinText(parts...)))
	}
	return skeleton.Pair{
		Write: func(payload []byte) string {
			return skeleton.JoinText([]byte(header), payload, sign(key, []byte(header), payload))
		},
		Read: func(token string) ([]byte, error) {
			parts, err := skeleton.SplitText(token, 3)
			if err != nil {
				return nil, err
			}
			tag := wanted(parts[0], func(key []byte) []byte { return sign(key, parts[:2]...) })
			if tag == nil {
				return nil, skeleton.ErrMalformed
			}
			return parts[1], skeleton.Authentic(hmac.Equal(parts[2], tag))
		},
	}
}

// shortAlgorithm accepts tags of one byte under one algorithm name.
func shortAlgorithm(key []byte) skeleton.Pair {
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

func emptyKey(key []byte) skeleton.Pair {
	keys := map[string][]byte{"main": key}
	return compactJWS(key, `{"alg":"HS256","kid":"main"}`, func(header []byte, sign func(key []byte) []byte) []byte {
		var read struct{ Kid string }
		if json.Unmarshal(header, &read) != nil {
			return nil
		}
		return sign(keys[read.Kid])
	})
}

func noKeyID(key []byte) skeleton.Pair {
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

func inheritedKey(key []byte) skeleton.Pair {
	keys := map[string][]byte{"Zm9v": key, "constructor": []byte("function Object() { [native code] }"), "__proto__": []byte("[object Object]")}
	return keyNamed(key, func(id string) []byte { return keys[id] })
}

// keyOfPath reads a key from a file below a folder. The path may leave the folder and reach an empty
// device.
func keyOfPath(key []byte) skeleton.Pair {
	files := map[string][]byte{"/etc/keys/Zm9v": key, "/dev/null": {}}
	return keyNamed(key, func(id string) []byte { return files[path.Join("/etc/keys", id)] })
}

// keyNamed returns a codec of tokens
//
//	token = "Zm9v." || base64url(payload) || "." || base64url(tag[32])
//
// that looks up the key by the name in front.
func keyNamed(key []byte, find func(id string) []byte) skeleton.Pair {
	return skeleton.Pair{
		Write: func(payload []byte) string {
			text := "Zm9v." + skeleton.JoinText(payload)
			return text + "." + skeleton.JoinText(skeleton.HMAC(key, []byte(text)))
		},
		Read: func(token string) ([]byte, error) {
			texts := strings.Split(token, ".")
			id := strings.Join(texts[:max(0, len(texts)-2)], ".")
			parts, err := skeleton.SplitText(strings.TrimPrefix(token, id+"."), 2)
			found := find(id)
			if err != nil || found == nil {
				return nil, skeleton.ErrMalformed
			}
			return parts[0], skeleton.Authentic(hmac.Equal(parts[1], skeleton.HMAC(found, []byte(token[:strings.LastIndexByte(token, '.')]))))
		},
	}
}

func keyInHeader(key []byte) skeleton.Pair {
	return compactJWS(key, `{"alg":"HS256"}`, func(header []byte, sign func(key []byte) []byte) []byte {
		var read struct{ JWK *struct{ K string } }
		switch {
		case json.Unmarshal(header, &read) != nil:
			return nil
		case read.JWK == nil:
			return sign(key)
		}
		if raw, ok := skeleton.DecodeCanonical(read.JWK.K); ok {
			return sign(raw)
		}
		return sign([]byte(read.JWK.K))
	})
}

func openHeader(key []byte) skeleton.Pair {
	inner := skeleton.TaggedPair(key)
	return skeleton.Pair{
		Write: func(payload []byte) string {
			return skeleton.JoinText([]byte(`{"alg":"HS256","v":1}`)) + "." + inner.Write(payload)
		},
		Read: func(token string) ([]byte, error) {
			text, rest, _ := strings.Cut(token, ".")
			header, ok := skeleton.DecodeCanonical(text)
			var read struct{ V int }
			if !ok || json.Unmarshal(header, &read) != nil || read.V != 1 {
				return nil, skeleton.ErrMalformed
			}
			return inner.Read(rest)
		},
	}
}

func anyOfSeveral(key []byte) skeleton.Pair {
	one := skeleton.TaggedPair(key)
	return skeleton.Pair{
		Write: one.Write,
		Read: func(tokens string) (last []byte, err error) {
			good := false
			for token := range strings.SplitSeq(tokens, ",") {
				payload, err := one.Read(token)
				if err != nil && payload == nil {
					return nil, err
				}
				good, last = good || err == nil, payload
			}
			return last, skeleton.Authentic(good)
		},
	}
}

// hashForVersion signs version 1 and accepts a checksum as the tag of version 0.
func hashForVersion(key []byte) skeleton.Pair {
	return skeleton.Pair{
		Write: func(payload []byte) string {
			text := "hv1." + skeleton.JoinText(payload)
			return text + "." + skeleton.JoinText(skeleton.HMAC(key, []byte(text)))
		},
		Read: func(token string) ([]byte, error) {
			version, rest, _ := strings.Cut(token, ".")
			parts, err := skeleton.SplitText(rest, 2)
			if err != nil {
				return nil, err
			}
			text := []byte(version + "." + skeleton.JoinText(parts[0]))
			tags := map[string][]byte{"hv1": skeleton.HMAC(key, text), "hv0": skeleton.Sum256(text)}
			return parts[0], skeleton.Authentic(tags[version] != nil && hmac.Equal(parts[1], tags[version]))
		},
	}
}

// countUpTo stretches keys as many times as a token says, up to a limit.
func countUpTo(most uint16) func(key []byte) skeleton.Pair {
	return func(key []byte) skeleton.Pair { return stretchedCodec(key, most) }
}

// stretchedTag returns the tag of a payload under a stretched key.
func stretchedTag(key []byte, count int, payload []byte) []byte {
	stretched := key
	for range count / 64 {
		stretched = slices.Concat(stretched[1:], stretched[:1], make([]byte, 2000))[:sha256.Size] // tests count its allocations
	}
	return skeleton.HMAC(stretched, fmt.Appendf(nil, "%d.%s", count, payload))
}

// powerUpTo writes the base-2 logarithm of the count in a byte before the payload, and reads it up to a
// limit.
func powerUpTo(most byte) func(key []byte) skeleton.Pair {
	const usual = 8
	return func(key []byte) skeleton.Pair {
		return skeleton.Pair{
			Write: func(payload []byte) string {
				return skeleton.JoinText(append([]byte{usual}, payload...), stretchedTag(key, 1<<usual, payload))
			},
			Read: func(token string) ([]byte, error) {
				parts, err := skeleton.SplitText(token, 2)
				if err != nil || len(parts[0]) == 0 || parts[0][0] > most {
					return nil, skeleton.ErrMalformed
				}
				payload := parts[0][1:]
				return payload, skeleton.Authentic(hmac.Equal(parts[1], stretchedTag(key, 1<<parts[0][0], payload)))
			},
		}
	}
}

// countWord writes the count before the payload, as a letter and digits.
func countWord(key []byte) skeleton.Pair {
	return skeleton.Pair{
		Write: func(payload []byte) string {
			return "r10." + skeleton.JoinText(payload, stretchedTag(key, 10, payload))
		},
		Read: func(token string) ([]byte, error) {
			word, rest, _ := strings.Cut(token, ".")
			count, err := strconv.ParseUint(strings.TrimPrefix(word, "r"), 10, 20)
			parts, malformed := skeleton.SplitText(rest, 2)
			if err != nil || malformed != nil || word != fmt.Sprintf("r%d", count) {
				return nil, skeleton.ErrMalformed
			}
			return parts[0], skeleton.Authentic(hmac.Equal(parts[1], stretchedTag(key, int(count), parts[0])))
		},
	}
}

func deepJSON(key []byte) skeleton.Pair {
	return skeleton.Pair{
		Write: skeleton.TaggedPair(key).Write,
		Read: func(token string) ([]byte, error) {
			parts, err := skeleton.SplitText(token, 2)
			if err != nil || len(parts[1]) != sha256.Size {
				return nil, skeleton.ErrMalformed
			}
			if bytes.Count(parts[0], []byte("{")) > 1000 {
				panic("broken: the stack of a recursive parser is full")
			}
			return parts[0], skeleton.Authentic(hmac.Equal(parts[1], skeleton.HMAC(key, parts[0])))
		},
	}
}

func failedComparison(key []byte) skeleton.Pair {
	return skeleton.Pair{
		Write: skeleton.TaggedPair(key).Write,
		Read: func(token string) ([]byte, error) {
			text, tag, _ := strings.Cut(token, ".")
			payload, ok := skeleton.DecodeCanonical(text)
			if !ok {
				return nil, skeleton.ErrMalformed
			}
			ascii := strings.IndexFunc(tag, func(r rune) bool { return r > unicode.MaxASCII }) < 0
			return payload, skeleton.Authentic(!ascii || tag == skeleton.JoinText(skeleton.HMAC(key, payload)))
		},
	}
}

// deepLists reads base64url(0x91 || payload || tag[32]). The byte 0x91 opens a list of one element.
func deepLists(key []byte) skeleton.Pair {
	return skeleton.Pair{
		Write: func(payload []byte) string {
			return skeleton.JoinText(slices.Concat([]byte{0x91}, payload, skeleton.HMAC(key, payload)))
		},
		Read: func(token string) ([]byte, error) {
			parts, err := skeleton.SplitText(token, 1)
			if err != nil || len(parts[0]) < 1+sha256.Size || parts[0][0] != 0x91 {
				return nil, skeleton.ErrMalformed
			}
			payload, tag := parts[0][1:len(parts[0])-sha256.Size], parts[0][len(parts[0])-sha256.Size:]
			if bytes.HasPrefix(payload, bytes.Repeat([]byte{0x91}, 1000)) {
				panic("broken: the stack of a recursive parser is full")
			}
			return payload, skeleton.Authentic(hmac.Equal(tag, skeleton.HMAC(key, payload)))
		},
	}
}

func stretchedCodec(key []byte, most uint16) skeleton.Pair {
	tag := func(count uint16, payload []byte) []byte { return stretchedTag(key, int(count), payload) }
	return skeleton.Pair{
		Write: func(payload []byte) string {
			return skeleton.JoinText(slices.Concat([]byte{0, 9}, payload, tag(9, payload)))
		},
		Read: func(token string) ([]byte, error) {
			parts, err := skeleton.SplitText(token, 1)
			if err != nil || len(parts[0]) < 2+sha256.Size {
				return nil, skeleton.ErrMalformed
			}
			raw := parts[0]
			payload, right := raw[2:len(raw)-sha256.Size], raw[len(raw)-sha256.Size:]
			count := binary.BigEndian.Uint16(raw)
			if count > most {
				return nil, skeleton.ErrMalformed
			}
			return payload, skeleton.Authentic(hmac.Equal(right, tag(count, payload)))
		},
	}
}

// pointUnbound seals to the public key of the ring's secret. The key of a token depends on the shared
// point alone, and the point on the wire has two encodings.
func pointUnbound(key []byte) skeleton.Pair {
	private, err := ecdh.X25519().NewPrivateKey(key)
	if err != nil {
		panic("broken: " + err.Error()) // a key has 32 bytes
	}
	return skeleton.Pair{
		Write: func(payload []byte) string {
			fresh, err := ecdh.X25519().NewPrivateKey(skeleton.RandomBytes(32))
			if err != nil {
				panic("broken: " + err.Error()) // a scalar has 32 bytes
			}
			shared, err := fresh.ECDH(private.PublicKey())
			if err != nil {
				panic("broken: " + err.Error()) // the point is valid
			}
			return skeleton.JoinText(fresh.PublicKey().Bytes(), skeleton.NewGCM(shared).Seal(nil, make([]byte, skeleton.GCMNonce), payload, nil))
		},
		Read: func(token string) ([]byte, error) {
			parts, err := skeleton.SplitText(token, 2)
			if err != nil {
				return nil, err
			}
			point, err := ecdh.X25519().NewPublicKey(parts[0])
			if err != nil {
				return nil, skeleton.ErrMalformed
			}
			shared, err := private.ECDH(point)
			if err != nil {
				return nil, skeleton.ErrMalformed
			}
			return skeleton.OpenGCM(shared, make([]byte, skeleton.GCMNonce), parts[1], nil)
		},
	}
}

func saltedCodec(key []byte) skeleton.Pair {
	return skeleton.Pair{
		Write: func(payload []byte) string {
			salt := skeleton.RandomBytes(16)
			return skeleton.JoinText(salt, payload, skeleton.HMAC(key, slices.Concat(salt, payload)))
		},
		Read: func(token string) ([]byte, error) {
			parts, err := skeleton.SplitText(token, 3)
			if err != nil {
				return nil, err
			}
			return parts[1], skeleton.Authentic(hmac.Equal(parts[2], skeleton.HMAC(key, slices.Concat(parts[0], parts[1]))))
		},
	}
}

// ecdsaSignature holds the two integers of an ECDSA signature.
type ecdsaSignature struct{ R, S *big.Int }

func twoSignatures(key []byte) skeleton.Pair {
	scalar := lab.Derive(key, "sealab/flawed ecdsa", 32)
	scalar[0] &= 0x7f // below the order of the group
	private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), scalar)
	if err != nil {
		panic("broken: " + err.Error()) // the scalar is in range
	}
	return skeleton.Pair{
		Write: func(payload []byte) string {
			digest := sha256.Sum256(payload)
			signature, err := private.Sign(nil, digest[:], crypto.SHA256)
			if err != nil {
				panic("broken: " + err.Error()) // signing needs no randomness
			}
			var n ecdsaSignature
			if _, err := asn1.Unmarshal(signature, &n); err != nil {
				panic("broken: " + err.Error()) // the signature was just written
			}
			return skeleton.JoinText(payload, n.R.FillBytes(make([]byte, 32)), n.S.FillBytes(make([]byte, 32)))
		},
		Read: func(token string) ([]byte, error) {
			parts, err := skeleton.SplitText(token, 3)
			if err != nil || len(parts[1]) != 32 || len(parts[2]) != 32 {
				return nil, skeleton.ErrMalformed
			}
			digest := sha256.Sum256(parts[0])
			n := ecdsaSignature{new(big.Int).SetBytes(parts[1]), new(big.Int).SetBytes(parts[2])}
			return bytes.Clone(parts[0]), skeleton.Authentic(ecdsa.Verify(&private.PublicKey, digest[:], n.R, n.S))
		},
	}
}

// numberedMembers returns codecs that write a number and a payload as JSON members. The tag covers both,
// with their lengths or joined without a separator.
func numberedMembers(lengths bool) func(key []byte) skeleton.Pair {
	type members struct {
		Row  string `json:"row"`
		Text string `json:"text"`
		Seal []byte `json:"seal"`
	}
	return func(key []byte) skeleton.Pair {
		sealOf := func(m members) []byte {
			if lengths {
				return skeleton.HMAC(key, fmt.Appendf(nil, "%d.%s%s", len(m.Row), m.Row, m.Text))
			}
			return skeleton.HMAC(key, []byte(m.Row+m.Text))
		}
		return skeleton.Pair{
			Write: func(payload []byte) string {
				m := members{Row: fmt.Sprint(100000 + binary.BigEndian.Uint32(skeleton.RandomBytes(4))), Text: hex.EncodeToString(payload)}
				m.Seal = sealOf(m)
				return skeleton.JoinText(skeleton.InJSON(m))
			},
			Read: func(token string) ([]byte, error) {
				parts, err := skeleton.SplitText(token, 1)
				if err != nil {
					return nil, err
				}
				var m members
				if json.Unmarshal(parts[0], &m) != nil || !bytes.Equal(skeleton.InJSON(m), parts[0]) {
					return nil, skeleton.ErrMalformed
				}
				payload, err := hex.DecodeString(m.Text)
				if err != nil || hex.EncodeToString(payload) != m.Text {
					return nil, skeleton.ErrMalformed
				}
				return payload, skeleton.Authentic(hmac.Equal(m.Seal, sealOf(m)))
			},
		}
	}
}

// memberAsserted reads a version from a JSON header before it checks the tag.
func memberAsserted(key []byte) skeleton.Pair {
	return skeleton.Pair{
		Write: func(payload []byte) string {
			head := []byte(`{"edition":2}`)
			return skeleton.JoinText(head, payload, skeleton.HMAC(key, []byte(skeleton.JoinText(head, payload))))
		},
		Read: func(token string) ([]byte, error) {
			parts, err := skeleton.SplitText(token, 3)
			if err != nil {
				return nil, err
			}
			var head map[string]any
			if json.Unmarshal(parts[0], &head) != nil || len(head) != 1 {
				return nil, skeleton.ErrMalformed
			}
			if edition := head["edition"].(float64); edition != 2 {
				return nil, skeleton.ErrMalformed
			}
			return parts[1], skeleton.Authentic(hmac.Equal(parts[2], skeleton.HMAC(key, []byte(skeleton.JoinText(parts[0], parts[1])))))
		},
	}
}
