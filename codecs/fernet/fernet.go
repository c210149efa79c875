// Package fernet is the design fernet-0x80: Fernet tokens (github.com/fernet/spec, version
// 0x80), as cryptography.fernet of Python and others mint them.
//
// Layout, with a state of m bytes and n = 16 * (m/16 + 1):
//
//	token = base64url, padded (0x80 || time[8] || iv[16] || ciphertext[n] || tag[32])
//	time  = seconds of Unix time of minting, big endian
//	tag   = HMAC-SHA256(secret[:16], all before it)
//	ciphertext = AES-128-CBC(secret[16:], iv, state with PKCS #7 padding)
//
// A secret has exactly 32 bytes. The first of the ring mints, each opens, as in
// MultiFernet. Two secrets with the same key for the tag are refused. A token
// is refused from the second after time + TTL on, and if time is more than 60
// seconds ahead. The token does not hold the time to live; the reader sets it.
//
// Under reading=sdk the scheme answers as PyPI cryptography 50.0.2 does.
// Python's base64 decoder skips characters outside the alphabet, and ignores
// spare bits and all text after the padding. Under reading=strict, the default,
// the text must be canonical.
//
// Limits: 2^48 blocks of 16 bytes per key (birthday bound of CBC).
//
// Limitations: keys of 128 bits, a readable time of minting, no binding to user
// or request, no single use. Tokens have no key ID, so each key of the ring is
// tried.
package fernet

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"sealab/codecs"
	"sealab/codecs/internal/framework"
	"sealab/codecs/internal/guarantee"
	"sealab/codecs/internal/keyring"
	"sealab/codecs/internal/mac"
	"sealab/internal/lab"
)

const (
	version  = 0x80
	keySize  = 32
	timeSize = 8
	headSize = 1 + timeSize + aes.BlockSize
	minSize  = headSize + aes.BlockSize + mac.Size
	// maxAhead is the maximum number of seconds between now and a later time of
	// minting.
	maxAhead = 60
	// prefix is the base64url of the version and the first bytes of all times
	// until the year 8,900,000.
	prefix = "gAAA"
)

var (
	errMalformed   = codecs.Reject(codecs.Malformed, "malformed")
	errUnauthentic = codecs.Reject(codecs.Unauthentic, "tag")
	errExpired     = codecs.Reject(codecs.Expired, "expired")
	errFuture      = codecs.Reject(codecs.Expired, "in the future")
)

var layout = framework.Stamped{Encoding: base64.URLEncoding, TimeSize: timeSize, NonceSize: aes.BlockSize, TagSize: mac.Size}

// A format is Fernet under one key.
type format struct {
	mac   *mac.Key
	block cipher.Block
	ttl   time.Duration
	sdk   bool
}

func (f *format) SeedSize() int { return aes.BlockSize }

func (f *format) Mint(dst, seed, state []byte, c *codecs.Context, edit lab.Edit) ([]byte, error) {
	now := c.Now.Unix()
	if now < 0 {
		return dst, codecs.ErrUnsupported
	}
	head := edit.Give(lab.StepPrefix, []byte{version})
	at := edit.Give(lab.StepTime, binary.BigEndian.AppendUint64(nil, uint64(now)))
	iv := edit.Apply(lab.StepNonce, seed)
	if len(iv) != aes.BlockSize {
		return dst, codecs.ErrUnsupported
	}
	body := framework.SealCBC(f.block, iv, edit.Apply(lab.StepClaims, state))
	tag := edit.Give(lab.StepTag, f.mac.Append(nil, head, at, iv, body))
	return framework.Join(dst, edit, layout.Part(head, at, iv, body, tag)), nil
}

