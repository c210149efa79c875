package review_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/review"
	"sealab/internal/rawmcp"
)

// A gate accepts access tokens that are JWTs under HS256.
type gate struct{ anySignature, anyAudience, none bool }

const ownAudience = "https://mcp.example/mcp"

func jwtFor(audience string) string {
	encode := base64.RawURLEncoding.EncodeToString
	text := encode([]byte(`{"alg":"HS256","typ":"at+jwt"}`)) + "." + encode([]byte(`{"sub":"alice","aud":"`+audience+`"}`))
	return text + "." + encode(signatureOf(text))
}

func signatureOf(text string) []byte {
	mac := hmac.New(sha256.New, []byte("a key of the issuer, of this test alone"))
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

func (g gate) takes(token string) bool {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return false
	}
	var header struct{ Alg string }
	var claims struct{ Aud string }
	for i, into := range []any{&header, &claims} {
		raw, err := base64.RawURLEncoding.DecodeString(parts[i])
		if err != nil || json.Unmarshal(raw, into) != nil {
			return false
		}
	}
	tag, err := base64.RawURLEncoding.DecodeString(parts[2])
	signed := err == nil && header.Alg == "HS256" && hmac.Equal(tag, signatureOf(parts[0]+"."+parts[1]))
	return (signed || g.anySignature && parts[2] != "" || g.none && strings.EqualFold(header.Alg, "none")) && (g.anyAudience || claims.Aud == ownAudience)
}

func (g gate) before(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !g.takes(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "unauthorized", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// TestAudience reviews gates of access tokens. Each careless one must be refuted by the tokens that
// it accepts, and the careful one must not be refuted.
func TestAudience(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		gate  gate
		cases []string
	}{
		"careful":       {gate{}, nil},
		"any audience":  {gate{anyAudience: true}, []string{"a credential for another server"}},
		"any signature": {gate{anySignature: true, anyAudience: true}, []string{"a JWT under an empty key", "a JWT under the key of a page", "a JWT with another audience", "a credential for another server"}},
		"alg none":      {gate{none: true}, []string{"a JWT under the alg nOnE", "a JWT under the alg none"}},
	} {
		t.Run(name, func(t *testing.T) {
			report := reviewed(t, &fixture{seal: soundSigned(), before: x.gate.before}, func(o *review.Options) {
				o.Checks = []string{"A-AUD"}
				o.Target.Headers = []rawmcp.Header{{Name: "Authorization", Value: "Bearer " + jwtFor(ownAudience)}}
				o.Target.Foreign = []rawmcp.Header{{Name: "Authorization", Value: "Bearer " + jwtFor("https://other.example/mcp")}}
			})
			var cases []string
			for _, f := range report.Findings {
				require.Equal(t, review.Critical, f.Severity)
				require.NotContains(t, f.Evidence, jwtFor(ownAudience), "a credential")
				cases = append(cases, f.Case)
			}
			require.Equal(t, x.cases, cases, describe(report))
			require.Equal(t, 7, report.Outcomes[0].Trials)
		})
	}
}
