package broken

import (
	"crypto/hmac"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strings"

	"sealab/codecs"
	"sealab/internal/lab"
)

// long are mistakes that show in long tokens.
func long() []Control {
	return []Control{
		aPair("uncounted-chunks", "long payloads are cut into chunks with a number, and how many there are is nowhere", breaks(codecs.Integrity), by("FRM-10"), uncountedChunks),
		headOnly("head-only", "of a long payload the first KiB is authenticated", 1<<10),
		from(1<<18, headOnly("head-of-64k", "of a payload as much is authenticated as two bytes count", 1<<16)),
	}
}

// headOnly is a control that authenticates the first n bytes of a message.
func headOnly(name, doc string, n int) Control {
	return aSigner(name, doc, breaks(codecs.Integrity), by("FRM-11"), func(p *signerParts) {
		mac := p.mac
		p.mac = func(key, message []byte) []byte { return mac(key, message[:min(len(message), n)]) }
		p.also = p.mac
	})
}

// chunk is the length of a chunk in bytes.
const chunk = 1 << 10

// uncountedChunks writes
//
//	token = base64url(id[16]) *( "." base64url(chunk || tag[32]) )
//	tag = HMAC-SHA256(key, id || index[4] || chunk)
func uncountedChunks(key []byte) pair {
	tag := func(id []byte, index int, part []byte) []byte {
		return hmacSHA256(key, slices.Concat(id, binary.BigEndian.AppendUint32(nil, uint32(index)), part))
	}
	return pair{
		seal: func(payload []byte) string {
			id := make([]byte, 16)
			lab.Random(id)
			token := []string{base64.RawURLEncoding.EncodeToString(id)}
			for part := range slices.Chunk(append(slices.Clip(payload), 0), chunk) {
				sealed := slices.Concat(part, tag(id, len(token), part))
				token = append(token, base64.RawURLEncoding.EncodeToString(sealed))
			}
			return strings.Join(token, ".")
		},
		unseal: func(token string) ([]byte, error) {
			texts := strings.Split(token, ".")
			id, ok := canonical(texts[0])
			if !ok || len(id) != 16 || len(texts) < 2 {
				return nil, errMalformed
			}
			var payload []byte
			for index, text := range texts[1:] {
				raw, ok := canonical(text)
				if !ok || len(raw) <= 32 {
					return nil, errMalformed
				}
				part := raw[:len(raw)-32]
				if !hmac.Equal(raw[len(part):], tag(id, index+1, part)) {
					return nil, errUnauthentic
				}
				payload = append(payload, part...)
			}
			return payload[:len(payload)-1], nil
		},
	}
}
