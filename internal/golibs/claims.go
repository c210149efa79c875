package golibs

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"time"
	"unicode/utf8"

	"aidanwoods.dev/go-paseto"
	"github.com/go-jose/go-jose/v4"
	josejwt "github.com/go-jose/go-jose/v4/jwt"
	"github.com/golang-jwt/jwt/v5"
	"github.com/lestrrat-go/jwx/v3/jwa"
	jwxjwt "github.com/lestrrat-go/jwx/v3/jwt"

	"sealab/codecs"
)

// Schemes returns a row for every library that carries the claims of package claims: issued, expires,
// subject, audience, method, target, a digest of the arguments, and the state. The digest is of the raw
// arguments, and the subject is the principal itself. Both cost a library less than the digests of package
// claims.
func Schemes() []codecs.Design {
	return []codecs.Design{
		claimsRow(goJose, openGoJoseClaims), claimsRow(pasetoLibrary, openPasetoClaims),
		claimsRow(golangJWT, openGolangJWTClaims), claimsRow(jwxSigned, openJWXClaims),
	}
}

// claimsRow returns the row of a library as a scheme with claims.
func claimsRow(d codecs.Design, open func(key []byte) (claimsLibrary, error)) codecs.Design {
	return codecs.Design{
		Name: d.Name + "-claims", Doc: d.Doc + ", with claims", Spec: d.Spec, MaxKeys: 1, Guarantees: d.Guarantees,
		NewScheme: func(c codecs.Config) (codecs.Scheme, error) {
			var library claimsLibrary
			_, err := one(func(key []byte) (_ codec, err error) {
				library, err = open(key)
				return codec{}, err
			})(c)
			return library, err
		},
	}
}

// claimsLifetime is the time to live of tokens of Schemes.
const claimsLifetime = 600 * time.Second

// request holds the claims that describe the request.
type request struct {
	Method string `json:"m"`
	Target string `json:"t"`
	Digest string `json:"a"`
	State  string `json:"s"`
}

// stamp holds the registered claims. An absent text is "".
type stamp struct {
	issued, expires   time.Time
	subject, audience string
}

// claimsLibrary is a library that seals and opens claims.
type claimsLibrary struct {
	seal func(stamp, request) ([]byte, error)
	open func(token []byte) (stamp, request, error)
}

// claimsOf returns the claims of a context.
func claimsOf(c *codecs.Context, state []byte) (stamp, request) {
	digest := sha256.Sum256(c.Arguments)
	s := stamp{issued: c.Now, expires: c.Now.Add(claimsLifetime)}
	if c.Principal != nil {
		s.subject = *c.Principal
	}
	if c.Audience != nil {
		s.audience = *c.Audience
	}
	return s, request{c.Method, c.Target, base64.RawURLEncoding.EncodeToString(digest[:16]), string(state)}
}

// Mint implements codecs.Scheme.
func (l claimsLibrary) Mint(dst, state []byte, c *codecs.Context) ([]byte, error) {
	if !utf8.Valid(state) {
		return dst, codecs.ErrUnsupported
	}
	token, err := l.seal(claimsOf(c, state))
	if err != nil {
		return dst, err
	}
	return append(dst, token...), nil
}

var (
	errExpired  = codecs.Reject(codecs.Expired, "expired")
	errMisbound = codecs.Reject(codecs.Misbound, "misbound")
)

// Verify implements codecs.Scheme.
func (l claimsLibrary) Verify(dst, token []byte, c *codecs.Context) ([]byte, error) {
	s, got, err := l.open(token)
	if err != nil {
		return dst, errUnauthentic
	}
	if !c.Now.Before(s.expires) || s.issued.After(c.Now.Add(time.Minute)) {
		return dst, errExpired
	}
	now, want := claimsOf(c, nil)
	if s.subject != now.subject || s.audience != now.audience || got.Method != want.Method || got.Target != want.Target ||
		subtle.ConstantTimeCompare([]byte(got.Digest), []byte(want.Digest)) != 1 {
		return dst, errMisbound
	}
	return append(dst, got.State...), nil
}

// first returns the first text of a list, or "".
func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// timeOf returns the time of a claim. An absent claim has the zero time, which has expired.
func timeOf(date *jwt.NumericDate) time.Time {
	if date == nil {
		return time.Time{}
	}
	return date.Time
}

