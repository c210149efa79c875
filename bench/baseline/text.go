package baseline

import (
	"slices"

	"github.com/segmentio/asm/base64"

	"sealab/codecs"
)

// room returns an empty buffer for n bytes. It does not begin where an allocation
// does: the encoder's first load reaches 4 bytes back, and takes longer where
// those lie on a page that was never touched.
func room(n int) []byte {
	const lead = 64
	return make([]byte, lead+n)[lead:lead]
}

// appendText appends the base64url text of src to dst.
func appendText(dst, src []byte) []byte {
	n := base64.RawURLEncoding.EncodedLen(len(src))
	dst = slices.Grow(dst, n)
	base64.RawURLEncoding.Encode(dst[len(dst):len(dst)+n], src)
	return dst[:len(dst)+n]
}

// appendBytes appends to dst what the base64url text src stands for, in any
// spelling that the decoder takes.
func appendBytes(dst, src []byte) ([]byte, error) {
	n := base64.RawURLEncoding.DecodedLen(len(src))
	dst = slices.Grow(dst, n)
	m, err := base64.RawURLEncoding.Decode(dst[len(dst):len(dst)+n], src)
	if err != nil {
		return dst, errRefused
	}
	return dst[:len(dst)+m], nil
}

// copied is the floor of all floors.
type copied struct{}

func openCopy([]byte) (codecs.Codec, error) { return copied{}, nil }

func (copied) Seal(dst, payload []byte) ([]byte, error) { return append(dst, payload...), nil }
func (copied) Unseal(dst, token []byte) ([]byte, error) { return append(dst, token...), nil }

// text is base64url alone.
type text struct{}

func openText([]byte) (codecs.Codec, error) { return text{}, nil }

func (text) Seal(dst, payload []byte) ([]byte, error) { return appendText(dst, payload), nil }
func (text) Unseal(dst, token []byte) ([]byte, error) { return appendBytes(dst, token) }
