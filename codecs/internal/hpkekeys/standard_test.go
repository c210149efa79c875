package hpkekeys

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	stdhpke "crypto/hpke"
	"crypto/sha256"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs/internal/keyring"
)

func testKey(seed byte) *PrivateKey {
	return Derive(X25519, bytes.Repeat([]byte{seed}, keyring.KeySize), keyring.ID{seed, 1, 2, 3}, "test/v1")
}

// TestStandardLibrary compares with Go's crypto/hpke, which has no PSK mode:
// the key pair of a private key, and base mode with the same suite in both
// directions.
func TestStandardLibrary(t *testing.T) {
	for _, c := range []struct {
		name   string
		own    *KEM
		theirs stdhpke.KEM
	}{
		{"X25519", X25519, stdhpke.DHKEM(ecdh.X25519())},
		{"X-Wing", XWing, stdhpke.MLKEM768X25519()},
	} {
		t.Run(c.name, func(t *testing.T) { testStandardLibrary(t, c.own, c.theirs) })
	}
}

func testStandardLibrary(t *testing.T, own *KEM, kem stdhpke.KEM) {
	public, private := own.id.Scheme().DeriveKeyPair(bytes.Repeat([]byte{7}, SeedSize))
	raw, err := private.MarshalBinary()
	require.NoError(t, err)
	theirs, err := kem.NewPrivateKey(raw)
	require.NoError(t, err)
	ours, err := public.MarshalBinary()
	require.NoError(t, err)
	require.Equal(t, theirs.PublicKey().Bytes(), ours)

	kdf, aead, info, data := stdhpke.HKDFSHA256(), stdhpke.AES256GCM(), []byte("info"), []byte("data")
	enc, stdSender, err := stdhpke.NewSender(theirs.PublicKey(), kdf, aead, info)
	require.NoError(t, err)
	require.Len(t, enc, own.EncSize)
	recipient, err := own.suite().NewReceiver(private, info)
	require.NoError(t, err)
	opener, err := recipient.Setup(enc)
	require.NoError(t, err)
	for _, text := range []string{"", "first", "second"} {
		sealed, err := stdSender.Seal(data, []byte(text))
		require.NoError(t, err)
		opened, err := opener.Open(sealed, data)
		require.NoError(t, err)
		require.Equal(t, text, string(opened))
	}

	sender, err := own.suite().NewSender(public, info)
	require.NoError(t, err)
	enc, sealer, err := sender.Setup(bytes.NewReader(bytes.Repeat([]byte{8}, own.SeedSize)))
	require.NoError(t, err)
	stdRecipient, err := stdhpke.NewRecipient(enc, theirs, kdf, aead, info)
	require.NoError(t, err)
	sealed, err := sealer.Seal([]byte("text"), data)
	require.NoError(t, err)
	opened, err := stdRecipient.Open(data, sealed)
	require.NoError(t, err)
	require.Equal(t, "text", string(opened))
}

// TestSecondReading opens the output of Encapsulate with an independent
// implementation of RFC 9180 in mode_psk on the standard library's X25519, HKDF
// and AES-GCM.
func TestSecondReading(t *testing.T) {
	for seed := range byte(20) {
		k := testKey(seed)
		enc, sealer, err := k.Encapsulate(bytes.Repeat([]byte{seed + 100}, SeedSize))
		require.NoError(t, err)
		sealed, err := sealer.Seal([]byte("payload"), []byte("data"))
		require.NoError(t, err)

		raw, err := k.private.MarshalBinary()
		require.NoError(t, err)
		aead, nonce, exporterSecret := readPSKContext(t, raw, enc, k.psk, k.ID[:], []byte(k.label))
		opened, err := aead.Open(nil, nonce, sealed, []byte("data"))
		require.NoError(t, err)
		require.Equal(t, "payload", string(opened))
		require.Equal(t, labeledExpand(t, hpkeSuiteID, exporterSecret, "sec", []byte("context"), 32),
			sealer.Export([]byte("context"), 32))
	}
}

const (
	kemSuiteID  = "KEM\x00\x20"
	hpkeSuiteID = "HPKE\x00\x20\x00\x01\x00\x02"
)

// readPSKContext implements SetupPSKR of RFC 9180, sections 4.1 and 5.1.
func readPSKContext(t *testing.T, private, enc, psk, pskID, info []byte) (aead cipher.AEAD, baseNonce, exporterSecret []byte) {
	t.Helper()
	sk, err := ecdh.X25519().NewPrivateKey(private)
	require.NoError(t, err)
	pk, err := ecdh.X25519().NewPublicKey(enc)
	require.NoError(t, err)
	dh, err := sk.ECDH(pk)
	require.NoError(t, err)
	prk := labeledExtract(t, kemSuiteID, nil, "eae_prk", dh)
	shared := labeledExpand(t, kemSuiteID, prk, "shared_secret", append(bytes.Clone(enc), sk.PublicKey().Bytes()...), 32)

	context := []byte{1} // mode_psk
	context = append(context, labeledExtract(t, hpkeSuiteID, nil, "psk_id_hash", pskID)...)
	context = append(context, labeledExtract(t, hpkeSuiteID, nil, "info_hash", info)...)
	secret := labeledExtract(t, hpkeSuiteID, shared, "secret", psk)
	block, err := aes.NewCipher(labeledExpand(t, hpkeSuiteID, secret, "key", context, 32))
	require.NoError(t, err)
	aead, err = cipher.NewGCM(block)
	require.NoError(t, err)
	return aead, labeledExpand(t, hpkeSuiteID, secret, "base_nonce", context, 12),
		labeledExpand(t, hpkeSuiteID, secret, "exp", context, 32)
}

func labeledExtract(t *testing.T, suiteID string, salt []byte, label string, ikm []byte) []byte {
	t.Helper()
	prk, err := hkdf.Extract(sha256.New, append([]byte("HPKE-v1"+suiteID+label), ikm...), salt)
	require.NoError(t, err)
	return prk
}

func labeledExpand(t *testing.T, suiteID string, prk []byte, label string, info []byte, n uint16) []byte {
	t.Helper()
	labeled := binary.BigEndian.AppendUint16(nil, n)
	labeled = append(labeled, "HPKE-v1"+suiteID+label+string(info)...)
	out, err := hkdf.Expand(sha256.New, prk, string(labeled), int(n))
	require.NoError(t, err)
	return out
}
