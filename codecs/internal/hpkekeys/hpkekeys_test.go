package hpkekeys

import (
	"bytes"
	"encoding/hex"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// littleEndian encodes n as an encapsulation.
func littleEndian(n *big.Int) []byte {
	b := n.FillBytes(make([]byte, EncSize))
	slices.Reverse(b)
	return b
}

func TestCanonicalAgainstIntegers(t *testing.T) {
	one := big.NewInt(1)
	p := new(big.Int).Sub(new(big.Int).Lsh(one, 255), big.NewInt(19))
	top := new(big.Int).Lsh(one, 255)
	for offset := int64(-300); offset <= 300; offset++ {
		for _, base := range []*big.Int{p, top, new(big.Int).Lsh(one, 248), new(big.Int).Add(top, p)} {
			n := new(big.Int).Add(base, big.NewInt(offset))
			if n.BitLen() > 256 {
				continue
			}
			require.Equal(t, n.Cmp(p) < 0, Canonical(littleEndian(n)), "%x", n)
		}
	}
	require.True(t, Canonical(make([]byte, EncSize)))
	require.False(t, Canonical(nil))
	require.False(t, Canonical(make([]byte, EncSize-1)))
	require.False(t, Canonical(make([]byte, EncSize+1)))
}

// lowOrder are the canonical encodings of the points of small order on the
// curve and its twist (RFC 7748, section 6.1; order 1, 2, 4 and 8).
var lowOrder = []string{
	"0000000000000000000000000000000000000000000000000000000000000000",
	"0100000000000000000000000000000000000000000000000000000000000000",
	"e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
	"5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
	"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
}

func TestLowOrderHasNoContext(t *testing.T) {
	k := testKey(1)
	for _, text := range lowOrder {
		enc := unhex(t, text)
		require.True(t, Canonical(enc), text)
		_, err := k.Decapsulate(enc)
		require.ErrorContains(t, err, "hpke:", text)
		_, err = k.SealerFor(enc, k.ID[:])
		require.Error(t, err, text)

		party, err := k.PublicKey.Encode()
		require.NoError(t, err)
		copy(party[len(k.ID):], enc)
		_, err = ParsePublic(party, k.label)
		if bytes.Count(enc, enc[:1]) == len(enc) {
			require.ErrorContains(t, err, "one byte repeated", text)
			continue
		}
		require.ErrorContains(t, err, "no shared secret", text)
	}
	for _, n := range []int{0, 31, 33} {
		_, err := k.Decapsulate(make([]byte, n))
		require.Error(t, err, n)
	}
}

// TestForeignSpellingsDecapsulate shows why the designs call Canonical: X25519
// accepts another encoding of the same point, which a sender could use.
func TestForeignSpellingsDecapsulate(t *testing.T) {
	k := testKey(1)
	enc, _, err := k.Encapsulate(make([]byte, SeedSize))
	require.NoError(t, err)
	enc[EncSize-1] |= 0x80
	require.False(t, Canonical(enc))
	_, err = k.Decapsulate(enc)
	require.NoError(t, err)
	_, err = k.SealerFor(enc, k.ID[:])
	require.NoError(t, err)
}

func TestEncapsulationsAreCanonical(t *testing.T) {
	k := testKey(1)
	for i := range 200 {
		enc, _, err := k.Encapsulate(bytes.Repeat([]byte{byte(i)}, SeedSize))
		require.NoError(t, err)
		require.True(t, Canonical(enc), hex.EncodeToString(enc))
	}
}

func TestPartiesKeys(t *testing.T) {
	k := testKey(1)
	minter, err := k.PublicKey.Encode()
	require.NoError(t, err)
	opener, err := k.Encode()
	require.NoError(t, err)
	require.Len(t, minter, partySize)
	require.Len(t, opener, partySize)

	public, err := ParsePublic(minter, k.label)
	require.NoError(t, err)
	private, err := ParsePrivate(opener, k.label)
	require.NoError(t, err)
	require.Equal(t, k.ID, public.ID)
	require.Equal(t, k.ID, private.ID)
	enc, sealer, err := public.Encapsulate(make([]byte, SeedSize))
	require.NoError(t, err)
	sealed, err := sealer.Seal([]byte("text"), nil)
	require.NoError(t, err)
	clear(minter)
	clear(opener) // the keys must not share memory with the parsed bytes
	ctx, err := private.Decapsulate(enc)
	require.NoError(t, err)
	opened, err := ctx.Open(sealed, nil)
	require.NoError(t, err)
	require.Equal(t, "text", string(opened))

	for _, n := range []int{0, 1, partySize - 1, partySize + 1} {
		_, err := ParsePublic(make([]byte, n), k.label)
		require.ErrorContains(t, err, "want 68")
		_, err = ParsePrivate(make([]byte, n), k.label)
		require.ErrorContains(t, err, "want 68")
	}
	beyond := bytes.Repeat([]byte{0xff, 0xfe}, partySize/2)
	_, err = ParsePublic(beyond, k.label)
	require.ErrorContains(t, err, "canonical")
	for _, weak := range [][]byte{make([]byte, partySize), append(beyond[:partySize-keySize:partySize-keySize], make([]byte, keySize)...)} {
		_, err = ParsePublic(weak, k.label)
		require.ErrorContains(t, err, "one byte repeated")
		_, err = ParsePrivate(weak, k.label)
		require.ErrorContains(t, err, "one byte repeated")
	}
}

// TestEveryInputCounts changes each input of a context in turn.
func TestEveryInputCounts(t *testing.T) {
	k := testKey(1)
	enc, sealer, err := k.Encapsulate(make([]byte, SeedSize))
	require.NoError(t, err)
	want := sealer.Export(nil, 32)
	for name, change := range map[string]func(*PrivateKey){
		"label": func(k *PrivateKey) { k.label += "x" },
		"psk":   func(k *PrivateKey) { k.psk[0] ^= 1 },
		"id":    func(k *PrivateKey) { k.ID[3] ^= 1 },
		"key":   func(k *PrivateKey) { k.private = testKey(2).private },
	} {
		other := testKey(1)
		change(other)
		ctx, err := other.Decapsulate(enc)
		require.NoError(t, err, name)
		require.NotEqual(t, want, ctx.Export(nil, 32), name)
	}
	ctx, err := testKey(1).Decapsulate(enc)
	require.NoError(t, err)
	require.Equal(t, want, ctx.Export(nil, 32))
}
