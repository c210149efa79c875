package hpkepsk

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/hpkekeys"
	"sealab/internal/lab"
)

func secret(i byte) []byte { return append(bytes.Repeat([]byte{0x5e}, codecs.MinSecret-1), i) }

func mustSplit(t *testing.T, i byte) (minter, opener []byte) {
	t.Helper()
	minter, opener, err := Split(secret(i))
	require.NoError(t, err)
	return minter, opener
}

// TestSplitRoles mints and opens with the keys of the parties, with the
// complete secret on the other side.
func TestSplitRoles(t *testing.T) {
	minterKey, openerKey := mustSplit(t, 1)
	_, otherKey := mustSplit(t, 2)
	minter, err := NewMinter(minterKey)
	require.NoError(t, err)
	opener, err := NewOpener(otherKey, openerKey)
	require.NoError(t, err)
	whole, err := New(secret(1))
	require.NoError(t, err)

	token, err := minter.Seal([]byte("x"), []byte("payload"))
	require.NoError(t, err)
	for _, o := range []unsealer{opener, whole} {
		got, err := o.Unseal([]byte("y"), token[1:])
		require.NoError(t, err)
		require.Equal(t, "ypayload", string(got))
	}
	token, err = whole.Seal(nil, []byte("payload"))
	require.NoError(t, err)
	got, err := opener.Unseal(nil, token)
	require.NoError(t, err)
	require.Equal(t, "payload", string(got))
}

// TestMinterCannotRead gives an opener the minter's key in place of the private
// key. The minter's own token must not open.
func TestMinterCannotRead(t *testing.T) {
	minterKey, _ := mustSplit(t, 1)
	requireUnauthentic(t, minterKey, minterKey)
}

// requireUnauthentic mints with one key and checks that an opener with the
// other refuses the token.
func requireUnauthentic(t *testing.T, minterKey, openerKey []byte) {
	t.Helper()
	minter, err := NewMinter(minterKey)
	require.NoError(t, err)
	token, err := minter.Seal(nil, []byte("payload"))
	require.NoError(t, err)
	opener, err := NewOpener(openerKey)
	require.NoError(t, err)
	requireStage(t, opener, token, codecs.Unauthentic)
}

// TestPublicKeyIsNotEnough mints with the public key and another pre-shared
// key. In base mode this token would be accepted.
func TestPublicKeyIsNotEnough(t *testing.T) {
	minterKey, openerKey := mustSplit(t, 1)
	minterKey[len(minterKey)-1] ^= 1
	requireUnauthentic(t, minterKey, openerKey)
}

func TestPartiesRefuseKeys(t *testing.T) {
	_, openerKey := mustSplit(t, 1)
	_, err := NewMinter(openerKey[:10])
	require.ErrorContains(t, err, "has 10 bytes, want 68")
	_, err = NewOpener()
	require.Error(t, err)
	_, err = NewOpener(openerKey, openerKey)
	require.ErrorContains(t, err, "secrets 1 and 2 of 2 are the same")
	_, _, err = Split([]byte("short"))
	require.ErrorContains(t, err, "must have at least 32")
}

// TestEncapsulationSpelledOtherwise seals authentic tokens under encapsulations
// that no honest sender makes, and writes points of low order into tokens.
func TestEncapsulationSpelledOtherwise(t *testing.T) {
	c, err := New(secret(1))
	require.NoError(t, err)
	seed := make([]byte, assembler{c}.SeedSize())
	sealed := func(step lab.Step, change func([]byte) []byte) []byte {
		token, err := assembler{c}.SealEdited(nil, seed, []byte("payload"), func(at lab.Step, value []byte) []byte {
			if at == step {
				return change(value)
			}
			return value
		})
		require.NoError(t, err)
		return token
	}
	topBit := func(enc []byte) []byte { enc[hpkekeys.EncSize-1] |= 0x80; return enc }
	// 9 + (2^255 - 19): the base point, encoded outside the field.
	beyond := func([]byte) []byte {
		return append([]byte{0xf6}, append(bytes.Repeat([]byte{0xff}, 30), 0x7f)...)
	}
	lowOrder := func([]byte) []byte {
		b, err := hex.DecodeString("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800")
		require.NoError(t, err)
		return b
	}
	basePoint := func([]byte) []byte { return append([]byte{9}, make([]byte, 31)...) }

	requireStage(t, c, sealed(lab.StepEnc, topBit), codecs.Malformed)
	requireStage(t, c, sealed(lab.StepEnc, beyond), codecs.Malformed)
	requireStage(t, c, sealed(lab.WireEnc, topBit), codecs.Malformed)
	requireStage(t, c, sealed(lab.WireEnc, lowOrder), codecs.Unauthentic)
	got, err := c.Unseal(nil, sealed(lab.StepEnc, basePoint))
	require.NoError(t, err, "the same edit with a canonical point is authentic")
	require.Equal(t, "payload", string(got))

	_, err = assembler{c}.SealEdited(nil, seed, nil, func(at lab.Step, value []byte) []byte {
		if at == lab.StepEnc {
			return lowOrder(value)
		}
		return value
	})
	require.ErrorIs(t, err, codecs.ErrUnsupported)
}

type unsealer interface {
	Unseal(dst, token []byte) ([]byte, error)
}

func requireStage(t *testing.T, o unsealer, token []byte, want codecs.Stage) {
	t.Helper()
	_, err := o.Unseal(nil, token)
	refused := codecs.Rejected(err)
	require.NotNil(t, refused, "want a refusal, got %v", err)
	require.Equal(t, want, refused.Stage)
}

// TestShortestToken truncates the token of an empty payload by one byte, so
// that the tag does not fit.
func TestShortestToken(t *testing.T) {
	c, err := New(secret(1))
	require.NoError(t, err)
	token, err := c.Seal(nil, nil)
	require.NoError(t, err)
	_, raw, err := base64url.Parse(prefix, minRaw, token)
	require.NoError(t, err)
	require.Len(t, raw, minRaw)
	requireStage(t, c, base64url.AppendEncode([]byte(prefix), raw[:minRaw-1]), codecs.Malformed)
	_, err = c.Unseal(nil, token)
	require.NoError(t, err)
}

// TestWeakPartyKeys checks that a party's key is refused if one of its parts
// repeats a single byte.
func TestWeakPartyKeys(t *testing.T) {
	minter, opener, err := Split(bytes.Repeat([]byte("a secret of 8 bytes or so"), 2))
	require.NoError(t, err)
	weak := append(minter[:len(minter)-32:len(minter)-32], make([]byte, 32)...)
	_, err = NewMinter(weak)
	require.ErrorContains(t, err, "one byte repeated")
	weak = append(opener[:4:4], make([]byte, len(opener)-4)...)
	_, err = NewOpener(weak)
	require.ErrorContains(t, err, "one byte repeated")
}
