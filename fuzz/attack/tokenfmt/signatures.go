package tokenfmt

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/sha256"
	"encoding/asn1"
	"math/big"
)

// SignES256 returns the signature of a message in the form of RFC 7518, section 3.4: r and s, with 32
// bytes each. The key must be of P-256. The signature is deterministic (RFC 6979).
func SignES256(key *ecdsa.PrivateKey, message []byte) []byte {
	sum := sha256.Sum256(message)
	der, err := key.Sign(nil, sum[:], crypto.SHA256)
	var v struct{ R, S *big.Int }
	if _, failed := asn1.Unmarshal(der, &v); err != nil || failed != nil {
		panic("tokenfmt: P-256 does not sign") // a valid key signs
	}
	return append(v.R.FillBytes(make([]byte, 32)), v.S.FillBytes(make([]byte, 32))...)
}
