package injected

import (
	"bytes"
	"time"

	"sealab/codecs"
)

// rare returns the bugs that need a rare length, word, buffer, ring or time.
func rare() []Bug {
	return []Bug{
		{Name: "long-payload", Target: "text", in: codecsWith("XChaCha20-Poly1305"), opening: released(shortOfChunk),
			Doc: "a payload of a chunk and one byte comes back without that byte"},
		{Name: "magic-word", Target: "text", in: codecsWith("AES-256-GCM"), opening: released(withoutMagic),
			Doc: "a payload with the mark of an older format comes back without it"},
		{Name: "exact-room", Target: "relations", in: codecsWith("AES-256-GCM"), opening: exactRoom,
			Doc: "if dst has room for the payload and no more, its last byte is wrong"},
		{Name: "third-key", Target: "relations", in: codecsWith("HMAC-SHA256"), ring: firstTwo,
			Doc: "only two keys of a ring are tried"},
		{Name: "expiry-instant", Target: "contexts", in: schemesThatHold(codecs.Expiry), clock: instantAgo,
			Doc: "a token is accepted at the instant at which it expires"},
		{Name: "lenient-late", Target: "contexts", in: lenientReadings, clock: slowClock,
			Doc: "a faithful reading, which disclaims expiry because of its format, expires late"},
	}
}

// released changes the payload of an authentic token.
func released(change func(payload []byte) []byte) func(opener, []byte, []byte) ([]byte, error) {
	return func(open opener, dst, token []byte) ([]byte, error) {
		out, err := open(dst, token)
		if err != nil {
			return out, err
		}
		return append(out[:len(dst)], change(out[len(dst):])...), nil
	}
}

func shortOfChunk(payload []byte) []byte {
	const chunk = 4096
	if len(payload) == chunk+1 {
		return payload[:chunk]
	}
	return payload
}

func withoutMagic(payload []byte) []byte { return bytes.TrimPrefix(payload, []byte("\x89old")) }

func exactRoom(open opener, dst, token []byte) ([]byte, error) {
	room := cap(dst) - len(dst)
	out, err := open(dst, token)
	if size := len(out) - len(dst); err == nil && size > 0 && size == room {
		out[len(out)-1] ^= 1
	}
	return out, err
}

func firstTwo(_ []byte, secrets [][]byte) [][]byte { return secrets[:min(2, len(secrets))] }

func instantAgo(c *codecs.Context) { c.Now = c.Now.Add(-time.Microsecond) }
