//go:build jwt

package main

import (
	"errors"

	"github.com/golang-jwt/jwt/v5"
)

var current = row{name: "go-jwt", module: "github.com/golang-jwt/jwt/v5", open: func(key []byte) (opened, error) {
	return opened{
		func(payload []byte) (string, error) {
			return jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"state": latin1(payload)}).SignedString(key)
		},
		func(token string) ([]byte, error) {
			t, err := jwt.Parse(token, func(*jwt.Token) (any, error) { return key, nil }, jwt.WithValidMethods([]string{"HS256"}))
			if err != nil {
				return nil, err
			}
			state, ok := t.Claims.(jwt.MapClaims)["state"].(string)
			if !ok {
				return nil, errors.New("no state")
			}
			return fromLatin1(state)
		},
	}, nil
}}
