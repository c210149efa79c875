package mcp

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/go-jose/go-jose/v4"
)

// keyPairChoices are states that are encrypted for a key pair of the server. To sign them as well is not a
// fault.
var keyPairChoices = []string{"states for a published key", "signed states for a published key"}

// keyPair returns the key pair of encrypted states.
func (s *Server) keyPair() *ecdsa.PrivateKey {
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), s.Secret)
	if err != nil {
		panic(err) // one of 2^32 secrets
	}
	return key
}

// keyPairJWK returns the public key of encrypted states.
func (s *Server) keyPairJWK() string {
	point, _ := s.keyPair().PublicKey.Bytes() // 4, x and y
	coded := base64.RawURLEncoding.EncodeToString
	return fmt.Sprintf(`{"kty":"EC","crv":"P-256","use":"enc","x":%q,"y":%q}`, coded(point[1:33]), coded(point[33:]))
}

// asJWE returns a JWE of a state, its user and its target.
func (s *Server) asJWE(c claims, p boundRequest) string {
	if c.Auth = p.user + " " + p.target; s.has("signed states for a published key") {
		c.Past = s.keyPairMAC(c)
	}
	raw, _ := json.Marshal(c) // claims always encode
	to := jose.Recipient{Algorithm: jose.ECDH_ES_A256KW, Key: s.keyPair().Public()}
	encrypter, err := jose.NewEncrypter(jose.A256GCM, to, nil)
	if err != nil {
		return ""
	}
	object, err := encrypter.Encrypt(raw)
	if err != nil {
		return ""
	}
	text, _ := object.CompactSerialize() // it has one recipient
	return text
}

func (s *Server) keyPairMAC(c claims) string {
	c.Past = ""
	raw, _ := json.Marshal(c) // claims always encode
	return hex.EncodeToString(s.tag(string(raw)))
}

// fromJWE returns the claims in a JWE. With a fault, a state of the user and the target is good for
// any arguments unless it has a digest.
func (s *Server) fromJWE(token string, p boundRequest) (c claims, err error) {
	object, err := jose.ParseEncryptedCompact(token, []jose.KeyAlgorithm{jose.ECDH_ES_A256KW}, []jose.ContentEncryption{jose.A256GCM})
	if err != nil {
		return c, errState
	}
	raw, err := object.Decrypt(s.keyPair())
	var of struct{ Sub, Tool string }
	if err != nil || json.Unmarshal(raw, &c) != nil || json.Unmarshal(raw, &of) != nil {
		return claims{}, errState
	}
	switch own := c.Auth == p.user+" "+p.target; {
	case own && !s.has("signed states for a published key"), own && c.Past == s.keyPairMAC(c):
	case of.Sub == p.user && of.Tool == p.target && !s.has("signed states for a published key"):
		c.Bind = s.digest(p)
	default:
		return claims{}, errState
	}
	return c, nil
}
