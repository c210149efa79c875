package baseline

import (
	"bytes"
	"crypto/sha256"

	"sealab/codecs"
)

// claimsSize is the number of bytes that the claims add to a payload.
const claimsSize = 256

// argumentSize is the number of bytes that are digested in place of the arguments.
const argumentSize = 64

// claimed is a codec over 256 bytes of claims and the payload. The claims have a
// digest of arguments, the payload is read once at the speed of memory, and neither
// is written as JSON.
type claimed struct {
	codecs.Codec
	text, out []byte
	arguments [argumentSize]byte
}

func withClaims(open func(key []byte) (codecs.Codec, error)) func(key []byte) (codecs.Codec, error) {
	return func(key []byte) (codecs.Codec, error) {
		c, err := open(key)
		return &claimed{Codec: c}, err
	}
}

// claims returns the claims, with room for more.
func (c *claimed) claims() []byte {
	digest := sha256.Sum256(c.arguments[:])
	c.text = append(c.text[:0], digest[:]...)
	return append(c.text, make([]byte, claimsSize-len(digest))...)
}

// scan reads a payload, which is text, for a byte that no text has.
func scan(payload []byte) bool { return bytes.IndexByte(payload, 0xff) < 0 }

func (c *claimed) Seal(dst, payload []byte) ([]byte, error) {
	if !scan(payload) {
		return dst, codecs.ErrUnsupported
	}
	c.text = append(c.claims(), payload...)
	return c.Codec.Seal(dst, c.text)
}

func (c *claimed) Unseal(dst, token []byte) (_ []byte, err error) {
	if c.out, err = c.Codec.Unseal(c.out[:0], token); err != nil {
		return dst, err
	}
	if want := c.claims(); !bytes.HasPrefix(c.out, want) || !scan(c.out[len(want):]) {
		return dst, errRefused
	}
	return append(dst, c.out[claimsSize:]...), nil
}
