package mcp

import (
	"bytes"
	"crypto/hmac"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"sealab/internal/broken/skeleton"
)

// signedChoices are the choices for credentials that are JWTs. The first one is sound.
var signedChoices = []string{"signed credentials", "signed credentials without a signature", "signed credentials by the beginning of the signature", "signed credentials by their algorithm"}

// credentialKey signs credentials.
var credentialKey = []byte("5d1c07e2b8f94a63-issuer-of-credentials")

// SignedCredential returns the credential of a user as a JWT.
func SignedCredential(user string) string {
	text := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." +
		base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"iss":"issuer","sub":%q}`, user))
	return text + "." + base64.RawURLEncoding.EncodeToString(credentialTag(text))
}

func credentialTag(text string) []byte { return skeleton.HMAC(credentialKey, []byte(text)) }

// subject returns the user of a signed credential, or "".
func (s *Server) subject(credential string) string {
	parts := strings.Split(credential, ".")
	if len(parts) == 2 && s.has("signed credentials without a signature") {
		parts = append(parts, "")
	}
	if len(parts) != 3 {
		return ""
	}
	header, _ := base64.RawURLEncoding.DecodeString(parts[0])
	body, _ := base64.RawURLEncoding.DecodeString(parts[1])
	tag, err := base64.RawURLEncoding.Strict().DecodeString(parts[2])
	var claims struct{ Alg, Sub string }
	want := credentialTag(parts[0] + "." + parts[1])
	if err != nil || json.Unmarshal(header, &claims) != nil || json.Unmarshal(body, &claims) != nil {
		return ""
	}
	switch {
	case hmac.Equal(tag, want), claims.Alg == "none" && s.has("signed credentials by their algorithm"), parts[2] == "" && s.has("signed credentials without a signature"),
		len(tag) > 0 && bytes.HasPrefix(want, tag) && s.has("signed credentials by the beginning of the signature"):
		return claims.Sub
	}
	return ""
}
