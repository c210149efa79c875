package mcp

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

// signedWithKey returns a JWS of readable claims whose header shows the public key. To show it is
// not a fault.
func (s *Server) signedWithKey(text string) string {
	private := ed25519.NewKeyFromSeed(s.Secret)
	head := fmt.Sprintf(`{"alg":"EdDSA","jwk":{"kty":"OKP","crv":"Ed25519","x":%q}}`, base64.RawURLEncoding.EncodeToString(private.Public().(ed25519.PublicKey)))
	text = base64.RawURLEncoding.EncodeToString([]byte(head)) + "." + text
	return text + "." + base64.RawURLEncoding.EncodeToString(ed25519.Sign(private, []byte(text)))
}

// unsignWithKey verifies a JWS. With a fault it uses the key in the header.
func (s *Server) unsignWithKey(token string) (c claims, err error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return c, errState
	}
	var all [3][]byte
	for i, p := range parts {
		if all[i], err = decodeStrict(p); err != nil {
			return c, errState
		}
	}
	var head struct {
		Alg string
		JWK struct{ X string }
	}
	if json.Unmarshal(all[0], &head) != nil || head.Alg != "EdDSA" {
		return c, errState
	}
	key := ed25519.NewKeyFromSeed(s.Secret).Public().(ed25519.PublicKey)
	if own, err := decodeStrict(head.JWK.X); err == nil && len(own) == len(key) && s.has("public keys in headers") {
		key = own
	}
	if !ed25519.Verify(key, []byte(parts[0]+"."+parts[1]), all[2]) || json.Unmarshal(all[1], &c) != nil {
		return claims{}, errState
	}
	return c, nil
}
