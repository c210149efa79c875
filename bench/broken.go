package bench

import "slices"

// garbage returns n characters that are base64url and no token.
func garbage(n int) []byte {
	text := make([]byte, n)
	for i := range text {
		text[i] = letters[i*31%len(letters)]
	}
	return text
}

// alterNearEnd returns token with one of its last characters changed, short of
// the very last, which may carry bits that stand for nothing.
func alterNearEnd(token []byte) []byte {
	altered := slices.Clone(token)
	at := max(0, len(altered)-6)
	if altered[at] == 'A' {
		altered[at] = 'B'
	} else {
		altered[at] = 'A'
	}
	return altered
}
