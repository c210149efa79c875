package encoding

import (
	"bytes"
	"compress/zlib"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
)

// BinaryFormats returns controls that misread binary formats.
func BinaryFormats() []skeleton.Control {
	return []skeleton.Control{
		skeleton.NewPair("longer-heads", "payload and tag are a list in CBOR, whose lengths may be written in any width", []codecs.Property{codecs.Canonical}, []string{"ENC-07"}, func(key []byte) skeleton.Pair { return inCBOR(key, false) }),
		skeleton.NewPair("unknown-members", "payload and tag are members of a map in CBOR, and members with small numbers before them are skipped", []codecs.Property{codecs.Canonical}, []string{"ENC-07"}, inCBORMap),
		skeleton.NewPair("unknown-fields", "payload and tag are fields of a protobuf message, and others are skipped", []codecs.Property{codecs.Canonical}, []string{"ENC-07"}, inProtobuf),
		skeleton.NewPair("netstrings", "payload and tag are netstrings, whose lengths may begin with zeros", []codecs.Property{codecs.Canonical}, []string{"ENC-07"}, inNetstrings),
		skeleton.NewPair("longer-heads-behind-letters", "behind two letters, payload and tag are a list in CBOR, whose lengths may be written in any width",
			[]codecs.Property{codecs.Canonical}, []string{"ENC-07"}, func(key []byte) skeleton.Pair {
				list := inCBOR(key, false)
				return skeleton.Pair{
					Write: func(payload []byte) string { return "b2" + list.Write(payload) },
					Read: func(token string) ([]byte, error) {
						text, ok := strings.CutPrefix(token, "b2")
						if !ok {
							return nil, skeleton.ErrMalformed
						}
						return list.Read(text)
					},
				}
			}),
		skeleton.WithDisclaimer(skeleton.NewPair("recompressed", "payload and tag are compressed, at any level", []codecs.Property{codecs.Canonical}, []string{"ENC-07"}, recompressedCodec), codecs.Inert, "the tag is inside"),
		skeleton.NewPair("blocks-overflow", "blocks of 8 bytes are 11 digits of base 62, and more is cut off", []codecs.Property{codecs.Canonical}, []string{"ENC-05"}, func(key []byte) skeleton.Pair { return inBase62(key, false) }),
		skeleton.NewPair("longer-numbers", "a version and the length of the payload may be written in any number of groups of seven bits", []codecs.Property{codecs.Canonical},
			[]string{"ENC-07"}, func(key []byte) skeleton.Pair { return inGroups(key, false) }),
	}
}

// inCBOR returns a codec of tokens
//
//	token = base64url(0x82 || 0x5a || length[4] || payload || 0x58 || 0x20 || tag[32])
//
// which is a CBOR list of two byte strings (RFC 8949). If strict, it accepts only this encoding.
func inCBOR(key []byte, strict bool) skeleton.Pair {
	write := func(payload, tag []byte) string {
		head := binary.BigEndian.AppendUint32([]byte{0x82, 0x5a}, uint32(len(payload)))
		return base64.RawURLEncoding.EncodeToString(slices.Concat(head, payload, []byte{0x58, 0x20}, tag))
	}
	return skeleton.FormattedPair(key, write, func(token string) (payload, tag []byte, ok bool) {
		raw, ok := skeleton.DecodeCanonical(token)
		rest, isList := bytes.CutPrefix(raw, []byte{0x82})
		payload, rest, okPayload := byteString(rest)
		tag, rest, okTag := byteString(rest)
		return payload, tag, ok && isList && okPayload && okTag && len(rest) == 0 && (!strict || write(payload, tag) == token)
	})
}

