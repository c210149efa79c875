package bench

import (
	"encoding/binary"
	"math/rand/v2"

	"sealab/codecs"
	"sealab/internal/runfile"
)

// opener sets a codec up for a ring of secrets.
type opener func(secrets [][]byte) (codecs.Codec, error)

// measured is a codec with what its cells need, each made when first asked for.
type measured struct {
	open    opener
	maxKeys int // 0: no limit
	keySize int // length of a secret in bytes
	rings   map[int]codecs.Codec
}

func newMeasured(d codecs.Design, open opener) *measured {
	return &measured{open: open, maxKeys: d.MaxKeys, keySize: max(d.KeySize, codecs.MinSecret), rings: map[int]codecs.Codec{}}
}

// The places of keys in the list of secrets: a ring holds the first n, and a
// stranger's token is sealed under none of them.
const (
	home     = 0
	stranger = runfile.RingKeys
)

// secret returns the i-th secret. Secrets are fixed, so that runs compare.
func (m *measured) secret(i int) []byte {
	seed := [32]byte{31: 's'}
	binary.BigEndian.PutUint64(seed[:], uint64(i))
	s := make([]byte, m.keySize)
	rand.NewChaCha8(seed).Read(s) //nolint:errcheck // never fails
	return s
}

// ring returns the codec whose ring has the n secrets that end with the home
// key, so that the home key is the last to be looked at.
func (m *measured) ring(n int) (codecs.Codec, error) {
	if c, ok := m.rings[n]; ok {
		return c, nil
	}
	if m.maxKeys > 0 && n > m.maxKeys {
		return nil, codecs.ErrUnsupported
	}
	secrets := make([][]byte, 0, n)
	for i := n - 1; i >= 0; i-- {
		secrets = append(secrets, m.secret(home+i))
	}
	c, err := m.open(secrets)
	if err == nil {
		m.rings[n] = c
	}
	return c, err
}

// prepare implements Subject.Prepare.
func (m *measured) prepare(op runfile.Op, payload []byte) (Cell, error) {
	c, err := m.ring(1)
	if err != nil {
		return Cell{}, err
	}
	token, err := c.Seal(nil, payload)
	if err != nil {
		return Cell{}, err
	}
	switch op {
	case runfile.Seal:
		return sealing(c, payload, len(token)), nil
	case runfile.Unseal:
		return unsealing(c, token, payload)
	case runfile.UnsealRing:
		if c, err = m.ring(runfile.RingKeys); err != nil {
			return Cell{}, err
		}
		return unsealing(c, token, payload)
	case runfile.RefuseGarbage:
		return refusing(c, garbage(len(token)))
	case runfile.RefuseTag:
		return refusing(c, alterNearEnd(token))
	case runfile.RefuseKey:
		return m.refusingStranger(c, payload)
	}
	return Cell{}, codecs.ErrUnsupported
}

func (m *measured) refusingStranger(c codecs.Codec, payload []byte) (Cell, error) {
	other, err := m.open([][]byte{m.secret(stranger)})
	if err != nil {
		return Cell{}, err
	}
	token, err := other.Seal(nil, payload)
	if err != nil {
		return Cell{}, err
	}
	return refusing(c, token)
}