func openGolangJWTClaims(key []byte) (claimsLibrary, error) {
	type all struct {
		jwt.RegisteredClaims
		request
	}
	parser := jwt.NewParser(jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithoutClaimsValidation())
	keyOf := func(*jwt.Token) (any, error) { return key, nil }
	return claimsLibrary{
		seal: func(s stamp, r request) ([]byte, error) {
			text, err := jwt.NewWithClaims(jwt.SigningMethodHS256, all{jwt.RegisteredClaims{
				IssuedAt: jwt.NewNumericDate(s.issued), ExpiresAt: jwt.NewNumericDate(s.expires),
				Subject: s.subject, Audience: jwt.ClaimStrings{s.audience},
			}, r}).SignedString(key)
			return []byte(text), err
		},
		open: func(token []byte) (stamp, request, error) {
			var c all
			_, err := parser.ParseWithClaims(string(token), &c, keyOf)
			return stamp{timeOf(c.IssuedAt), timeOf(c.ExpiresAt), c.Subject, first(c.Audience)}, c.request, err
		},
	}, nil
}

func openGoJoseClaims(key []byte) (claimsLibrary, error) {
	encrypter, err := jose.NewEncrypter(jose.A256GCM, jose.Recipient{Algorithm: jose.DIRECT, Key: key}, nil)
	return claimsLibrary{
		seal: func(s stamp, r request) ([]byte, error) {
			text, err := josejwt.Encrypted(encrypter).Claims(josejwt.Claims{
				IssuedAt: josejwt.NewNumericDate(s.issued), Expiry: josejwt.NewNumericDate(s.expires),
				Subject: s.subject, Audience: josejwt.Audience{s.audience},
			}).Claims(r).Serialize()
			return []byte(text), err
		},
		open: func(token []byte) (stamp, request, error) {
			var registered josejwt.Claims
			var r request
			parsed, err := josejwt.ParseEncrypted(string(token), []jose.KeyAlgorithm{jose.DIRECT}, []jose.ContentEncryption{jose.A256GCM})
			if err == nil {
				err = parsed.Claims(key, &registered, &r)
			}
			return stamp{registered.IssuedAt.Time(), registered.Expiry.Time(), registered.Subject, first(registered.Audience)}, r, err
		},
	}, err
}

func openJWXClaims(key []byte) (claimsLibrary, error) {
	withKey := jwxjwt.WithKey(jwa.HS256(), key)
	return claimsLibrary{
		seal: func(s stamp, r request) ([]byte, error) {
			token, err := jwxjwt.NewBuilder().IssuedAt(s.issued).Expiration(s.expires).Subject(s.subject).Audience([]string{s.audience}).
				Claim("m", r.Method).Claim("t", r.Target).Claim("a", r.Digest).Claim(stateClaim, r.State).Build()
			if err != nil {
				return nil, err
			}
			return jwxjwt.Sign(token, withKey)
		},
		open: func(token []byte) (s stamp, r request, err error) {
			parsed, err := jwxjwt.Parse(token, withKey, jwxjwt.WithValidate(false))
			if err != nil {
				return s, r, err
			}
			s.issued, _ = parsed.IssuedAt()
			s.expires, _ = parsed.Expiration()
			s.subject, _ = parsed.Subject()
			audience, _ := parsed.Audience()
			s.audience = first(audience)
			for name, text := range map[string]*string{"m": &r.Method, "t": &r.Target, "a": &r.Digest, stateClaim: &r.State} {
				if err := parsed.Get(name, text); err != nil {
					return s, r, err
				}
			}
			return s, r, nil
		},
	}, nil
}

func openPasetoClaims(key []byte) (claimsLibrary, error) {
	k, err := paseto.V4SymmetricKeyFromBytes(key)
	parser := paseto.NewParserWithoutExpiryCheck()
	return claimsLibrary{
		seal: func(s stamp, r request) ([]byte, error) {
			token := paseto.NewToken()
			token.SetIssuedAt(s.issued)
			token.SetExpiration(s.expires)
			token.SetSubject(s.subject)
			token.SetAudience(s.audience)
			token.SetString("m", r.Method)
			token.SetString("t", r.Target)
			token.SetString("a", r.Digest)
			token.SetString(stateClaim, r.State)
			return []byte(token.V4Encrypt(k, nil)), nil
		},
		open: func(token []byte) (s stamp, r request, err error) {
			parsed, err := parser.ParseV4Local(k, string(token), nil)
			if err != nil {
				return s, r, err
			}
			// An absent time is the zero time, which has expired. An absent text differs from the text of
			// each request.
			s.issued, _ = parsed.GetIssuedAt()
			s.expires, _ = parsed.GetExpiration()
			s.subject, _ = parsed.GetSubject()
			s.audience, _ = parsed.GetAudience()
			for name, text := range map[string]*string{"m": &r.Method, "t": &r.Target, "a": &r.Digest, stateClaim: &r.State} {
				if *text, err = parsed.GetString(name); err != nil {
					return s, r, err
				}
			}
			return s, r, nil
		},
	}, err
}