// inCBORMap returns a codec of tokens
//
//	token = base64url(0xa2 || 0x01 || 0x5a || length[4] || payload || 0x02 || 0x58 || 0x20 || tag[32])
//
// which is a CBOR map of two byte strings under the keys 1 and 2. The reader skips members before them whose
// key and value are numbers below 24.
func inCBORMap(key []byte) skeleton.Pair {
	write := func(payload []byte) []byte {
		head := binary.BigEndian.AppendUint32([]byte{0xa2, 0x01, 0x5a}, uint32(len(payload)))
		return slices.Concat(head, payload, []byte{0x02, 0x58, sha256.Size}, skeleton.HMAC(key, payload))
	}
	const head, behind = 3 + 4, 3 + sha256.Size // bytes around the payload
	return skeleton.Pair{
		Write: func(payload []byte) string { return base64.RawURLEncoding.EncodeToString(write(payload)) },
		Read: func(token string) ([]byte, error) {
			raw, ok := skeleton.DecodeCanonical(token)
			for ok && len(raw) > 2 && raw[0] > 0xa2 && raw[0] < 0xb8 && max(raw[1], raw[2]) < 24 {
				raw = append([]byte{raw[0] - 1}, raw[3:]...)
			}
			if !ok || len(raw) < head+behind {
				return nil, skeleton.ErrMalformed
			}
			payload := raw[head : len(raw)-behind]
			return payload, skeleton.Authentic(hmac.Equal(raw, write(payload)))
		},
	}
}

// byteString reads a CBOR byte string with a length of 1, 2 or 4 bytes.
func byteString(raw []byte) (text, rest []byte, ok bool) {
	if len(raw) == 0 || raw[0] < 0x58 || raw[0] > 0x5a {
		return nil, nil, false
	}
	width := 1 << (raw[0] - 0x58)
	if len(raw) < 1+width {
		return nil, nil, false
	}
	n := binary.BigEndian.Uint32(append(make([]byte, 4-width), raw[1:1+width]...))
	if rest = raw[1+width:]; uint64(n) > uint64(len(rest)) {
		return nil, nil, false
	}
	return rest[:n], rest[n:], true
}

// inProtobuf returns a codec of tokens
//
//	token = base64url(0x0a || length || payload || 0x12 || 0x20 || tag[32])
//
// with varint lengths. The reader skips fields other than 1 and 2.
func inProtobuf(key []byte) skeleton.Pair {
	write := func(payload, tag []byte) string {
		head := binary.AppendUvarint([]byte{0x0a}, uint64(len(payload)))
		return base64.RawURLEncoding.EncodeToString(slices.Concat(head, payload, []byte{0x12, sha256.Size}, tag))
	}
	return skeleton.FormattedPair(key, write, func(token string) (payload, tag []byte, ok bool) {
		raw, ok := skeleton.DecodeCanonical(token)
		fields := map[byte][]byte{}
		for ok && len(raw) > 0 {
			n, size := binary.Uvarint(raw[1:])
			if ok = raw[0]&7 == 2 && size > 0 && n <= uint64(len(raw)-1-max(size, 0)); ok {
				fields[raw[0]>>3] = raw[1+size : 1+size+int(n)]
				raw = raw[1+size+int(n):]
			}
		}
		return fields[1], fields[2], ok && fields[1] != nil && fields[2] != nil
	})
}

// inNetstrings returns a codec of tokens
//
//	token = base64url(length ":" payload ",32:" tag[32] ",")
//
// with a decimal length.
func inNetstrings(key []byte) skeleton.Pair {
	read := func(raw []byte) (text, rest []byte, ok bool) {
		count, rest, ok := bytes.Cut(raw, []byte(":"))
		n, err := strconv.ParseUint(string(count), 10, 31)
		if !ok || err != nil || n >= uint64(len(rest)) || rest[n] != ',' {
			return nil, nil, false
		}
		return rest[:n], rest[n+1:], true
	}
	write := func(payload, tag []byte) string {
		return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d:%s,32:%s,", len(payload), payload, tag))
	}
	return skeleton.FormattedPair(key, write, func(token string) (payload, tag []byte, ok bool) {
		raw, ok := skeleton.DecodeCanonical(token)
		payload, rest, okPayload := read(raw)
		tag, rest, okTag := read(rest)
		return payload, tag, ok && okPayload && okTag && len(rest) == 0
	})
}

