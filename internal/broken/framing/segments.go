package framing

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
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
			raw, ok := skeleton.DecodeCanonical(token)
			if !ok || len(raw) <= sha256.Size || raw[0] > 1 {
				return nil, skeleton.ErrMalformed
			}
			payload, tag := raw[1:len(raw)-sha256.Size], raw[len(raw)-sha256.Size:]
			return payload, skeleton.Authentic(hmac.Equal(tag, skeleton.HMAC(key, slices.Concat(payload, behind[raw[0]]))))
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
		skeleton.NewPair("flag-outside", "a flag outside the tag says whether the payload is compressed", []codecs.Property{codecs.Integrity}, []string{"FRM-07"}, openFlag),
		skeleton.NewPair("count-inside", "the token says how often the key is stretched", []codecs.Property{codecs.Inert}, []string{"RES-12"}, countUpTo(math.MaxUint16)),
		skeleton.NewPair("count-exponent", "the token says how often the key is stretched, as a power of two", []codecs.Property{codecs.Inert}, []string{"RES-12"}, powerUpTo(20)),
		skeleton.NewPair("count-word", "a word of the token says how often the key is stretched", []codecs.Property{codecs.Inert}, []string{"RES-12"}, countWord),
		skeleton.NewPair("flushed-packets", "empty packets are skipped", []codecs.Property{codecs.Canonical}, []string{"ENC-08"}, flushedPackets),
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
			raw, ok := skeleton.DecodeCanonical(token)
			if !ok || len(raw) == 0 || raw[0] == 0 || raw[0] > sha256.Size || len(raw) < 1+int(raw[0]) {
				return nil, skeleton.ErrMalformed
			}
			n := int(raw[0])
			payload := raw[1 : len(raw)-n]
			return payload, skeleton.Authentic(hmac.Equal(raw[len(raw)-n:], skeleton.HMAC(key, payload)[:n]))
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

func deepJSON(key []byte) skeleton.Pair {
	write := func(payload, tag []byte) string { return skeleton.JoinText(payload, tag) }
	return skeleton.FormattedPair(key, write, func(token string) (payload, tag []byte, ok bool) {
		parts, err := skeleton.SplitText(token, 2)
		if err != nil || len(parts[1]) != sha256.Size {
			return nil, nil, false
		}
		if bytes.Count(parts[0], []byte("{")) > 1000 {
			panic("broken: the stack of a recursive parser is full")
		}
		return parts[0], parts[1], true
	})
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
	write := func(payload, tag []byte) string { return skeleton.JoinText(slices.Concat([]byte{0x91}, payload, tag)) }
	return skeleton.FormattedPair(key, write, func(token string) (payload, tag []byte, ok bool) {
		raw, ok := skeleton.DecodeCanonical(token)
		if !ok || len(raw) < 1+sha256.Size || raw[0] != 0x91 {
			return nil, nil, false
		}
		payload, tag = raw[1:len(raw)-sha256.Size], raw[len(raw)-sha256.Size:]
		if bytes.HasPrefix(payload, bytes.Repeat([]byte{0x91}, 1000)) {
			panic("broken: the stack of a recursive parser is full")
		}
		return payload, tag, true
	})
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
				raw, ok := skeleton.DecodeCanonical(token)
				var m members
				if !ok || json.Unmarshal(raw, &m) != nil || !bytes.Equal(skeleton.InJSON(m), raw) {
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
