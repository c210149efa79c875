//go:build jwxpbes2

package main

import (
	"github.com/lestrrat-go/jwx/v2/jwa"
	"github.com/lestrrat-go/jwx/v2/jwe"
)

var current = row{name: "go-jwx-pbes2", module: "github.com/lestrrat-go/jwx/v2", sealed: true, open: func(key []byte) (opened, error) {
	return opened{
		func(payload []byte) (string, error) {
			token, err := jwe.Encrypt(payload, jwe.WithKey(jwa.PBES2_HS256_A128KW, key), jwe.WithContentEncryption(jwa.A256GCM))
			return string(token), err
		},
		func(token string) ([]byte, error) {
			return jwe.Decrypt([]byte(token), jwe.WithKey(jwa.PBES2_HS256_A128KW, key))
		},
	}, nil
}}