// recompressedCodec returns a codec of tokens
//
//	token = base64url(zlib(payload || tag[32]))
//
// The reader accepts the output of any compression level, up to 1 MiB.
func recompressedCodec(key []byte) skeleton.Pair {
	return skeleton.Pair{
		Write: func(payload []byte) string {
			return base64.RawURLEncoding.EncodeToString(skeleton.InZlib(slices.Concat(payload, skeleton.HMAC(key, payload)), zlib.DefaultCompression))
		},
		Read: func(token string) ([]byte, error) {
			raw, ok := skeleton.DecodeCanonical(token)
			rest := bytes.NewReader(raw)
			r, err := zlib.NewReader(rest)
			if !ok || err != nil {
				return nil, skeleton.ErrMalformed
			}
			plain, err := io.ReadAll(io.LimitReader(r, 1<<20))
			n := len(plain) - sha256.Size
			if err != nil || n < 0 || rest.Len() > 0 {
				return nil, skeleton.ErrMalformed
			}
			if !hmac.Equal(plain[n:], skeleton.HMAC(key, plain[:n])) {
				return nil, skeleton.ErrUnauthentic
			}
			for level := zlib.HuffmanOnly; level <= zlib.BestCompression; level++ {
				if bytes.Equal(raw, skeleton.InZlib(plain, level)) {
					return plain[:n], nil
				}
			}
			return nil, skeleton.ErrMalformed
		},
	}
}

// inBase62 returns a codec of tokens
//
//	token = "b." || base62(length[8] || payload || zeros || tag[32])
//
// with 11 digits for each 8 bytes. If strict, it accepts only one encoding.
func inBase62(key []byte, strict bool) skeleton.Pair {
	const size, width = 8, 11
	write := func(payload, tag []byte) string {
		raw := slices.Concat(binary.BigEndian.AppendUint64(nil, uint64(len(payload))), payload, make([]byte, -len(payload)&(size-1)), tag)
		token := "b."
		for block := range slices.Chunk(raw, size) {
			text := new(big.Int).SetBytes(block).Text(62)
			token += strings.Repeat("0", width-len(text)) + text
		}
		return token
	}
	return skeleton.FormattedPair(key, write, func(token string) (payload, tag []byte, ok bool) {
		text, ok := strings.CutPrefix(token, "b.")
		if !ok || len(text)%width != 0 || len(text) < width*(size+sha256.Size)/size || strings.Trim(text, digitsAndLetters) != "" {
			return nil, nil, false
		}
		var raw []byte
		for block := range slices.Chunk([]byte(text), width) {
			n, _ := new(big.Int).SetString(string(block), 62)
			raw = binary.BigEndian.AppendUint64(raw, new(big.Int).And(n, new(big.Int).SetUint64(math.MaxUint64)).Uint64())
		}
		n, padded, tag := binary.BigEndian.Uint64(raw), raw[size:len(raw)-sha256.Size], raw[len(raw)-sha256.Size:]
		if n > uint64(len(padded)) || !bytes.Equal(padded[n:], make([]byte, -n&(size-1))) {
			return nil, nil, false
		}
		return padded[:n], tag, !strict || write(padded[:n], tag) == token
	})
}

const digitsAndLetters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// inGroups returns a codec of tokens
//
//	token = base64url(0x07 || length || payload || tag[32])
//
// with the version and length as varints. If strict, it accepts only one encoding.
func inGroups(key []byte, strict bool) skeleton.Pair {
	const version = 7
	write := func(payload, tag []byte) string {
		head := binary.AppendUvarint([]byte{version}, uint64(len(payload)))
		return base64.RawURLEncoding.EncodeToString(slices.Concat(head, payload, tag))
	}
	return skeleton.FormattedPair(key, write, func(token string) (payload, tag []byte, ok bool) {
		raw, ok := skeleton.DecodeCanonical(token)
		v, width := binary.Uvarint(raw)
		if !ok || v != version || width <= 0 {
			return nil, nil, false
		}
		n, size := binary.Uvarint(raw[width:])
		if size <= 0 || n > uint64(len(raw)) || len(raw) != width+size+int(n)+sha256.Size {
			return nil, nil, false
		}
		payload, tag = raw[width+size:len(raw)-sha256.Size], raw[len(raw)-sha256.Size:]
		return payload, tag, !strict || write(payload, tag) == token
	})
}
