package planted

import (
	"bytes"
	"time"

	"sealab/codecs"
)

// The bugs that only rare lengths, words, buffers, rings and moments show.
func rare() []Bug {
	return []Bug{
		{Name: "long-payload", Target: "text", in: codecsWith("XChaCha20-Poly1305"), opening: released(shortOfChunk),
			Doc: "a payload of a chunk and one byte comes back without that byte"},
		{Name: "magic-word", Target: "text", in: codecsWith("AES-256-GCM"), opening: released(withoutMagic),
			Doc: "what begins as an older format did comes back without its mark"},
		{Name: "exact-room", Target: "relations", in: codecsWith("AES-256-GCM"), opening: exactRoom,
			Doc: "where dst has room for the payload and no more, its last byte is wrong"},
		{Name: "third-key", Target: "relations", in: codecsWith("HMAC-SHA256"), ring: firstTwo,
			Doc: "of a ring only two keys are tried"},
		{Name: "expiry-instant", Target: "contexts", in: schemesThatHold(codecs.Expiry), reading: instantAgo,
			Doc: "a token is good at the instant at which it expires"},
		{Name: "lenient-late", Target: "contexts", in: lenientReadings, reading: slowClock,
			Doc: "a faithful reading, which disclaims expiry for what its format lacks, is late as well"},
	}
}

// released changes what an authentic token carried.
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

func instantAgo(now time.Time) time.Time { return now.Add(-time.Microsecond) }
