package signed

import (
	"bytes"
	"crypto/ed25519"
	"testing"

	"filippo.io/mldsa"
	circled "github.com/cloudflare/circl/sign/ed25519"
	"github.com/cloudflare/circl/sign/mldsa/mldsa44"
	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/codectest"
	"sealab/codecs/internal/keyring"
	"sealab/internal/wycheproof"
)

func TestConformance(t *testing.T) {
	for _, d := range []codecs.Design{Ed25519, MLDSA44} {
		t.Run(d.Name, func(t *testing.T) { codectest.Run(t, d) })
	}
}

// TestRoles opens tokens with public keys only, in every order of the ring.
func TestRoles(t *testing.T) {
	secrets := [][]byte{bytes.Repeat([]byte("k3"), 16), bytes.Repeat([]byte("k4"), 16)}
	for _, c := range []struct {
		name     string
		codec    func(...[]byte) (*Codec, error)
		verifier func(...[]byte) (*Verifier, error)
	}{
		{"ed25519", NewEd25519, NewEd25519Verifier},
		{"ml-dsa-44", NewMLDSA44, NewMLDSA44Verifier},
	} {
		t.Run(c.name, func(t *testing.T) {
			codec, err := c.codec(secrets...)
			require.NoError(t, err)
			keys := codec.PublicKeys()
			require.Len(t, keys, 2)
			token, err := codec.Seal(nil, []byte("payload"))
			require.NoError(t, err)
			for _, ring := range [][][]byte{keys, {keys[1], keys[0]}, {keys[0]}} {
				v, err := c.verifier(ring...)
				require.NoError(t, err)
				got, err := v.Unseal(nil, token)
				require.NoError(t, err)
				require.Equal(t, "payload", string(got))
				_, signs := any(v).(codecs.Codec)
				require.False(t, signs, "a verifier can seal")
			}
			other, err := c.verifier(keys[1])
			require.NoError(t, err)
			_, err = other.Unseal(nil, token)
			require.Equal(t, codecs.UnknownKey, codecs.Rejected(err).Stage)

			// Public keys used as secrets give other keys, whose tokens do not
			// verify.
			forger, err := c.codec(keys[0])
			require.NoError(t, err)
			forged, err := forger.Seal(nil, []byte("payload"))
			require.NoError(t, err)
			_, err = codec.Unseal(nil, forged)
			require.NotNil(t, codecs.Rejected(err))

			for _, bad := range [][][]byte{nil, {nil}, {keys[0][:35]}, {append(keys[0], 0)}, {keys[0], keys[0]}} {
				_, err := c.verifier(bad...)
				require.Error(t, err)
			}
		})
	}
}

func outcome(verified bool) wycheproof.Outcome {
	if verified {
		return wycheproof.Accepted
	}
	return wycheproof.Refused
}

func TestWycheproofEd25519(t *testing.T) {
	tally := wycheproof.Run(t, "ed25519_test.json", func(g *wycheproof.Group, c *wycheproof.Case) wycheproof.Outcome {
		require.Len(t, g.PublicKey, ed25519.PublicKeySize)
		return outcome(len(c.Sig) == ed25519.SignatureSize && edVerifier(g.PublicKey).Verify(c.Msg, c.Sig) == nil)
	})
	require.Equal(t, 151, tally.Accepted+tally.Refused)
	require.NotZero(t, tally.Accepted)
}

func TestWycheproofMLDSA44(t *testing.T) {
	tally := wycheproof.Run(t, "mldsa_44_verify_test.json", func(g *wycheproof.Group, c *wycheproof.Case) wycheproof.Outcome {
		key, err := mldsa.NewPublicKey(mldsa.MLDSA44(), g.PublicKey)
		if err != nil {
			return wycheproof.Refused
		}
		if len(c.Ctx) == 0 {
			return outcome(mlVerifier{key}.Verify(c.Msg, c.Sig) == nil)
		}
		return outcome(mldsa.Verify(key, c.Msg, c.Sig, &mldsa.Options{Context: string(c.Ctx)}) == nil)
	})
	require.Equal(t, 180, tally.Accepted+tally.Refused)
	require.NotZero(t, tally.Accepted)

	signed := wycheproof.Run(t, "mldsa_44_sign_seed_test.json", func(g *wycheproof.Group, c *wycheproof.Case) wycheproof.Outcome {
		private, err := mldsa.NewPrivateKey(mldsa.MLDSA44(), g.PrivateSeed)
		if err != nil {
			return wycheproof.Refused
		}
		if c.Msg == nil || c.Has("Randomized") {
			return wycheproof.NotTested // the case signs a digest, or with hedging
		}
		signature, err := private.SignDeterministic(c.Msg, &mldsa.Options{Context: string(c.Ctx)})
		switch {
		case err != nil:
			return wycheproof.Refused
		case !bytes.Equal(signature, c.Sig):
			return wycheproof.Differs
		}
		return wycheproof.Accepted
	})
	require.NotZero(t, signed.Accepted)
}

// signerOf returns the signer of a seed.
func signerOf(t *testing.T, a *algorithm, seed []byte) signer {
	t.Helper()
	s, err := a.Signer(bytes.Clone(seed), keyring.ID{})
	require.NoError(t, err)
	return s.(signer)
}

// TestCircl signs with each implementation and verifies with the other.
func TestCircl(t *testing.T) {
	for n := range 40 {
		seed, message := bytes.Repeat([]byte{byte(n)}, 32), bytes.Repeat([]byte("m"), 7*n)
		own := signerOf(t, &edDSA, seed)
		signature, err := own.Sign(nil, message)
		require.NoError(t, err)
		theirs := circled.NewKeyFromSeed(seed)
		require.Equal(t, circled.Sign(theirs, message), signature)
		require.True(t, circled.Verify(own.public(), message, signature))

		own = signerOf(t, &mlDSA, seed)
		signature, err = own.Sign(nil, message)
		require.NoError(t, err)
		public, private := mldsa44.NewKeyFromSeed((*[32]byte)(seed))
		require.Equal(t, public.Bytes(), own.public())
		require.True(t, mldsa44.Verify(public, message, nil, signature))
		other := make([]byte, mldsa44.SignatureSize)
		require.NoError(t, mldsa44.SignTo(private, message, nil, false, other))
		require.Equal(t, other, signature)
	}
}
