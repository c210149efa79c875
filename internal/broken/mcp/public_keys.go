package mcp

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"

	"sealab/internal/broken/skeleton"
)

// signedWithKey returns a JWS of readable claims whose header shows the public key. To show it is
// not a fault.
func (s *Server) signedWithKey(text string) string {
	private := ed25519.NewKeyFromSeed(s.Secret)
	head := fmt.Sprintf(`{"alg":"EdDSA","jwk":%s}`, s.publicJWK())
	if s.has("public keys in a set", "public keys as secrets") {
		head = `{"alg":"EdDSA"}`
	}
	text = base64.RawURLEncoding.EncodeToString([]byte(head)) + "." + text
	return text + "." + base64.RawURLEncoding.EncodeToString(ed25519.Sign(private, []byte(text)))
}

// publicJWK returns the public key of signed states.
func (s *Server) publicJWK() string {
	public := ed25519.NewKeyFromSeed(s.Secret).Public().(ed25519.PublicKey)
	return fmt.Sprintf(`{"kty":"OKP","crv":"Ed25519","x":%q}`, base64.RawURLEncoding.EncodeToString(public))
}

// confused verifies a JWS of another algorithm. With a fault the public key is the secret of HS256.
func (s *Server) confused(alg, text string, parts [3][]byte, key ed25519.PublicKey, c *claims) error {
	der, err := x509.MarshalPKIXPublicKey(key)
	tag := skeleton.HMAC(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), []byte(text))
	if err != nil || alg != "HS256" || !s.has("public keys as secrets") || !hmac.Equal(parts[2], tag) {
		return errState
	}
	return json.Unmarshal(parts[1], c)
}

// unsignWithKey verifies a JWS. With a fault it uses the key in the header.
func (s *Server) unsignWithKey(token string) (c claims, err error) {
	text, parts, err := splitJWS(token)
	if err != nil {
		return c, err
	}
	var head struct {
		Alg string
		JWK struct{ X string }
	}
	key := ed25519.NewKeyFromSeed(s.Secret).Public().(ed25519.PublicKey)
	if json.Unmarshal(parts[0], &head) != nil || head.Alg != "EdDSA" {
		return c, s.confused(head.Alg, text, parts, key, &c)
	}
	if own, err := decodeStrict(head.JWK.X); err == nil && len(own) == len(key) && s.has("public keys in headers") {
		key = own
	}
	if !ed25519.Verify(key, []byte(text), parts[2]) || json.Unmarshal(parts[1], &c) != nil {
		return claims{}, errState
	}
	return c, nil
}
