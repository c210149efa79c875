package skeleton

import (
	"crypto/hmac"

	"sealab/codecs"
)

// A Pair is a codec made of two functions.
type Pair struct {
	Write func(payload []byte) string
	Read  func(token string) ([]byte, error)
}

// Seal implements codecs.Codec.
func (p Pair) Seal(dst, payload []byte) ([]byte, error) { return append(dst, p.Write(payload)...), nil }

// Unseal implements codecs.Codec.
func (p Pair) Unseal(dst, token []byte) ([]byte, error) {
	payload, err := p.Read(string(token))
	if err != nil {
		return dst, err
	}
	return append(dst, payload...), nil
}

// NewPair returns a control with its own format, under one key.
func NewPair(name, doc string, broken []codecs.Property, attacks []string, make func(key []byte) Pair) Control {
	open := func(c codecs.Config) (codecs.Codec, error) {
		r, err := SoundRing().Open(c.Secrets)
		if err != nil {
			return nil, err
		}
		return make(r.Entries[0].Key), nil
	}
	return NewControl(name, doc, codecs.Design{MaxKeys: 1, NewCodec: open}, signedGuarantees, broken, attacks)
}

// FormattedPair returns a codec of a payload and its tag in a format.
func FormattedPair(key []byte, write func(payload, tag []byte) string, read func(token string) (payload, tag []byte, ok bool)) Pair {
	return Pair{
		Write: func(payload []byte) string { return write(payload, HMAC(key, payload)) },
		Read: func(token string) ([]byte, error) {
			payload, tag, ok := read(token)
			if !ok {
				return nil, ErrMalformed
			}
			return payload, Authentic(hmac.Equal(tag, HMAC(key, payload)))
		},
	}
}

// TaggedPair returns a sound codec of a payload and its tag.
func TaggedPair(key []byte) Pair { return ComparedPair(key, hmac.Equal) }

// ComparedPair returns a codec of a payload and its tag that compares tags with equal.
func ComparedPair(key []byte, equal func(presented, right []byte) bool) Pair {
	return Pair{
		Write: func(payload []byte) string { return JoinText(payload, HMAC(key, payload)) },
		Read: func(token string) ([]byte, error) {
			parts, err := SplitText(token, 2)
			if err != nil {
				return nil, err
			}
			return parts[0], Authentic(equal(parts[1], HMAC(key, parts[0])))
		},
	}
}
