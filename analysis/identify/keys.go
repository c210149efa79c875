package identify

import (
	"crypto/sha1"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"sealab/codecs"
	"sealab/internal/lab"
)

// A Key is a secret to try. Its name does not reveal the secret, unless that is public.
type Key struct {
	Name   string
	Secret []byte
}

// commonKeys are keys from the documentation or code of frameworks. Texts are as documented; the prefixes
// hex: and base64: mark encoded bytes.
var commonKeys = []struct{ text, source string }{
	{"your-256-bit-secret", "jwt.io debugger"},
	{"a-string-secret-at-least-256-bits-long", "jwt.io debugger, 2025"},
	{"secret", "README of PyJWT"},
	{"shhhhh", "README of jsonwebtoken"},
	{"AllYourBase", "documentation of golang-jwt"},
	{"", "InfluxDB without shared-secret, CVE-2019-20933"},
	{"dev", "tutorial of Flask"},
	{`_5#y2L"F4Q8z\n\xec]/`, "quickstart of Flask, as typed"},
	{"_5#y2L\"F4Q8z\n\xec]/", "quickstart of Flask"},
	{"192b9bdd22ab9ed4d12e236c78afcb9a393ec15f71bbf5dc987d54727823bcbf", "documentation of Flask"},
	{"secret key", "documentation of itsdangerous"},
	{"\x02\x01thisismyscretkey\x01\x02\\e\\y\\y\\h", "Apache Superset, CVE-2023-27524"},
	{"CHANGE_ME_TO_A_COMPLEX_RANDOM_SECRET", "Apache Superset, CVE-2023-27524"},
	{"thisISaSECRET_1234", "Apache Superset, CVE-2023-27524"},
	{"TEST_NON_DEV_SECRET", "Apache Superset, CVE-2023-27524"},
	{"complex_password_at_least_32_characters_long", "README of iron-session"},
	{"some_not_random_password_that_is_also_long_enough", "tests of @hapi/iron"},
	{"keyboard cat", "README of express-session"},
	{"tobiiscool", "README of cookie-signature"},
	{"supersecretkeyyoushouldnotcommit", "specification of branca"},
	{"base64:cw/0x689RpI+jtRR7oE8h/eQsKImvJapLeSbXpwF4e4=", "specification of Fernet"},
	{"hex:707172737475767778797a7b7c7d7e7f808182838485868788898a8b8c8d8e8f", "test vectors of PASETO"},
}

// CommonKeys returns the keys that frameworks publish, named by their sources.
func CommonKeys() ([]Key, error) {
	keys := make([]Key, 0, len(commonKeys))
	for _, k := range commonKeys {
		secret := []byte(k.text)
		var err error
		if text, ok := strings.CutPrefix(k.text, "hex:"); ok {
			secret, err = hex.DecodeString(text)
		} else if text, ok := strings.CutPrefix(k.text, "base64:"); ok {
			secret, err = base64.StdEncoding.DecodeString(text)
		}
		if err != nil {
			return nil, fmt.Errorf("key of the %s: %w", k.source, err)
		}
		keys = append(keys, Key{"published in the " + k.source, secret})
	}
	return keys, nil
}

// Try sets the Key of each candidate that one of the keys authenticates.
func (a *Answer) Try(keys []Key) {
	for i := range a.Candidates {
		c := &a.Candidates[i]
		for _, k := range keys {
			if c.opens != nil && c.opens(k.Secret) || c.design != nil && (opensDesign(*c.design, k.Secret, a.Token) || opensFlask(*c.design, k.Secret, a.Token)) {
				c.Key = k.Name
				break
			}
		}
	}
}

// opensDesign reports whether the key authenticates a token in any reading. A token that is expired or
// minted for another request counts as authentic.
func opensDesign(d codecs.Design, secret []byte, token string) bool {
	for _, options := range optionSets(d) {
		in, err := lab.Open(d, codecs.Config{Secrets: [][]byte{secret}, Options: options})
		if err != nil {
			continue // not a key of this design
		}
		_, err = in.Unseal(nil, []byte(token), &codecs.Context{Now: time.Unix(1, 0)})
		in.Close()
		r := codecs.Rejected(err)
		if err == nil || errors.Is(err, codecs.ErrUnsupported) || r != nil && r.Stage > codecs.Unauthentic {
			return true
		}
	}
	return false
}

// optionSets returns the options to try: the defaults, and each other value on its own.
func optionSets(d codecs.Design) []map[string]string {
	all := []map[string]string{nil}
	for _, o := range d.Options {
		for _, v := range o.Values[1:] {
			all = append(all, map[string]string{o.Name: v})
		}
	}
	return all
}

// flaskSalts are the salts of Flask and of the library's defaults.
var flaskSalts = []string{"cookie-session", signerSalt, strings.TrimSuffix(signerSalt, ".Signer")}

// signerSalt is the default salt of the library's Signer. Its serializers omit the class name.
const signerSalt = "itsdangerous.Signer"

// opensFlask reports whether a key of any length signed a token in the manner of itsdangerous. Flask's
// sessions have their own salt and often short keys.
func opensFlask(d codecs.Design, secret []byte, token string) bool {
	if d.Prefix != "" {
		return false
	}
	i := strings.LastIndexByte(token, '.')
	if i < 0 {
		return false
	}
	tag, ok := decodeRawURL(token[i+1:])
	if !ok || len(tag) != sha1.Size {
		return false
	}
	for _, salt := range flaskSalts {
		if key := sha1.Sum(append([]byte(salt+"signer"), secret...)); macOpens(sha1.New, token[:i], tag)(key[:]) {
			return true
		}
	}
	return false
}
