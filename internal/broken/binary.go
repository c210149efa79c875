package broken

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
)

// binaryControls returns controls that misread binary formats.
func binaryControls() []Control {
	return []Control{
		aPair("longer-heads", "payload and tag are a list in CBOR, whose lengths may be written in any width", []codecs.Property{codecs.Canonical}, []string{"ENC-07"}, func(key []byte) pair { return inCBOR(key, false) }),
		aPair("unknown-fields", "payload and tag are fields of a protobuf message, and others are skipped", []codecs.Property{codecs.Canonical}, []string{"ENC-07"}, inProtobuf),
		aPair("netstrings", "payload and tag are netstrings, whose lengths may begin with zeros", []codecs.Property{codecs.Canonical}, []string{"ENC-07"}, inNetstrings),
		aPair("longer-heads-behind-letters", "behind two letters, payload and tag are a list in CBOR, whose lengths may be written in any width",
			[]codecs.Property{codecs.Canonical}, []string{"ENC-07"}, func(key []byte) pair {
				list := inCBOR(key, false)
				return pair{
					seal: func(payload []byte) string { return "b2" + list.seal(payload) },
					unseal: func(token string) ([]byte, error) {
						text, ok := strings.CutPrefix(token, "b2")
						if !ok {
							return nil, errMalformed
						}
						return list.unseal(text)
					},
				}
			}),
		withDisclaimer(aPair("recompressed", "payload and tag are compressed, at any level", []codecs.Property{codecs.Canonical}, []string{"ENC-07"}, recompressedCodec), codecs.Inert, "the tag is inside"),
		aPair("blocks-overflow", "blocks of 8 bytes are 11 digits of base 62, and more is cut off", []codecs.Property{codecs.Canonical}, []string{"ENC-05"}, func(key []byte) pair { return inBase62(key, false) }),
		aPair("longer-numbers", "a version and the length of the payload may be written in any number of groups of seven bits", []codecs.Property{codecs.Canonical},
			[]string{"ENC-07"}, func(key []byte) pair { return inGroups(key, false) }),
	}
}

