// Package resources holds the negative controls of resources: codecs that work before they check a tag,
// share buffers or change bytes.
package resources

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
)

// Calls returns controls that waste memory or time, or that misuse buffers.
func Calls() []skeleton.Control {
	total := func(name, doc string, attacks []string, mistake func(*skeleton.SignerParts)) skeleton.Control {
		return skeleton.NewSigner(name, doc, []codecs.Property{codecs.Total}, attacks, mistake)
	}
	carries := func(name, doc, attack string, carried func([]byte) []byte) skeleton.Control {
		return skeleton.NewSigner(name, doc, []codecs.Property{codecs.ByteExact}, []string{attack}, func(p *skeleton.SignerParts) { p.Carried = carried })
	}
	return []skeleton.Control{
		total("short-text", "the prefix is cut off before the length is checked", []string{"FRM-02", "RES-02"}, func(p *skeleton.SignerParts) {
			p.Judged = func(token []byte) []byte {
				return slices.Concat(token[:len(skeleton.SignerPrefix)], token[len(skeleton.SignerPrefix):])
			}
		}),
		total("stated-length", "a buffer is made of the length that the token states", []string{"FRM-03"}, statedLength),
		total("negative-length", "a stated length of 64 bits becomes negative, and passes the check for the longest", []string{"FRM-03"}, negativeLength),
		skeleton.NewPair("stated-count", "a buffer is made of the length that a number of up to 28 bits states", []codecs.Property{codecs.Total}, []string{"FRM-03"}, statedCount),
		total("collapsed", "double full stops are removed one by one", []string{"FRM-04", "RES-01"}, func(p *skeleton.SignerParts) {
			p.Judged = func(token []byte) []byte {
				text := string(token)
				for strings.Contains(text, "..") {
					text = strings.Replace(text, "..", ".", 1)
				}
				return []byte(text)
			}
		}),
		total("searched-end", "padding at the end is looked for from each of its characters", []string{"RES-01"}, func(p *skeleton.SignerParts) {
			p.Judged = withoutPadding
		}),
		skeleton.AtLength(4<<20, total("joined-again", "a token over 1 MiB is read in blocks, and each makes the whole anew", []string{"FRM-04", "RES-08"}, func(p *skeleton.SignerParts) {
			p.Judged = joinedAgain
		})),
		carries("trimmed", "white space around the payload is trimmed", "PAY-03", bytes.TrimSpace),
		carries("valid-text", "what is not UTF-8 is replaced", "PAY-03", func(payload []byte) []byte {
			return bytes.ToValidUTF8(payload, []byte("\ufffd"))
		}),
		carries("marked-payload", "a payload with base64 behind b64: is decoded", "PAY-02", func(payload []byte) []byte {
			coded, marked := bytes.CutPrefix(payload, []byte("b64:"))
			if raw, err := base64.RawURLEncoding.DecodeString(string(coded)); marked && err == nil {
				return raw
			}
			return payload
		}),
		carries("as-value", "a JSON payload is read into a value and written again", "PAY-02", func(payload []byte) []byte {
			var value any
			if json.Unmarshal(payload, &value) != nil {
				return payload
			}
			return skeleton.InJSON(value)
		}),
		skeleton.NewSigner("wiped", "the token is wiped from the caller's memory", []codecs.Property{codecs.ByteExact}, []string{"RES-03"}, func(p *skeleton.SignerParts) {
			p.Judged = func(token []byte) []byte {
				kept := bytes.Clone(token)
				clear(token)
				return kept
			}
		}),
		skeleton.NewWrappedCodec("scratch", "one buffer serves every call", []codecs.Property{codecs.ByteExact}, []string{"RES-04"},
			func(c codecs.Codec) codecs.Codec { return &sharedBufferCodec{Codec: c} }),
		skeleton.NewWrappedCodec("fast-path", "with room in the caller's buffer the tag is not checked", []codecs.Property{codecs.Integrity}, []string{"RES-05"},
			func(c codecs.Codec) codecs.Codec { return uncheckedTagCodec{c} }),
	}
}

// withoutPadding returns a token unless it ends with padding, which no honest one does. It searches as the
// pattern =+$ does, with a copy for each beginning, in quadratic time.
func withoutPadding(token []byte) []byte {
	for i := range token {
		if token[i] == '=' && strings.Trim(string(token[i:]), "=") == "" {
			return nil
		}
	}
	return token
}