func (f *format) Open(dst, token []byte, c *codecs.Context) ([]byte, error) {
	raw, ok := framework.Decode(base64.URLEncoding, token)
	if f.sdk {
		raw, ok = framework.PythonDecode(token)
	}
	if !ok || len(raw) < minSize || raw[0] != version {
		return dst, errMalformed
	}
	n := len(raw) - mac.Size
	if !f.mac.Verify(raw[n:], raw[:n]) {
		return dst, errUnauthentic
	}
	if refused := f.judge(binary.BigEndian.Uint64(raw[1:]), c.Now); refused != nil {
		return dst, refused
	}
	state, ok := framework.OpenCBC(f.block, raw[1+timeSize:headSize], raw[headSize:n])
	if !ok {
		return dst, errUnauthentic
	}
	return append(dst, state...), nil
}

// judge compares the time of minting with that of the call, in whole seconds.
func (f *format) judge(minted uint64, now time.Time) *codecs.RejectError {
	seconds := float64(now.Unix())
	if float64(minted)+f.ttl.Seconds() < seconds {
		return errExpired
	}
	if seconds+maxAhead < float64(minted) {
		return errFuture
	}
	return nil
}

// inspect splits a canonical token into fields.
func inspect(token []byte) ([]lab.Field, error) {
	raw, ok := framework.Decode(base64.URLEncoding, token)
	if !ok || !bytes.HasPrefix(token, []byte(prefix)) || len(raw) < minSize || (len(raw)-headSize-mac.Size)%aes.BlockSize != 0 {
		return nil, errors.New("not a Fernet token")
	}
	return layout.Fields(raw), nil
}

var newScheme = framework.SchemeOpener(func(secret []byte, ttl time.Duration, options map[string]string) (framework.Format, error) {
	block, err := aes.NewCipher(secret[keySize/2:])
	return &format{mac.New(secret[:keySize/2]), block, ttl, framework.IsSDK(options)}, err
})

// checkTags refuses a ring in which two secrets share the key of the tag. Only
// the padding would distinguish their tokens.
func checkTags(secrets [][]byte) error {
	var tags [][]byte
	for _, secret := range secrets {
		tags = append(tags, secret[:keySize/2])
	}
	if err := keyring.CheckDistinct(tags); err != nil {
		return fmt.Errorf("the keys of the tags: %w", err)
	}
	return nil
}

// Design is the catalog row.
var Design = codecs.Design{
	Name:    "fernet-0x80",
	Doc:     "Fernet: AES-128-CBC and HMAC-SHA256 with the time of minting",
	Spec:    "github.com/fernet/spec, version 0x80; PyPI cryptography 50.0.2",
	Prefix:  prefix,
	Format:  "fernet-0x80",
	KeySize: keySize,
	Options: []codecs.Option{framework.Reading("Python's cryptography")},
	Hooks:   &lab.Hooks{Inspect: inspect, Other: "=", FewVectors: true, Allocates: "segments are decoded to buffers of their own"},
	NewScheme: func(c codecs.Config) (codecs.Scheme, error) {
		if err := checkTags(c.Secrets); err != nil && !framework.IsSDK(c.Options) {
			return nil, err
		}
		return newScheme(c)
	},
	Guarantees: func(options map[string]string) []codecs.Guarantee {
		return slices.Concat(framework.Canonical(options,
			"Python's base64 decoder skips foreign characters and ignores spare bits and everything after the padding"),
			framework.Unbound("the format does not bind the request"),
			codecs.Holds(codecs.Integrity, codecs.Confidentiality, codecs.UniformRefusal, codecs.Total, codecs.ByteExact, codecs.Inert, codecs.PrivateKeys, codecs.Rotation),
			codecs.Disclaims(codecs.Expiry, "ages are whole seconds: a token is still accepted during the second in which it expires"),
			codecs.HoldsBecause(codecs.StrongKeys, "keys of exactly 32 bytes: 16 for each algorithm"),
			guarantee.AESTiming, guarantee.IV128,
			codecs.Disclaims(codecs.KeyCommitting, "the tag key does not determine the encryption key: two secrets with the same tag key open one token"),
			codecs.Disclaims(codecs.NonceMisuseResistant, "a repeated initialization vector reveals how many leading blocks two states share"),
			codecs.Disclaims(codecs.KeySeparation, "the secret itself holds both keys, and any other use of the secret shares them"),
			guarantee.Symmetric, guarantee.Stateless,
		)
	},
}
