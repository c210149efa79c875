package vectors

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Hex is bytes that JSON writes as lower-case hexadecimal digits.
type Hex []byte

// MarshalText implements encoding.TextMarshaler.
func (h Hex) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h), nil }

// UnmarshalJSON implements json.Unmarshaler. It returns an error if a digit is
// upper-case, because bytes have one encoding.
func (h *Hex) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	b, err := hex.DecodeString(text)
	if err != nil || hex.EncodeToString(b) != text {
		return fmt.Errorf("%q is not lower-case hex", text)
	}
	*h = b
	return nil
}

// AsHex returns a pointer to b as Hex. The pointer is not nil, even if b is.
func AsHex(b []byte) *Hex {
	h := Hex(b)
	if h == nil {
		h = Hex{}
	}
	return &h
}
