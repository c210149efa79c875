package golibs

import (
	"unicode/utf8"

	"github.com/golang-jwt/jwt/v5"

	"sealab/codecs"
)

var golangJWT = codecs.Design{
	Name:       "golang-jwt",
	Doc:        "golang-jwt: JWT, HS256, the payload as one claim",
	Spec:       "github.com/golang-jwt/jwt/v5; RFC 7519",
	MaxKeys:    1,
	NewCodec:   one(newGolangJWT),
	Guarantees: signs,
}

// stateClaims are the claims of a token: the payload and no date.
type stateClaims struct {
	State string `json:"s"`
	jwt.RegisteredClaims
}

func newGolangJWT(key []byte) (codec, error) {
	seal := func(payload []byte) ([]byte, error) {
		if !utf8.Valid(payload) {
			return nil, codecs.ErrUnsupported
		}
		token := jwt.NewWithClaims(jwt.SigningMethodHS256, stateClaims{State: string(payload)})
		text, err := token.SignedString(key)
		return []byte(text), err
	}
	parser := jwt.NewParser(jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}))
	keyOf := func(*jwt.Token) (any, error) { return key, nil }
	unseal := func(text []byte) ([]byte, error) {
		var claims stateClaims
		if _, err := parser.ParseWithClaims(string(text), &claims, keyOf); err != nil {
			return nil, errUnauthentic
		}
		return []byte(claims.State), nil
	}
	return codec{seal, unseal}, nil
}
