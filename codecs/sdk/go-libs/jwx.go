//go:build jwx

package main

import (
	"github.com/lestrrat-go/jwx/v2/jwa"
	"github.com/lestrrat-go/jwx/v2/jws"
)

var current = row{name: "go-jwx", module: "github.com/lestrrat-go/jwx/v2", open: func(key []byte) (opened, error) {
	return opened{
		func(payload []byte) (string, error) {
			token, err := jws.Sign(payload, jws.WithKey(jwa.HS256, key))
			return string(token), err
		},
		func(token string) ([]byte, error) { return jws.Verify([]byte(token), jws.WithKey(jwa.HS256, key)) },
	}, nil
}}