// inCBOR returns a codec of tokens
//
//	token = base64url(0x82 || 0x5a || length[4] || payload || 0x58 || 0x20 || tag[32])
//
// which is a CBOR list of two byte strings (RFC 8949). If strict, it accepts only this encoding.
func inCBOR(key []byte, strict bool) pair {
	write := func(payload, tag []byte) string {
		head := binary.BigEndian.AppendUint32([]byte{0x82, 0x5a}, uint32(len(payload)))
		return base64.RawURLEncoding.EncodeToString(slices.Concat(head, payload, []byte{0x58, 0x20}, tag))
	}
	return pair{
		seal: func(payload []byte) string { return write(payload, hmacSHA256(key, payload)) },
		unseal: func(token string) ([]byte, error) {
			raw, ok := decodeCanonical(token)
			rest, isList := bytes.CutPrefix(raw, []byte{0x82})
			payload, rest, okPayload := byteString(rest)
			tag, rest, okTag := byteString(rest)
			if !ok || !isList || !okPayload || !okTag || len(rest) > 0 || strict && write(payload, tag) != token {
				return nil, errMalformed
			}
			return payload, refusedUnless(hmac.Equal(tag, hmacSHA256(key, payload)))
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
func inProtobuf(key []byte) pair {
	return pair{
		seal: func(payload []byte) string {
			head := binary.AppendUvarint([]byte{0x0a}, uint64(len(payload)))
			return base64.RawURLEncoding.EncodeToString(slices.Concat(head, payload, []byte{0x12, sha256.Size}, hmacSHA256(key, payload)))
		},
		unseal: func(token string) ([]byte, error) {
			raw, ok := decodeCanonical(token)
			fields := map[byte][]byte{}
			for ok && len(raw) > 0 {
				n, size := binary.Uvarint(raw[1:])
				if ok = raw[0]&7 == 2 && size > 0 && n <= uint64(len(raw)-1-max(size, 0)); ok {
					fields[raw[0]>>3] = raw[1+size : 1+size+int(n)]
					raw = raw[1+size+int(n):]
				}
			}
			if !ok || fields[1] == nil || fields[2] == nil {
				return nil, errMalformed
			}
			return fields[1], refusedUnless(hmac.Equal(fields[2], hmacSHA256(key, fields[1])))
		},
	}
}

// inNetstrings returns a codec of tokens
//
//	token = base64url(length ":" payload ",32:" tag[32] ",")
//
// with a decimal length.
func inNetstrings(key []byte) pair {
	read := func(raw []byte) (text, rest []byte, ok bool) {
		count, rest, ok := bytes.Cut(raw, []byte(":"))
		n, err := strconv.ParseUint(string(count), 10, 31)
		if !ok || err != nil || n >= uint64(len(rest)) || rest[n] != ',' {
			return nil, nil, false
		}
		return rest[:n], rest[n+1:], true
	}
	return pair{
		seal: func(payload []byte) string {
			return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d:%s,32:%s,", len(payload), payload, hmacSHA256(key, payload)))
		},
		unseal: func(token string) ([]byte, error) {
			raw, ok := decodeCanonical(token)
			payload, rest, okPayload := read(raw)
			tag, rest, okTag := read(rest)
			if !ok || !okPayload || !okTag || len(rest) > 0 {
				return nil, errMalformed
			}
			return payload, refusedUnless(hmac.Equal(tag, hmacSHA256(key, payload)))
		},
	}
}

// recompressedCodec returns a codec of tokens
//
//	token = base64url(zlib(payload || tag[32]))
//
// The reader accepts the output of any compression level, up to 1 MiB.
func recompressedCodec(key []byte) pair {
	return pair{
		seal: func(payload []byte) string {
			return base64.RawURLEncoding.EncodeToString(inZlib(slices.Concat(payload, hmacSHA256(key, payload)), zlib.DefaultCompression))
		},
		unseal: func(token string) ([]byte, error) {
			raw, ok := decodeCanonical(token)
			rest := bytes.NewReader(raw)
			r, err := zlib.NewReader(rest)
			if !ok || err != nil {
				return nil, errMalformed
			}
			plain, err := io.ReadAll(io.LimitReader(r, 1<<20))
			n := len(plain) - sha256.Size
			if err != nil || n < 0 || rest.Len() > 0 {
				return nil, errMalformed
			}
			if !hmac.Equal(plain[n:], hmacSHA256(key, plain[:n])) {
				return nil, errUnauthentic
			}
			for level := zlib.HuffmanOnly; level <= zlib.BestCompression; level++ {
				if bytes.Equal(raw, inZlib(plain, level)) {
					return plain[:n], nil
				}
			}
			return nil, errMalformed
		},
	}
}

func inZlib(plain []byte, level int) []byte {
	var b bytes.Buffer
	w, err := zlib.NewWriterLevel(&b, level)
	if err != nil {
		panic("broken: " + err.Error()) // the levels are constants of compress/flate
	}
	w.Write(plain)
	w.Close()
	return b.Bytes()
}

// inBase62 returns a codec of tokens
//
//	token = "b." || base62(length[8] || payload || zeros || tag[32])
//
// with 11 digits for each 8 bytes. If strict, it accepts only one encoding.
func inBase62(key []byte, strict bool) pair {
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
	return pair{
		seal: func(payload []byte) string { return write(payload, hmacSHA256(key, payload)) },
		unseal: func(token string) ([]byte, error) {
			text, ok := strings.CutPrefix(token, "b.")
			if !ok || len(text)%width != 0 || len(text) < width*(size+sha256.Size)/size || strings.Trim(text, digitsAndLetters) != "" {
				return nil, errMalformed
			}
			var raw []byte
			for block := range slices.Chunk([]byte(text), width) {
				n, _ := new(big.Int).SetString(string(block), 62)
				raw = binary.BigEndian.AppendUint64(raw, new(big.Int).And(n, new(big.Int).SetUint64(math.MaxUint64)).Uint64())
			}
			n, padded, tag := binary.BigEndian.Uint64(raw), raw[size:len(raw)-sha256.Size], raw[len(raw)-sha256.Size:]
			if n > uint64(len(padded)) || !bytes.Equal(padded[n:], make([]byte, -n&(size-1))) || strict && write(padded[:n], tag) != token {
				return nil, errMalformed
			}
			return padded[:n], refusedUnless(hmac.Equal(tag, hmacSHA256(key, padded[:n])))
		},
	}
}

const digitsAndLetters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// inGroups returns a codec of tokens
//
//	token = base64url(0x07 || length || payload || tag[32])
//
// with the version and length as varints. If strict, it accepts only one encoding.
func inGroups(key []byte, strict bool) pair {
	const version = 7
	write := func(payload, tag []byte) string {
		head := binary.AppendUvarint([]byte{version}, uint64(len(payload)))
		return base64.RawURLEncoding.EncodeToString(slices.Concat(head, payload, tag))
	}
	return pair{
		seal: func(payload []byte) string { return write(payload, hmacSHA256(key, payload)) },
		unseal: func(token string) ([]byte, error) {
			raw, ok := decodeCanonical(token)
			v, width := binary.Uvarint(raw)
			if !ok || v != version || width <= 0 {
				return nil, errMalformed
			}
			n, size := binary.Uvarint(raw[width:])
			if size <= 0 || n > uint64(len(raw)) || len(raw) != width+size+int(n)+sha256.Size {
				return nil, errMalformed
			}
			payload, tag := raw[width+size:len(raw)-sha256.Size], raw[len(raw)-sha256.Size:]
			if strict && write(payload, tag) != token {
				return nil, errMalformed
			}
			return payload, refusedUnless(hmac.Equal(tag, hmacSHA256(key, payload)))
		},
	}
}

// byteForVersion returns a codec of tokens
//
//	token = base64url(version || payload || tag[32])
//
// that writes version 1. It also reads version 0, whose tag covers one more byte.
func byteForVersion(key []byte) pair {
	behind := map[byte][]byte{1: nil, 0: {0}}
	return pair{
		seal: func(payload []byte) string {
			return joinText(slices.Concat([]byte{1}, payload, hmacSHA256(key, payload)))
		},
		unseal: func(token string) ([]byte, error) {
			parts, err := splitText(token, 1)
			if err != nil || len(parts[0]) <= sha256.Size || parts[0][0] > 1 {
				return nil, errMalformed
			}
			payload, tag := parts[0][1:len(parts[0])-sha256.Size], parts[0][len(parts[0])-sha256.Size:]
			return payload, refusedUnless(hmac.Equal(tag, hmacSHA256(key, slices.Concat(payload, behind[parts[0][0]]))))
		},
	}
}
