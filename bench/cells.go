package bench

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"sealab/codecs"
	"sealab/internal/runfile"
)

// opener opens a codec under a ring of secrets.
type opener func(secrets [][]byte) (codecs.Codec, error)

// measuredCodec is a codec with the rings and secrets of its cells. Each is made on first use.
type measuredCodec struct {
	open    opener
	maxKeys int // 0: no limit
	keySize int // length of a secret in bytes
	rings   map[int]codecs.Codec
}

func newMeasured(d codecs.Design, open opener) *measuredCodec {
	return &measuredCodec{open: open, maxKeys: d.MaxKeys, keySize: max(d.KeySize, codecs.MinSecret), rings: map[int]codecs.Codec{}}
}

// unknownSecret is the index of the secret that is in no ring. A ring of n keys holds the first n secrets.
const unknownSecret = runfile.RingKeys

// secret returns the i-th secret. Secrets are fixed, so that runs are comparable.
func (m *measuredCodec) secret(i int) []byte {
	seed := [32]byte{31: 's'}
	binary.BigEndian.PutUint64(seed[:], uint64(i))
	s := make([]byte, m.keySize)
	rand.NewChaCha8(seed).Read(s) //nolint:errcheck // never fails
	return s
}

// ring returns the codec under a ring of n secrets that ends with the first, so that a search finds that
// one last.
func (m *measuredCodec) ring(n int) (codecs.Codec, error) {
	if c, ok := m.rings[n]; ok {
		return c, nil
	}
	if m.maxKeys > 0 && n > m.maxKeys {
		return nil, codecs.ErrUnsupported
	}
	secrets := make([][]byte, 0, n)
	for i := n - 1; i >= 0; i-- {
		secrets = append(secrets, m.secret(i))
	}
	c, err := m.open(secrets)
	if err == nil {
		m.rings[n] = c
	}
	return c, err
}

// prepare implements Subject.Prepare.
func (m *measuredCodec) prepare(op runfile.Op, payload []byte) (Operation, error) {
	c, err := m.ring(1)
	if err != nil {
		return Operation{}, err
	}
	token, err := c.Seal(nil, payload)
	if err != nil {
		return Operation{}, err
	}
	switch op {
	case runfile.Seal:
		return sealOperation(c, payload, len(token)), nil
	case runfile.Unseal:
		return unsealOperation(c, token, payload)
	case runfile.UnsealRing:
		if c, err = m.ring(runfile.RingKeys); err != nil {
			return Operation{}, err
		}
		return unsealOperation(c, token, payload)
	case runfile.RefuseGarbage:
		return refusalOperation(c, garbageToken(len(token)))
	case runfile.RefuseTag:
		return refusalOperation(c, alterNearEnd(token))
	case runfile.RefuseKey:
		return m.refuseUnknownKey(c, payload)
	}
	return Operation{}, codecs.ErrUnsupported
}

func (m *measuredCodec) refuseUnknownKey(c codecs.Codec, payload []byte) (Operation, error) {
	other, err := m.open([][]byte{m.secret(unknownSecret)})
	if err != nil {
		return Operation{}, err
	}
	token, err := other.Seal(nil, payload)
	if err != nil {
		return Operation{}, err
	}
	return refusalOperation(c, token)
}

// timedLoop returns an Operation that times op in this process.
func timedLoop(op func() error, tokenSize int) Operation {
	run := func(n int) (time.Duration, error) {
		start := time.Now()
		for range n {
			if err := op(); err != nil {
				return 0, err
			}
		}
		return time.Since(start), nil
	}
	return Operation{Run: run, TokenSize: tokenSize, InProcess: true}
}

// expectRefusal returns op with a refusal as success and everything else as a fault.
func expectRefusal(op func() error) func() error {
	return func() error {
		err := op()
		if codecs.Rejected(err) != nil {
			return nil
		}
		if err == nil {
			return errors.New("a token that must be refused was accepted")
		}
		return err
	}
}

// sealOperation seals another payload each time, because the time of an ML-DSA signature varies with the
// payload.
func sealOperation(c codecs.Codec, payload []byte, tokenSize int) Operation {
	dst := make([]byte, 0, roomFor(tokenSize))
	next := payloadVariants(payload)
	return timedLoop(func() error {
		_, err := c.Seal(dst, next())
		return err
	}, tokenSize)
}

// payloadVariants returns a function that changes the last two letters of a copy of the payload and
// returns the copy. It cycles through all 3,844 pairs of letters.
func payloadVariants(payload []byte) func() []byte {
	text, n := slices.Clone(payload), 0
	end := len(bytes.TrimRight(text, `"}`))
	return func() []byte {
		if end >= 2 {
			text[end-1], text[end-2] = base62Letters[n%len(base62Letters)], base62Letters[n/len(base62Letters)%len(base62Letters)]
		}
		n++
		return text
	}
}

func unsealOperation(c codecs.Codec, token, payload []byte) (Operation, error) {
	dst := make([]byte, 0, roomFor(len(payload)))
	got, err := c.Unseal(dst, token)
	if err != nil {
		return Operation{}, err
	}
	if !slices.Equal(got, payload) {
		return Operation{}, fmt.Errorf("a token of %d bytes came back as %d bytes that differ", len(payload), len(got))
	}
	return timedLoop(func() error {
		_, err := c.Unseal(dst, token)
		return err
	}, len(token)), nil
}

func refusalOperation(c codecs.Codec, token []byte) (Operation, error) {
	dst := make([]byte, 0, roomFor(len(token)))
	op := expectRefusal(func() error {
		_, err := c.Unseal(dst, token)
		return err
	})
	return timedLoop(op, len(token)), op()
}

// roomFor returns the capacity of a caller's buffer for n bytes, with some slack.
func roomFor(n int) int { return n + 128 }

// garbageToken returns n base64url characters that are not a token.
func garbageToken(n int) []byte {
	text := make([]byte, n)
	for i := range text {
		text[i] = base62Letters[i*31%len(base62Letters)]
	}
	return text
}

// alterNearEnd returns token with one of its last characters changed. It keeps the very last, because some
// of its bits may carry no data.
func alterNearEnd(token []byte) []byte {
	altered := slices.Clone(token)
	if at := max(0, len(altered)-6); altered[at] == 'A' {
		altered[at] = 'B'
	} else {
		altered[at] = 'A'
	}
	return altered
}
