package keyring

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
)

const label = "test/v1"

// numbered returns a secret of 32 decimal digits.
func numbered(i int) []byte { return fmt.Appendf(nil, "%032d", i) }

// keep is a setup that copies the derived key.
func keep(key []byte, _ ID) ([]byte, error) { return bytes.Clone(key), nil }

func TestRing(t *testing.T) {
	secrets := [][]byte{numbered(1), numbered(2), numbered(3)}
	ring, err := New(secrets, label, keep)
	require.NoError(t, err)
	require.Equal(t, numbered(1), secrets[0], "the secrets were changed")
	for i, secret := range secrets {
		id := Derive(secret, label+" key-id", 4)
		entry := ring.Lookup(id)
		require.NotNil(t, entry, "secret %d", i)
		require.Equal(t, id, entry.ID[:])
		require.Equal(t, Derive(secret, label+" key", KeySize), entry.Key)
		require.Equal(t, i == 0, entry == ring.First(), "secret %d", i)
	}
	for _, id := range [][]byte{nil, {}, make([]byte, 3), make([]byte, 4), make([]byte, 5),
		Derive(numbered(4), label+" key-id", 4), Derive(numbered(1), "other/v1 key-id", 4)} {
		require.Nil(t, ring.Lookup(id), "%x", id)
	}
}

func TestLookupDoesNotAllocate(t *testing.T) {
	ring, err := New([][]byte{numbered(1), numbered(2)}, label, keep)
	require.NoError(t, err)
	first, second, unknown := Derive(numbered(1), label+" key-id", 4), Derive(numbered(2), label+" key-id", 4), make([]byte, 4)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		ring.Lookup(first)
		ring.Lookup(second)
		ring.Lookup(unknown)
	}))
}

func TestLabelsSeparate(t *testing.T) {
	seen := map[string]string{}
	for _, l := range []string{label, "test/v2", "test/v1 ", ""} {
		for _, part := range []string{" key", " key-id", ""} {
			key := string(Derive(numbered(1), l+part, KeySize))
			require.Empty(t, seen[key], "%q and %q", l+part, seen[key])
			seen[key] = l + part
		}
	}
}

func TestWeakSecrets(t *testing.T) {
	for _, c := range []struct {
		name   string
		secret []byte
		want   string
	}{
		{"nil", nil, "secret 2 of 2 must have at least 32 bytes and has 0"},
		{"short", []byte("correct horse battery staple"), "secret 2 of 2 must have at least 32 bytes and has 28"},
		{"one byte short", numbered(1)[1:], "at least 32 bytes and has 31"},
		{"zeros", make([]byte, 32), "secret 2 of 2 is one byte repeated"},
		{"one letter", bytes.Repeat([]byte("k"), 64), "is one byte repeated"},
	} {
		_, err := New([][]byte{numbered(7), c.secret}, label, keep)
		require.ErrorContains(t, err, c.want, c.name)
		require.ErrorContains(t, err, "head -c 32 /dev/urandom", c.name)
		require.NotContains(t, err.Error(), "correct horse", c.name)
	}
	_, err := New(nil, label, keep)
	require.ErrorContains(t, err, "the key ring is empty")
}

// TestCollisions gives rings two secrets with the same key ID. The pairs were
// found by trying numbers in order.
func TestCollisions(t *testing.T) {
	const text = "secrets 2 and 3 of 3 have the same 32-bit key ID: replace one of them"
	a, b := numbered(5186), numbered(91335)
	require.Equal(t, Derive(a, label+" key-id", 4), Derive(b, label+" key-id", 4))
	_, err := New([][]byte{numbered(1), a, b}, label, keep)
	require.EqualError(t, err, text)
	_, err = New([][]byte{numbered(1), a, b}, "other/v1", keep)
	require.NoError(t, err, "under another label the same secrets do not collide")

	a, b = numbered(35028), numbered(44271)
	_, err = Index([][]byte{numbered(1), a, b}, hashedID)
	require.EqualError(t, err, text)
	_, err = Index([][]byte{a, numbered(1), a}, hashedID)
	require.EqualError(t, err, "secrets 1 and 3 of 3 are the same: leave one out")
}

// hashedID is a setup that derives the key ID as the Python SDK does.
func hashedID(secret []byte) (id ID, key []byte, err error) {
	key = Derive(secret, "mcp/request-state/v1/aes-256-gcm", KeySize)
	sum := sha256.Sum256(append([]byte("mcp/request-state/v1/kid:"), key...))
	copy(id[:], sum[:])
	return id, key, nil
}

func TestSetupFails(t *testing.T) {
	fault := errors.New("fault")
	_, err := New([][]byte{numbered(1)}, label, func([]byte, ID) (int, error) { return 0, fault })
	require.ErrorIs(t, err, fault)
}

// TestSetupMustNotKeep shows why setup must not keep the derived key: it is
// cleared after setup has returned.
func TestSetupMustNotKeep(t *testing.T) {
	ring, err := New([][]byte{numbered(1)}, label, func(key []byte, _ ID) ([]byte, error) { return key, nil })
	require.NoError(t, err)
	require.Equal(t, make([]byte, KeySize), ring.First().Key)
}

func TestGenerate(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		secret := Generate()
		require.Len(t, secret, codecs.MinSecret)
		require.NoError(t, CheckStrength(secret))
		seen[string(secret)] = true
	}
	require.Len(t, seen, 100)
}
