package mcp

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"

	"github.com/go-jose/go-jose/v4"

	"sealab/internal/broken/skeleton"
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
