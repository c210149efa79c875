package injected

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"sealab/codecs"
)

// contexts returns bugs in the comparison of contexts and times.
func contexts() []Bug {
	return []Bug{
		{Name: "method-case", Target: "contexts", in: schemesThatHold(codecs.BindsMethod), context: foldedMethod,
			Doc: "methods are compared without regard to case"},
		{Name: "target-nul", Target: "contexts", in: schemesThatHold(codecs.BindsTarget), context: targetUpToNUL,
			Doc: "a target ends at its first NUL"},
		{Name: "empty-principal", Target: "contexts", in: schemesThatHold(codecs.BindsPrincipal), context: emptyIsNone,
			Doc: "the empty principal is taken for none"},
		{Name: "long-arguments", Target: "contexts", in: schemesThatHold(codecs.BindsArguments), context: firstArguments,
			Doc: "of arguments only the first 128 bytes are bound"},
		{Name: "late-expiry", Target: "contexts", in: schemesThatHold(codecs.Expiry), clock: slowClock,
			Doc: "the leeway of a clock is granted at expiry too"},
	}
}

func foldedMethod(c *codecs.Context) { c.Method = strings.ToLower(c.Method) }

func targetUpToNUL(c *codecs.Context) { c.Target, _, _ = strings.Cut(c.Target, "\x00") }

func emptyIsNone(c *codecs.Context) {
	if c.Principal != nil && *c.Principal == "" {
		c.Principal = nil
	}
}

func firstArguments(c *codecs.Context) {
	const bound = 128
	if len(c.Arguments) > bound {
		short, err := json.Marshal(string(c.Arguments[:bound]))
		if err == nil {
			c.Arguments = short
		}
	}
}

func slowClock(c *codecs.Context) { c.Now = c.Now.Add(-5 * time.Second) }

// rare returns bugs that need a rare length, word, buffer, key ring or time.
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

// spellings returns bugs that accept an altered token as the sealed one.
func spellings() []Bug {
	return []Bug{
		{Name: "short-tag", Target: "text", in: codecsWith("HMAC-SHA256"), takes: allBut(-1),
			Doc: "the comparison of tags leaves out the last bits"},
		{Name: "short-key-id", Target: "text", in: codecsWith("AES-256-GCM"), takes: allBut(6),
			Doc: "one character of the key's fingerprint is neither compared nor authenticated"},
		{Name: "padding", Target: "text", in: codecsWith("XChaCha20-Poly1305"), takes: padded,
			Doc: "padding is cut off before decoding"},
		{Name: "line-break", Target: "text", in: codecsWith("AES-256-GCM"), takes: broken,
			Doc: "a line feed after 64 characters is skipped, as PEM has it"},
		{Name: "alphabet", Target: "text", in: codecsWith("HMAC-SHA256"), takes: slashed,
			Doc: "the decoder takes / for _"},
		{Name: "text-ends-at-nul", Target: "text", in: codecsWith("XChaCha20-Poly1305"), takes: endsAtNUL,
			Doc: "the token is read as C reads a string"},
	}
}

// allBut accepts a token that differs only in one character, counted from the end if at is negative.
func allBut(at int) func(token, sealed []byte) bool {
	return func(token, sealed []byte) bool {
		i := at
		if i < 0 {
			i += len(sealed)
		}
		if len(token) != len(sealed) || i >= len(sealed) {
			return false
		}
		return bytes.Equal(token[:i], sealed[:i]) && bytes.Equal(token[i+1:], sealed[i+1:])
	}
}

func padded(token, sealed []byte) bool { return bytes.Equal(bytes.TrimRight(token, "="), sealed) }

// lineLength is the length of a PEM line in characters.
const lineLength = 64

func broken(token, sealed []byte) bool {
	return len(token) > lineLength && token[lineLength] == '\n' &&
		bytes.Equal(token[:lineLength], sealed[:min(lineLength, len(sealed))]) && bytes.Equal(token[lineLength+1:], sealed[min(lineLength, len(sealed)):])
}

func slashed(token, sealed []byte) bool {
	return bytes.IndexByte(token, '/') >= 0 && bytes.Equal(bytes.ReplaceAll(token, []byte("/"), []byte("_")), sealed)
}

func endsAtNUL(token, sealed []byte) bool {
	text, _, found := bytes.Cut(token, []byte{0})
	return found && bytes.Equal(text, sealed)
}
