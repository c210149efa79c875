package xaes

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/aead/xaesgcm"
	"github.com/tink-crypto/tink-go/v2/insecuresecretdataaccess"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/secretdata"

	"sealab/internal/testenv"
	"sealab/internal/wycheproof"
)

// TestSpecification runs the two examples of c2sp.org/XAES-256-GCM. The first
// bit of the subkey L is 0 in one and 1 in the other.
func TestSpecification(t *testing.T) {
	nonce := []byte("ABCDEFGHIJKLMNOPQRSTUVWX")
	for _, c := range []struct {
		key          byte
		data, sealed string
	}{
		{1, "", "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271"},
		{3, "c2sp.org/XAES-256-GCM", "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d"},
	} {
		x, err := newXAES(bytes.Repeat([]byte{c.key}, 32))
		require.NoError(t, err)
		require.Equal(t, c.sealed, hex.EncodeToString(x.Seal(nil, nonce, []byte("XAES-256-GCM"), []byte(c.data))))
	}
}

// TestAccumulated runs the accumulated tests of c2sp.org/XAES-256-GCM.
func TestAccumulated(t *testing.T) {
	require.Equal(t, "e6b9edf2df6cec60c8cbd864e2211b597fb69a529160cd040d56c0c210081939",
		wycheproof.Accumulate(t, 32, 10_000, newXAES))
	if !testenv.Sample() {
		require.Equal(t, "2163ae1445985a30b60585ee67daa55674df06901b890593e824b8a7c885ab15",
			wycheproof.Accumulate(t, 32, 1_000_000, newXAES))
	}
}

// TestTink seals here and opens with Tink, and the reverse. Tink writes the
// halves of the nonce, its salt and initialization vector, before the
// ciphertext.
func TestTink(t *testing.T) {
	key := bytes.Repeat([]byte("k3"), 16)
	parameters, err := xaesgcm.NewParameters(xaesgcm.VariantNoPrefix, 12)
	require.NoError(t, err)
	tinkKey, err := xaesgcm.NewKey(secretdata.NewBytesFromData(key, insecuresecretdataaccess.Token{}), 0, parameters)
	require.NoError(t, err)
	manager := keyset.NewManager()
	id, err := manager.AddKey(tinkKey)
	require.NoError(t, err)
	require.NoError(t, manager.SetPrimary(id))
	handle, err := manager.Handle()
	require.NoError(t, err)
	tink, err := aead.New(handle)
	require.NoError(t, err)
	own, err := newXAES(key)
	require.NoError(t, err)
	for n := range 200 {
		payload, data := bytes.Repeat([]byte("p"), n), bytes.Repeat([]byte("d"), n%40)
		theirs, err := tink.Encrypt(payload, data)
		require.NoError(t, err)
		got, err := own.Open(nil, theirs[:nonceSize], theirs[nonceSize:], data)
		require.NoError(t, err)
		require.True(t, bytes.Equal(payload, got))
		nonce := bytes.Repeat([]byte{byte(n)}, nonceSize)
		got, err = tink.Decrypt(own.Seal(bytes.Clone(nonce), nonce, payload, data), data)
		require.NoError(t, err)
		require.True(t, bytes.Equal(payload, got))
	}
}