// joinedAgain copies the bytes beyond the first MiB in blocks of 64 KiB, in quadratic time.
func joinedAgain(token []byte) []byte {
	const plain, block = 1 << 20, 1 << 16
	if len(token) <= plain {
		return token
	}
	text := string(token[:plain])
	for part := range slices.Chunk(token[plain:], block) {
		text += string(part)
	}
	return []byte(text)
}

// statedCount writes the length of the rest in front, in hexadecimal.
func statedCount(key []byte) skeleton.Pair {
	inner := skeleton.TaggedPair(key)
	return skeleton.Pair{
		Write: func(payload []byte) string {
			text := inner.Write(payload)
			return fmt.Sprintf("%x.%s", len(text), text)
		},
		Read: func(token string) ([]byte, error) {
			count, text, _ := strings.Cut(token, ".")
			n, err := strconv.ParseUint(count, 16, 28)
			if err != nil {
				return nil, skeleton.ErrMalformed
			}
			buffer := make([]byte, n)
			if copy(buffer, text) != len(buffer) || len(text) != len(buffer) || count != strconv.FormatUint(n, 16) {
				return nil, skeleton.ErrMalformed
			}
			return inner.Read(text)
		},
	}
}

// statedLength writes the payload's length in front. The reader allocates a buffer of that length before
// it checks anything.
func statedLength(p *skeleton.SignerParts) {
	p.Carried = func(payload []byte) []byte {
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(payload))), payload...)
	}
	decode := p.Decode
	p.Decode = func(text string) ([]byte, bool) {
		raw, ok := decode(text)
		if ok && len(raw) >= skeleton.IDSize+4 {
			buffer := make([]byte, binary.BigEndian.Uint32(raw[skeleton.IDSize:])%(17<<20))
			copy(buffer, raw[skeleton.IDSize:])
		}
		return raw, ok
	}
	p.Unpacked = func(carried []byte) []byte { return carried[4:] }
}

// negativeLength writes the payload's length in front, as a varint. The reader cuts off the payload
// before it checks anything, and the conversion of the length changes the sign of large ones.
func negativeLength(p *skeleton.SignerParts) {
	p.Carried = func(payload []byte) []byte {
		return append(binary.AppendUvarint(nil, uint64(len(payload))), payload...)
	}
	cut := func(carried []byte) ([]byte, bool) {
		n, size := binary.Uvarint(carried)
		if size <= 0 || int(n) > len(carried)-size {
			return nil, false
		}
		return carried[size:][:int(n)], true
	}
	decode := p.Decode
	p.Decode = func(text string) ([]byte, bool) {
		raw, ok := decode(text)
		if ok && len(raw) >= skeleton.IDSize {
			_, ok = cut(raw[skeleton.IDSize:])
		}
		return raw, ok
	}
	p.Unpacked = func(carried []byte) []byte {
		payload, _ := cut(carried)
		return payload
	}
}

// A sharedBufferCodec is a codec whose calls share one buffer.
type sharedBufferCodec struct {
	codecs.Codec
	mu     sync.Mutex
	buffer []byte
}

// Seal implements codecs.Codec. Another call may overwrite the buffer before it is read.
func (s *sharedBufferCodec) Seal(dst, payload []byte) ([]byte, error) {
	s.mu.Lock()
	s.buffer = append(s.buffer[:0], payload...)
	s.mu.Unlock()
	for range 64 { // let another call run, however busy the machine is
		runtime.Gosched()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Codec.Seal(dst, bytes.Clone(s.buffer))
}

// An uncheckedTagCodec skips the check of the tag if the caller's buffer has room.
type uncheckedTagCodec struct{ codecs.Codec }

// Unseal implements codecs.Codec.
func (h uncheckedTagCodec) Unseal(dst, token []byte) ([]byte, error) {
	out, err := h.Codec.Unseal(dst, token)
	raw, ok := skeleton.DecodeCanonical(strings.TrimPrefix(string(token), skeleton.SignerPrefix))
	if err == nil || !ok || cap(dst)-len(dst) < len(token) || len(raw) < skeleton.IDSize+32 {
		return out, err
	}
	return append(dst, raw[skeleton.IDSize:len(raw)-32]...), nil
}
