package mcpts

import (
	"bytes"
	"encoding/base64"

	"sealab/codecs/internal/base64url"
)

// foreign maps the URL-safe alphabet to the standard one and leaves out ASCII
// white space.
var foreign = func() (t [256]byte) {
	for i := range t {
		t[i] = byte(i)
	}
	t['-'], t['_'] = '+', '/'
	for _, c := range " \t\n\f\r" {
		t[c] = 0
	}
	return t
}()

// atob appends the decoded text to room as the SDK decodes it: by the "forgiving
// base64" of the WHATWG Infra Standard, with - and _ for + and /. It accepts white
// space anywhere, correct padding and spare bits.
func atob(room *base64url.Scratch, text []byte) bool {
	clean := make([]byte, 0, len(text))
	for _, c := range text {
		if c == 0 {
			return false
		}
		if foreign[c] != 0 {
			clean = append(clean, foreign[c])
		}
	}
	if len(clean)%4 == 0 {
		clean = bytes.TrimSuffix(clean, []byte("="))
		clean = bytes.TrimSuffix(clean, []byte("="))
	}
	// The decoder would skip CR and LF, which are gone by now.
	out, err := base64.RawStdEncoding.AppendDecode(room.Bytes, clean)
	if err != nil {
		return false
	}
	room.Bytes = out
	return true
}
