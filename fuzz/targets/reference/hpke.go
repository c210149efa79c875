package reference

import (
	"bytes"
	"crypto/ecdh"
	"crypto/hpke"
	"fmt"
	"sync"

	circl "github.com/cloudflare/circl/hpke"
	"github.com/cloudflare/circl/kem"

	"sealab/fuzz/campaign/harness"
	"sealab/fuzz/program"
)

// hpkeKeys is one key pair in both libraries, with the suite of the designs. It uses mode base,
// the only mode of the standard library.
type hpkeKeys struct {
	suite    circl.Suite
	public   kem.PublicKey
	private  kem.PrivateKey
	standard hpke.PrivateKey
	err      error
}

var hpkePair = sync.OnceValue(func() (k hpkeKeys) {
	seed := bytes.Repeat([]byte{7}, 32)
	k.suite = circl.NewSuite(circl.KEM_X25519_HKDF_SHA256, circl.KDF_HKDF_SHA256, circl.AEAD_AES256GCM)
	k.public, k.private = circl.KEM_X25519_HKDF_SHA256.Scheme().DeriveKeyPair(seed)
	k.standard, k.err = hpke.DHKEM(ecdh.X25519()).DeriveKeyPair(seed)
	return k
})

// hpkeTwice opens a message sealed by circl, possibly altered, with both libraries.
func hpkeTwice(p *program.Program) error {
	k := hpkePair()
	if k.err != nil {
		return fmt.Errorf("crypto/hpke: %w", k.err)
	}
	info, data, text := p.Bytes(32), p.Bytes(64), p.Bytes(256)
	sender, err := k.suite.NewSender(k.public, info)
	if err != nil {
		return err
	}
	enc, sealer, err := sender.Setup(bytes.NewReader(exactly(p, 32)))
	if err != nil {
		return err
	}
	sealed, err := sealer.Seal(text, data)
	if err != nil {
		return err
	}
	message := append(bytes.Clone(enc), sealed...)
	for !p.Done() {
		message = program.Alter(p, message)
	}
	got, ok := k.openCircl(message, info, data)
	if again, okAgain := k.openStandard(message, info, data); ok != okAgain || !bytes.Equal(got, again) {
		return harness.Fail("", "HPKE opens differently in circl and in crypto/hpke", "%x, %v and %x, %v: %x", got, ok, again, okAgain, message)
	}
	return nil
}

// encSize is the length of an encapsulated key in bytes.
const encSize = 32

func (k hpkeKeys) openCircl(message, info, data []byte) ([]byte, bool) {
	if len(message) < encSize {
		return nil, false
	}
	receiver, err := k.suite.NewReceiver(k.private, info)
	if err != nil {
		return nil, false
	}
	opener, err := receiver.Setup(message[:encSize])
	if err != nil {
		return nil, false
	}
	text, err := opener.Open(message[encSize:], data)
	return text, err == nil
}

func (k hpkeKeys) openStandard(message, info, data []byte) ([]byte, bool) {
	if len(message) < encSize {
		return nil, false
	}
	recipient, err := hpke.NewRecipient(message[:encSize], k.standard, hpke.HKDFSHA256(), hpke.AES256GCM(), info)
	if err != nil {
		return nil, false
	}
	text, err := recipient.Open(data, message[encSize:])
	return text, err == nil
}
