//go:build josezip

package main

import "github.com/go-jose/go-jose/v4"

var current = row{name: "go-jose-zip", module: "github.com/go-jose/go-jose/v4", sealed: true, open: func(key []byte) (opened, error) {
	sealer, err := jose.NewEncrypter(jose.A256GCM, jose.Recipient{Algorithm: jose.DIRECT, Key: key}, &jose.EncrypterOptions{Compression: jose.DEFLATE})
	return opened{
		func(payload []byte) (string, error) {
			token, err := sealer.Encrypt(payload)
			if err != nil {
				return "", err
			}
			return token.CompactSerialize()
		},
		func(token string) ([]byte, error) {
			t, err := jose.ParseEncrypted(token, []jose.KeyAlgorithm{jose.DIRECT}, []jose.ContentEncryption{jose.A256GCM})
			if err != nil {
				return nil, err
			}
			return t.Decrypt(key)
		},
	}, err
}}
