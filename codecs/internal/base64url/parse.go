package base64url

import (
	"bytes"
	"fmt"
)

// Parse parses a token of the form prefix || base64url(raw). It returns the text
// behind the prefix and its bytes. Its errors name the fault. A token with fewer
// than least bytes is an error.
func Parse(prefix string, least int, token []byte) (text, raw []byte, err error) {
	text, ok := bytes.CutPrefix(token, []byte(prefix))
	if !ok {
		return nil, nil, fmt.Errorf("the token does not begin with %q", prefix)
	}
	raw, ok = AppendDecode(nil, text)
	if !ok {
		return nil, nil, fmt.Errorf("what follows %q is not canonical base64url", prefix)
	}
	if len(raw) < least {
		return nil, nil, fmt.Errorf("the token holds %d bytes, want at least %d", len(raw), least)
	}
	return text, raw, nil
}
