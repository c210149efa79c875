package signed

import (
	"bytes"
	"crypto/ed25519"

	"filippo.io/mldsa"

	"sealab/codecs"
	"sealab/codecs/internal/keyring"
	"sealab/codecs/internal/layouts"
	"sealab/internal/lab"
)

var edDSA = algorithm{
	Signed: layouts.Signed{
		Label: "sealab/ed25519/v1", Prefix: "sd1.", TagSize: ed25519.SignatureSize,
		Signer: func(seed []byte, _ keyring.ID) (layouts.Signer, error) {
			private := ed25519.NewKeyFromSeed(seed)
			return edSigner{edVerifier(private[ed25519.SeedSize:]), private}, nil
		},
	},
	publicSize:  ed25519.PublicKeySize,
	newVerifier: func(public []byte) (layouts.Verifier, error) { return edVerifier(public), nil },
}

type (
	edSigner struct {
		edVerifier
		private ed25519.PrivateKey
	}
	edVerifier ed25519.PublicKey
)

func (k edSigner) Sign(dst, message []byte) ([]byte, error) {
	return append(dst, ed25519.Sign(k.private, message)...), nil
}

func (k edSigner) public() []byte { return k.edVerifier }

func (k edVerifier) Verify(message, signature []byte) error {
	if !ed25519.Verify(ed25519.PublicKey(k), message, signature) {
		return errSignature
	}
	return nil
}

// NewEd25519 returns a [codecs.Codec] of the design ed25519 that seals under
// the first secret and unseals under each; an empty ring and a short, weak,
// repeated or colliding secret are errors.
func NewEd25519(secrets ...[]byte) (*Codec, error) { return edDSA.codec(secrets) }

// NewEd25519Verifier returns the verifier for a ring of public keys.
func NewEd25519Verifier(keys ...[]byte) (*Verifier, error) { return edDSA.verifier(keys) }

var mlDSA = algorithm{
	Signed: layouts.Signed{
		Label: "sealab/ml-dsa-44/v1", Prefix: "sm1.", TagSize: mldsa.MLDSA44().SignatureSize(),
		Signer: func(seed []byte, _ keyring.ID) (layouts.Signer, error) {
			private, err := mldsa.NewPrivateKey(mldsa.MLDSA44(), bytes.Clone(seed))
			if err != nil {
				return nil, err
			}
			return mlSigner{mlVerifier{private.PublicKey()}, private}, nil
		},
	},
	publicSize: mldsa.MLDSA44().PublicKeySize(),
	newVerifier: func(public []byte) (layouts.Verifier, error) {
		key, err := mldsa.NewPublicKey(mldsa.MLDSA44(), public)
		return mlVerifier{key}, err
	},
}

type (
	mlSigner struct {
		mlVerifier
		private *mldsa.PrivateKey
	}
	mlVerifier struct{ *mldsa.PublicKey }
)

func (k mlSigner) Sign(dst, message []byte) ([]byte, error) {
	signature, err := k.private.SignDeterministic(message, &mldsa.Options{})
	return append(dst, signature...), err
}

func (k mlSigner) public() []byte { return k.Bytes() }

func (k mlVerifier) Verify(message, signature []byte) error {
	if mldsa.Verify(k.PublicKey, message, signature, nil) != nil {
		return errSignature
	}
	return nil
}

// NewMLDSA44 returns a [codecs.Codec] of the design ml-dsa-44 that seals under
// the first secret and unseals under each; an empty ring and a short, weak,
// repeated or colliding secret are errors.
func NewMLDSA44(secrets ...[]byte) (*Codec, error) { return mlDSA.codec(secrets) }

// NewMLDSA44Verifier returns the verifier for a ring of public keys.
func NewMLDSA44Verifier(keys ...[]byte) (*Verifier, error) { return mlDSA.verifier(keys) }

// Ed25519 is the catalog row of ed25519.
var Ed25519 = edDSA.Design(codecs.Design{
	Name: "ed25519",
	Doc:  "readable, signed with Ed25519: verifiers hold public keys only",
	Spec: "RFC 8032, section 5.1 (Ed25519); RFC 5869",
	Hooks: &lab.Hooks{
		Facts: &lab.Facts{
			Approved: "FIPS 186-5, SP 800-56C",
			Quantum:  "Ed25519 falls to Shor's algorithm",
			Use:      "signed.NewEd25519(secret)",
		},
		Primitive: "Ed25519", Verifying: edDSA.publicKeys,
		Allocates: "the standard library allocates an error for a signature that does not verify",
	},
},
	verifiedWithPublicKeys(),
	codecs.Disclaims(codecs.KeyCommitting,
		"a verifier accepts public keys of low order, and one signature can verify under several of them; keys derived from secrets never have low order"),
)

// MLDSA44 is the catalog row of ml-dsa-44.
var MLDSA44 = mlDSA.Design(codecs.Design{
	Name: "ml-dsa-44",
	Doc:  "readable, signed with ML-DSA-44, which withstands quantum computers: verifiers hold public keys only",
	Spec: "FIPS 204 (ML-DSA-44, deterministic); RFC 5869",
	Hooks: &lab.Hooks{
		Facts: &lab.Facts{
			Log2Tokens: 64,
			Source:     "number of signatures in NIST's security definition",
			Approved:   "FIPS 204, SP 800-56C",
			Use:        "signed.NewMLDSA44(secret)",
		},
		Primitive: "ML-DSA-44", Verifying: mlDSA.publicKeys,
		Allocates: "the implementation returns signatures in memory of its own",
	},
},
	verifiedWithPublicKeys(),
	codecs.HoldsBecause(codecs.KeyCommitting, "the signed digest covers a hash of the public key (FIPS 204, algorithm 7)"),
)
