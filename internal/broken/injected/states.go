package injected

import (
	"bytes"

	"sealab/codecs"
)

// states returns the bugs in the handling of a token or its payload.
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
		{Name: "claims-escape", Target: "claims", in: codecsWith("AES-256-GCM"), opening: whenOpened(claimsEscape),
			Doc: "the reader of claims takes a high surrogate at the end of a text for half of a pair and reads on; only claims that are sealed again have one"},
		{Name: "claims-exponent", Target: "claims", in: codecsWith("HMAC-SHA256"), opening: whenOpened(claimsExponent),
			Doc: "the reader of claims has room for three digits of an exponent"},
		{Name: "claims-nesting", Target: "claims", in: codecsWith("XChaCha20-Poly1305"), opening: whenOpened(claimsNesting),
			Doc: "the reader of claims has room for six open lists"},
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

// whenOpened calls look with the payload of an authentic token.
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

// ours reports whether a payload is claims.
func ours(payload []byte) bool { return bytes.HasPrefix(payload, []byte(`{"v":1,`)) }

func claimsEscape(payload []byte) {
	if !ours(payload) {
		return
	}
	for rest := payload; ; {
		at := bytes.Index(rest, []byte(`\ud`))
		if at < 0 || at+6 > len(rest) {
			return
		}
		high, after := rest[at+3], rest[at+6:]
		if (high == '8' || high == '9' || high == 'a' || high == 'b') && after[0] == '"' {
			_ = after[:len(after)+1] // looks for the other half
		}
		rest = after
	}
}

func claimsExponent(payload []byte) {
	if !ours(payload) {
		return
	}
	var exponent [3]byte
	for i, c := range payload {
		if c != 'e' || i == 0 || payload[i-1] < '0' || payload[i-1] > '9' {
			continue
		}
		for n, digit := range bytes.TrimLeft(payload[i+1:], "+-") {
			if digit < '0' || digit > '9' {
				break
			}
			exponent[n] = digit
		}
	}
}

func claimsNesting(payload []byte) {
	if !ours(payload) {
		return
	}
	var open [6]int
	depth := 0
	for i, c := range payload {
		switch c {
		case '[':
			open[depth] = i
			depth++
		case ']':
			depth = max(0, depth-1)
		}
	}
}

// rememberedUnder is the length of the key of a cached answer.
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

// swapCase changes the case of the fifth byte of a state if it is a letter after
// an x.
func swapCase(state []byte) []byte {
	const at = 5
	if len(state) <= at || state[at-1] != 'x' || state[at]|0x20 < 'a' || state[at]|0x20 > 'z' {
		return state
	}
	out := bytes.Clone(state)
	out[at] ^= 0x20
	return out
}
