package injected

import (
	"bytes"
	"encoding/binary"

	"sealab/codecs"
)

// states returns bugs in the handling of a token or its payload.
func states() []Bug {
	return []Bug{
		{Name: "empty-body", Target: "text", in: codecsWith("AES-256-GCM"), opening: emptyBody,
			Doc: "the character after the prefix is read without a check of the length"},
		{Name: "dirty-refusal", Target: "text", in: codecsWith("HMAC-SHA256"), opening: dirtyRefusal,
			Doc: "a refusal returns dst with a byte of the token, for lengths that are a multiple of 7"},
		{Name: "in-place", Target: "text", in: codecsWith("XChaCha20-Poly1305"), opening: inPlace,
			Doc: "tokens of some lengths are decoded in the memory of the caller"},
		{Name: "rare-length", Target: "text", in: codecsWith("AES-256-GCM"), opening: whenOpened(rareLength),
			Doc: "a payload of 64 bytes and more that looks like an object is read one byte too far"},
		{Name: "claims-version", Target: "claims", in: codecsWith("AES-256-GCM"), opening: whenOpened(claimsVersion),
			Doc: "the reader of claims looks the version up in a table of four; only claims that are sealed again have another"},
		{Name: "claims-years", Target: "claims", in: codecsWith("HMAC-SHA256"), opening: whenOpened(claimsYears),
			Doc: "the reader of claims has room for the years up to 2225"},
		{Name: "claims-length", Target: "claims", in: codecsWith("XChaCha20-Poly1305"), opening: whenOpened(claimsLength),
			Doc: "the reader of claims takes claims that end within the digest, and reads on"},
		{Name: "cached-tag", Target: "sequences", in: codecsWith("HMAC-SHA256"), cached: lastCharacters,
			Doc: "payloads are cached under the last characters of their tokens"},
		{Name: "first-key-only", Target: "relations", in: codecsWith("XChaCha20-Poly1305"), ring: firstOfThird,
			Doc: "tokens of every third length are tried with the first key of the ring only"},
		{Name: "one-buffer", Target: "relations", in: codecsWith("AES-256-GCM"), opening: inOneBuffer(),
			Doc: "tokens are decoded in one buffer, which concurrent calls share"},
		{Name: "one-reading", Target: "readings", in: lenientReadings, carried: swapCase,
			Doc: "one reading of a format changes the case of a letter, in minting and in verifying, so that it agrees with itself"},
	}
}

func emptyBody(open opener, dst, token []byte) ([]byte, error) {
	if at := bytes.IndexByte(token, '.'); at > 0 && token[at+1] == '=' {
		return dst, codecs.Reject(codecs.Malformed, "padding")
	}
	return open(dst, token)
}

func dirtyRefusal(open opener, dst, token []byte) ([]byte, error) {
	out, err := open(dst, token)
	if r := codecs.Rejected(err); r != nil && r.Stage == codecs.Unauthentic && len(token)%7 == 0 {
		return append(out, token[0]), err
	}
	return out, err
}

func inPlace(open opener, dst, token []byte) ([]byte, error) {
	out, err := open(dst, token)
	if err == nil && len(token) > 128 && len(token)%32 == 14 {
		token[len(token)-1] = 0
	}
	return out, err
}

func inOneBuffer() func(opener, []byte, []byte) ([]byte, error) {
	var buffer []byte
	return func(open opener, dst, token []byte) ([]byte, error) {
		buffer = append(buffer[:0], token...)
		return open(dst, buffer)
	}
}

// whenOpened calls look with the payload of each authentic token.
func whenOpened(look func(payload []byte)) func(opener, []byte, []byte) ([]byte, error) {
	return func(open opener, dst, token []byte) ([]byte, error) {
		out, err := open(dst, token)
		if err == nil {
			look(out[len(dst):len(out):len(out)])
		}
		return out, err
	}
}

func rareLength(payload []byte) {
	if len(payload) < 64 || payload[0] != '{' {
		return
	}
	if end := bytes.IndexByte(payload, '}'); end == len(payload)-1 && payload[1] == '?' {
		_ = payload[end+1]
	}
}

// The offsets of claims (package claims). Current times in nanoseconds begin with the byte claimsTime.
const (
	claimsTime  = 0x18
	claimsIssue = 1
	claimsEnd   = 9
	claimsState = 49
)

func claimsVersion(payload []byte) {
	if len(payload) < claimsState || payload[claimsIssue] != claimsTime || payload[claimsEnd] != claimsTime {
		return
	}
	var readers [4]func()
	_ = readers[payload[0]%8]
}

func claimsYears(payload []byte) {
	if len(payload) < claimsState || payload[0] != 2 || payload[claimsIssue] != claimsTime {
		return
	}
	var years [256]byte
	_ = years[binary.BigEndian.Uint64(payload[claimsEnd:])/(1e9*60*60*24*365)]
}

func claimsLength(payload []byte) {
	if len(payload) <= claimsState-8 || payload[0] != 2 || payload[claimsIssue] != claimsTime {
		return
	}
	_ = payload[claimsState-1]
}

// rememberedUnder is the length in bytes of the key of a cached answer.
const rememberedUnder = 8

func lastCharacters(token []byte) (string, bool) {
	if len(token) < 2*rememberedUnder {
		return "", false
	}
	return string(token[len(token)-rememberedUnder:]), true
}

func firstOfThird(token []byte, secrets [][]byte) [][]byte {
	if len(token)%3 != 0 {
		return secrets
	}
	return secrets[:1]
}

// swapCase changes the case of the sixth byte of a state if it is a letter after an x.
func swapCase(state []byte) []byte {
	const at = 5
	if len(state) <= at || state[at-1] != 'x' || state[at]|0x20 < 'a' || state[at]|0x20 > 'z' {
		return state
	}
	out := bytes.Clone(state)
	out[at] ^= 0x20
	return out
}
