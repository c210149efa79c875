package codectest

import (
	"bytes"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/internal/lab"
)

// testKeys checks that another key is refused, that weak keys are refused, and
// that errors do not quote keys.
func testKeys(t *testing.T, s subject) {
	token := mustSeal(t, s.codec(t), s.sample())
	other, err := s.try(s.ring(1))
	require.NoError(t, err)
	requireRefused(t, other, token, "another key")
	testNearKeys(t, s, token)

	_, err = s.try(nil)
	require.Error(t, err, "an empty ring")
	if !s.holds(codecs.StrongKeys) {
		return
	}
	for n := range codecs.MinSecret {
		_, err := s.try([][]byte{bytes.Repeat([]byte("K9"), n)[:n]})
		require.Error(t, err, "a secret of %d bytes", n)
		require.Contains(t, err.Error(), strconv.Itoa(max(codecs.MinSecret, s.KeySize)))
		require.NotContains(t, err.Error(), "K9")
	}
	_, err = s.try(s.ring(0, 0))
	require.Error(t, err, "a ring with a key twice")
}

// testNearKeys presents token under secrets that a careless key schedule
// confuses with the right one.
func testNearKeys(t *testing.T, s subject, token []byte) {
	right := s.secret(0)
	near := map[string][]byte{
		"one bit changed":   append([]byte{right[0] ^ 1}, right[1:]...),
		"last bit changed":  append(bytes.Clone(right[:len(right)-1]), right[len(right)-1]^1),
		"NUL appended":      append(bytes.Clone(right), 0),
		"one byte appended": append(bytes.Clone(right), 'x'),
	}
	for name, secret := range near {
		c, err := s.try([][]byte{secret})
		if err != nil {
			continue // the design takes keys of one length
		}
		if name == "NUL appended" && !s.holds(codecs.KeySeparation) {
			continue
		}
		if s.holds(codecs.KeyCommitting) {
			requireRefused(t, c, token, name)
			continue
		}
		requireOtherKey(t, s, c, name)
	}
}

// requireOtherKey checks that c has another key than s. A design that does not
// commit to its key may accept some tokens: if the key of the tag is a part of
// the secret, one token in 256 that is decrypted under another key ends in
// valid padding.
func requireOtherKey(t *testing.T, s subject, c codecs.Codec, what string) {
	t.Helper()
	refused := 0
	for range 12 {
		got, err := c.Unseal(nil, mustSeal(t, s.codec(t), s.sample()))
		if err != nil {
			requireRefusal(t, err, what)
			refused++
		}
		require.NotEqual(t, s.sample(), got, what)
	}
	require.NotZero(t, refused, "%s: want a refusal in 12 tokens", what)
}

// testRotation checks that the first key seals, every key unseals, and a
// removed key does not.
func testRotation(t *testing.T, s subject) {
	if !s.holds(codecs.Rotation) {
		if s.MaxKeys == 1 {
			_, err := s.try(s.ring(0, 1))
			require.Error(t, err, "a ring of two where the design takes one key")
		}
		return
	}
	old, err := s.try(s.ring(1))
	require.NoError(t, err)
	rotated, err := s.try(s.ring(0, 1, 2))
	require.NoError(t, err)
	without, err := s.try(s.ring(0, 2))
	require.NoError(t, err)

	token := mustSeal(t, old, s.sample())
	got, err := rotated.Unseal(nil, token)
	require.NoError(t, err, "a key that is still in the ring")
	s.requirePayload(t, s.sample(), got)
	requireRefused(t, without, token, "a removed key")

	_, err = s.codec(t).Unseal(nil, mustSeal(t, rotated, s.sample()))
	require.NoError(t, err, "the first key did not seal")
	requireRefused(t, old, mustSeal(t, rotated, s.sample()), "a key other than the first sealed")
}

// Separate checks that no design accepts another design's token under the same
// secret, unless it disclaims key separation or both read the same format.
// Prefixes alone would ensure this, so it also checks that no two designs
// derive the same key.
func Separate(t *testing.T, designs []codecs.Design) {
	require.Empty(t, twins(t, designs), "these designs derive keys under one label")
	for _, from := range designs {
		token := mustSeal(t, subject{from}.codec(t), subject{from}.sample())
		for _, to := range designs {
			s := subject{to}
			if from.Name == to.Name || to.SharesFormat(from) || !s.holds(codecs.KeySeparation) {
				continue
			}
			if from.KeySize != to.KeySize && to.KeySize != 0 && len(s.secret(0)) != len(subject{from}.secret(0)) {
				continue // no secret suits both
			}
			requireRefused(t, s.codec(t), token, from.Name+" presented to "+to.Name)
		}
	}
}

// twins returns the pairs of designs that claim key separation but whose tokens
// have the same key ID under one secret. A key ID is derived under the label of
// the key, so only equal labels give equal key IDs.
func twins(t *testing.T, designs []codecs.Design) (pairs [][2]string) {
	t.Helper()
	first := map[string]codecs.Design{}
	for _, d := range designs {
		s := subject{d}
		id := s.keyID(t)
		if id == "" || !s.holds(codecs.KeySeparation) {
			continue
		}
		if other, seen := first[id]; !seen {
			first[id] = d
		} else if !d.SharesFormat(other) {
			pairs = append(pairs, [2]string{other.Name, d.Name})
		}
	}
	return pairs
}

// keyID returns the key ID in a token of secret number 0, or "".
func (s subject) keyID(t *testing.T) string {
	t.Helper()
	fields, err := lab.HooksOf(s.Design).Inspect(mustSeal(t, s.codec(t), s.sample()))
	require.NoError(t, err)
	for _, f := range fields {
		if f.Name == lab.WireKeyID {
			return string(f.Bytes)
		}
	}
	return ""
}
