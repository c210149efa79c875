package encryption

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"io"

	"sealab/internal/broken/skeleton"
)

func compressPayload(p *skeleton.SealerParts) {
	p.Pack = func(payload []byte) []byte {
		var b bytes.Buffer
		w, err := flate.NewWriter(&b, flate.BestCompression)
		if err != nil {
			panic("broken: " + err.Error()) // the level is valid
		}
		w.Write(payload)
		w.Close()
		return b.Bytes()
	}
	p.Unpack = func(packed []byte) ([]byte, error) {
		payload, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
		if err != nil {
			return nil, skeleton.ErrMalformed
		}
		return payload, nil
	}
}

// compressedIfLong compresses only long payloads. A byte in front says whether a payload is compressed.
func compressedIfLong(p *skeleton.SealerParts) {
	compressPayload(p)
	pack, unpack := p.Pack, p.Unpack
	p.Pack = func(payload []byte) []byte {
		if len(payload) <= 32<<10 {
			return append([]byte{0}, payload...)
		}
		return append([]byte{1}, pack(payload)...)
	}
	p.Unpack = func(packed []byte) ([]byte, error) {
		if len(packed) > 0 && packed[0] == 0 {
			return packed[1:], nil
		}
		return unpack(packed[min(1, len(packed)):])
	}
}

// compressedText compresses the base64 of a long payload. A repetition shows in it only if its distance is
// a multiple of 3.
func compressedText(p *skeleton.SealerParts) {
	whole := *p
	compressPayload(&whole)
	p.Pack = func(payload []byte) []byte {
		if len(payload) <= 1<<10 {
			return append([]byte{0}, payload...)
		}
		return append([]byte{1}, whole.Pack([]byte(base64.RawStdEncoding.EncodeToString(payload)))...)
	}
	p.Unpack = func(packed []byte) ([]byte, error) {
		if packed[0] == 0 {
			return packed[1:], nil
		}
		text, err := whole.Unpack(packed[1:])
		if err != nil {
			return nil, err
		}
		return base64.RawStdEncoding.DecodeString(string(text))
	}
}

// zerosCounted packs a payload as the number of its trailing zero bytes, followed by the bytes before
// them.
func zerosCounted(p *skeleton.SealerParts) {
	p.Pack = func(payload []byte) []byte {
		rest := bytes.TrimRight(payload, "\x00")
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(payload)-len(rest))), rest...)
	}
	p.Unpack = func(packed []byte) ([]byte, error) {
		if len(packed) < 4 {
			return nil, skeleton.ErrMalformed
		}
		return append(packed[4:], make([]byte, binary.BigEndian.Uint32(packed))...), nil
	}
}

// hexPacked seals payloads of small hex digits as the bytes that they stand for.
func hexPacked(p *skeleton.SealerParts) {
	p.Pack = func(payload []byte) []byte {
		if raw, err := hex.DecodeString(string(payload)); err == nil && hex.EncodeToString(raw) == string(payload) {
			return append([]byte{1}, raw...)
		}
		return append([]byte{0}, payload...)
	}
	p.Unpack = func(packed []byte) ([]byte, error) {
		if packed[0] == 1 {
			return []byte(hex.EncodeToString(packed[1:])), nil
		}
		return packed[1:], nil
	}
}

// inJSONOrBase64 seals JSON payloads as they are, and others in base64.
func inJSONOrBase64(p *skeleton.SealerParts) {
	p.Pack = func(payload []byte) []byte {
		if json.Valid(payload) {
			return payload
		}
		return base64.StdEncoding.AppendEncode([]byte("!"), payload)
	}
	p.Unpack = func(packed []byte) ([]byte, error) {
		if encoded, ok := bytes.CutPrefix(packed, []byte("!")); ok {
			return base64.StdEncoding.DecodeString(string(encoded))
		}
		return packed, nil
	}
}
