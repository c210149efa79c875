package broken

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"runtime"
	"slices"
	"strings"
	"sync"

	"sealab/codecs"
)

// spent are mistakes with memory, work and buffers.
func spent() []Control {
	total := func(name, doc string, attacks []string, mistake func(*signerParts)) Control {
		return aSigner(name, doc, breaks(codecs.Total), attacks, mistake)
	}
	carries := func(name, doc, attack string, carried func([]byte) []byte) Control {
		return aSigner(name, doc, breaks(codecs.ByteExact), by(attack), func(p *signerParts) { p.carried = carried })
	}
	return []Control{
		total("short-text", "the prefix is cut off before the length is checked", by("FRM-02", "RES-02"), func(p *signerParts) {
			p.judged = func(token []byte) []byte { return slices.Concat(token[:len(signerPrefix)], token[len(signerPrefix):]) }
		}),
		total("stated-length", "a buffer is made of the length that the token states", by("FRM-03"), statedLength),
		total("collapsed", "double full stops are removed one by one", by("FRM-04", "RES-01"), func(p *signerParts) {
			p.judged = func(token []byte) []byte {
				text := string(token)
				for strings.Contains(text, "..") {
					text = strings.Replace(text, "..", ".", 1)
				}
				return []byte(text)
			}
		}),
		from(4<<20, total("joined-again", "a token over 1 MiB is read in blocks, and each makes the whole anew", by("FRM-04", "RES-08"), func(p *signerParts) {
			p.judged = joinedAgain
		})),
		carries("trimmed", "white space around the payload is trimmed", "PAY-03", bytes.TrimSpace),
		carries("valid-text", "what is not UTF-8 is replaced", "PAY-03", func(payload []byte) []byte {
			return bytes.ToValidUTF8(payload, []byte("\ufffd"))
		}),
		carries("as-value", "a JSON payload is read into a value and written again", "PAY-02", func(payload []byte) []byte {
			var value any
			if json.Unmarshal(payload, &value) != nil {
				return payload
			}
			written, err := json.Marshal(value)
			if err != nil {
				return payload
			}
			return written
		}),
		aSigner("wiped", "the token is wiped from the caller's memory", breaks(codecs.ByteExact), by("RES-03"), func(p *signerParts) {
			p.judged = func(token []byte) []byte {
				kept := bytes.Clone(token)
				clear(token)
				return kept
			}
		}),
		scratch(),
		fastPath(),
	}
}

// from lets the control say from which length of a token on its mistake shows.
func from(n int, c Control) Control {
	c.Bytes = n
	return c
}

// joinedAgain reads the bytes beyond the first MiB in blocks of 64 KiB.
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

// statedLength puts the payload's length in front of it and makes a buffer of
// that length before anything is checked.
func statedLength(p *signerParts) {
	p.carried = func(payload []byte) []byte {
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(payload))), payload...)
	}
	decode := p.decode
	p.decode = func(text string) ([]byte, bool) {
		raw, ok := decode(text)
		if ok && len(raw) >= idSize+4 {
			buffer := make([]byte, binary.BigEndian.Uint32(raw[idSize:])%(17<<20))
			copy(buffer, raw[idSize:])
		}
		return raw, ok
	}
	p.unpacked = func(carried []byte) []byte { return carried[4:] }
}

// A shared is a codec whose calls have one buffer between them.
type shared struct {
	codecs.Codec
	mu     sync.Mutex
	buffer []byte
}

// Seal implements codecs.Codec. Between writing the buffer and reading it,
// another call may come.
func (s *shared) Seal(dst, payload []byte) ([]byte, error) {
	s.mu.Lock()
	s.buffer = append(s.buffer[:0], payload...)
	s.mu.Unlock()
	for range 64 { // so that another call comes, however the machine is busy
		runtime.Gosched()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Codec.Seal(dst, bytes.Clone(s.buffer))
}

// wrapped is a sound signed codec behind another.
func wrapped(name, doc string, broken []codecs.Property, attacks []string, wrap func(codecs.Codec) codecs.Codec) Control {
	c := aSigner(name, doc, broken, attacks, func(*signerParts) {})
	open := c.NewCodec
	c.NewCodec = func(config codecs.Config) (codecs.Codec, error) {
		codec, err := open(config)
		if err != nil {
			return nil, err
		}
		return wrap(codec), nil
	}
	return c
}

func scratch() Control {
	return wrapped("scratch", "one buffer serves every call", breaks(codecs.ByteExact), by("RES-04"),
		func(c codecs.Codec) codecs.Codec { return &shared{Codec: c} })
}

// A hasty codec does not check the tag if the caller's buffer has room.
type hasty struct{ codecs.Codec }

// Unseal implements codecs.Codec.
func (h hasty) Unseal(dst, token []byte) ([]byte, error) {
	out, err := h.Codec.Unseal(dst, token)
	raw, ok := canonical(strings.TrimPrefix(string(token), signerPrefix))
	if err == nil || !ok || cap(dst)-len(dst) < len(token) || len(raw) < idSize+32 {
		return out, err
	}
	return append(dst, raw[idSize:len(raw)-32]...), nil
}

func fastPath() Control {
	return wrapped("fast-path", "with room in the caller's buffer the tag is not checked", breaks(codecs.Integrity), by("RES-05"),
		func(c codecs.Codec) codecs.Codec { return hasty{c} })
}
