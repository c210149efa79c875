package injected

import "bytes"

// spellings returns the bugs that accept an altered token for a sealed one.
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

// allBut accepts a token that differs in one character only, counted from the
// end if at is negative.
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

// lineLength is the line length of PEM.
const lineLength = 64

func broken(token, sealed []byte) bool {
	if len(token) <= lineLength || token[lineLength] != '\n' {
		return false
	}
	return bytes.Equal(token[:lineLength], sealed[:min(lineLength, len(sealed))]) && bytes.Equal(token[lineLength+1:], sealed[min(lineLength, len(sealed)):])
}

func slashed(token, sealed []byte) bool {
	if bytes.IndexByte(token, '/') < 0 {
		return false
	}
	return bytes.Equal(bytes.ReplaceAll(token, []byte("/"), []byte("_")), sealed)
}

func endsAtNUL(token, sealed []byte) bool {
	text, _, found := bytes.Cut(token, []byte{0})
	return found && bytes.Equal(text, sealed)
}
