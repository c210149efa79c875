//go:build jose

package main

import "github.com/go-jose/go-jose/v4"

var current = row{name: "go-jose", module: "github.com/go-jose/go-jose/v4", open: func(key []byte) (opened, error) {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: key}, nil)
	return opened{
		func(payload []byte) (string, error) {
			token, err := signer.Sign(payload)
			if err != nil {
				return "", err
			}
			return token.CompactSerialize()
		},
		func(token string) ([]byte, error) {
			t, err := jose.ParseSigned(token, []jose.SignatureAlgorithm{jose.HS256})
			if err != nil {
				return nil, err
			}
			return t.Verify(key)
		},
	}, err
}}
