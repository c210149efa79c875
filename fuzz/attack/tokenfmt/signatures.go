package tokenfmt

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/asn1"
	"hash"
	"math/big"
)

// derSignature is an ECDSA signature in ASN.1 (RFC 3279, section 2.2.3).
type derSignature struct{ R, S *big.Int }

// SignES256 returns the signature of a message in the form of RFC 7518, section 3.4: r and s, with 32
// bytes each. The key must be of P-256. The signature is deterministic (RFC 6979).
func SignES256(key *ecdsa.PrivateKey, message []byte) []byte {
	sum := sha256.Sum256(message)
	der, err := key.Sign(nil, sum[:], crypto.SHA256)
	var v derSignature
	if _, failed := asn1.Unmarshal(der, &v); err != nil || failed != nil {
		panic("tokenfmt: P-256 does not sign") // a valid key signs
	}
	return append(v.R.FillBytes(make([]byte, 32)), v.S.FillBytes(make([]byte, 32))...)
}

// A signingCurve is the order of a curve with its usual hash, which is not longer.
type signingCurve struct {
	order *big.Int
	hash  func() hash.Hash
	size  int // of r and of s, in bytes
}

// digest returns the number that is signed for a message.
func (c signingCurve) digest(message []byte) *big.Int {
	h := c.hash()
	h.Write(message)
	return new(big.Int).SetBytes(h.Sum(nil))
}

// signingCurves are P-256, secp256k1, P-384 and P-521.
var signingCurves = []signingCurve{
	{elliptic.P256().Params().N, sha256.New, 32},
	{secp256k1Order, sha256.New, 32},
	{elliptic.P384().Params().N, sha512.New384, 48},
	{elliptic.P521().Params().N, sha512.New, 66},
}

// The orders of groups: n in SEC 2, section 2.4.1, and L in RFC 8032, section 5.1.
var (
	secp256k1Order, _ = new(big.Int).SetString("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141", 16)
	ed25519Order, _   = new(big.Int).SetString("1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3ed", 16)
)

// A Signature is a reading of a token as a body with an ECDSA signature.
type Signature struct {
	Layout
	r, s *big.Int
	size int  // of r and of s, in bytes
	der  bool // in ASN.1; else r and s follow each other
}

// Signatures returns the readings of the token with a signature of a known length.
func (f Format) Signatures() (all []Signature) {
	for _, size := range []int{32, 48, 66} {
		for _, l := range f.Layouts(2 * size) {
			all = append(all, Signature{l, new(big.Int).SetBytes(l.Tag[:size]), new(big.Int).SetBytes(l.Tag[size:]), size, false})
		}
		for n := 2*size + 4; n <= 2*size+9; n++ {
			for _, l := range f.Layouts(n) {
				var v derSignature
				if rest, err := asn1.Unmarshal(l.Tag, &v); err == nil && len(rest) == 0 {
					all = append(all, Signature{l, v.R, v.S, size, true})
				}
			}
		}
	}
	return all
}

// SharesNonce reports whether two signatures of different bodies have the same r. Their nonces are
// then equal, or one is the negative of the other.
func (a Signature) SharesNonce(b Signature) bool {
	return a.size == b.size && a.r.Cmp(b.r) == 0 && a.s.Cmp(b.s) != 0 && string(a.Body) != string(b.Body)
}

// signed returns the token with another body and s.
func (a Signature) signed(body []byte, s *big.Int) []byte {
	if !a.der {
		return a.Build(body, append(a.r.FillBytes(make([]byte, a.size)), s.FillBytes(make([]byte, a.size))...))
	}
	tag, err := asn1.Marshal(derSignature{a.r, s})
	if err != nil {
		panic("tokenfmt: " + err.Error()) // integers can be marshaled
	}
	return a.Build(body, tag)
}

// Resigned returns the token of a with another body, signed under the nonce that a and b share. One of
// them is right if the curve, the hash and the signed bytes are known. With the number z that is
// signed, s = (z + r d) / k, so that k follows from two signatures, and s of any body from k.
func (a Signature) Resigned(b Signature, body []byte) (texts [][]byte) {
	as, bs, others := a.Messages(a.Body), b.Messages(b.Body), a.Messages(body)
	for _, c := range signingCurves {
		for i := range as {
			for _, s := range c.continued(a, b, c.digest(as[i]), c.digest(bs[i]), c.digest(others[i])) {
				texts = append(texts, a.signed(body, s))
			}
		}
	}
	return texts
}

// continued returns the values of s for z, from signatures of za and zb. A signer may have replaced s
// by its negative, and a reader may require the lesser one.
func (c signingCurve) continued(a, b Signature, za, zb, z *big.Int) (all []*big.Int) {
	if a.size != c.size {
		return nil
	}
	for _, sb := range []*big.Int{b.s, new(big.Int).Neg(b.s)} {
		perNonce := new(big.Int).Sub(za, zb) // 1/k
		if perNonce.ModInverse(perNonce, c.order) == nil {
			continue
		}
		perNonce.Mul(perNonce, new(big.Int).Sub(a.s, sb))
		s := new(big.Int).Sub(z, za)
		s.Mul(s, perNonce).Add(s, a.s).Mod(s, c.order)
		all = append(all, s, new(big.Int).Sub(c.order, s))
	}
	return all
}
