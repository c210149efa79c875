package framing

import (
	"bytes"
	"compress/zlib"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"io"
	"path"
	"slices"
	"strings"

	"sealab/internal/broken/skeleton"
)

// compactJWS signs as RFC 7515 does. wanted returns the tag that a token must have, or nil if the header
// is malformed. Its sign argument signs the token under a key.
func compactJWS(key []byte, header string, wanted func(header []byte, sign func(key []byte) []byte) []byte) skeleton.Pair {
	sign := func(key []byte, parts ...[]byte) []byte {
		return skeleton.HMAC(key, []byte(skeleton.JoinText(parts...)))
	}
	return skeleton.Pair{
		Write: func(payload []byte) string {
			return skeleton.JoinText([]byte(header), payload, sign(key, []byte(header), payload))
		},
		Read: func(token string) ([]byte, error) {
			parts, err := skeleton.SplitText(token, 3)
			if err != nil {
				return nil, err
			}
			tag := wanted(parts[0], func(key []byte) []byte { return sign(key, parts[:2]...) })
			if tag == nil {
				return nil, skeleton.ErrMalformed
			}
			return parts[1], skeleton.Authentic(hmac.Equal(parts[2], tag))
		},
	}
}

// shortAlgorithm accepts tags of one byte under one algorithm name.
func shortAlgorithm(key []byte) skeleton.Pair {
	const head = `{"alg":"HS256"}`
	return compactJWS(key, head, func(header []byte, sign func(key []byte) []byte) []byte {
		var read struct{ Alg string }
		switch {
		case json.Unmarshal(header, &read) == nil && read.Alg == "HS256/8":
			return sign(key)[:1]
		case string(header) == head:
			return sign(key)
		}
		return nil
	})
}

func emptyKey(key []byte) skeleton.Pair {
	keys := map[string][]byte{"main": key}
	return compactJWS(key, `{"alg":"HS256","kid":"main"}`, func(header []byte, sign func(key []byte) []byte) []byte {
		var read struct{ Kid string }
		if json.Unmarshal(header, &read) != nil {
			return nil
		}
		return sign(keys[read.Kid])
	})
}

func noKeyID(key []byte) skeleton.Pair {
	return compactJWS(key, `{"alg":"HS256","kid":"main"}`, func(header []byte, sign func(key []byte) []byte) []byte {
		var read struct{ Kid *string }
		switch {
		case json.Unmarshal(header, &read) != nil:
			return nil
		case read.Kid == nil:
			return sign(nil)
		case *read.Kid == "main":
			return sign(key)
		}
		return nil
	})
}

func inheritedKey(key []byte) skeleton.Pair {
	keys := map[string][]byte{"Zm9v": key, "constructor": []byte("function Object() { [native code] }"), "__proto__": []byte("[object Object]")}
	return keyNamed(key, func(id string) []byte { return keys[id] })
}

// keyOfPath reads a key from a file below a folder. The path may leave the folder and reach an empty
// device.
func keyOfPath(key []byte) skeleton.Pair {
	files := map[string][]byte{"/etc/keys/Zm9v": key, "/dev/null": {}}
	return keyNamed(key, func(id string) []byte { return files[path.Join("/etc/keys", id)] })
}

// keyNamed returns a codec of tokens
//
//	token = "Zm9v." || base64url(payload) || "." || base64url(tag[32])
//
// that looks up the key by the name in front.
func keyNamed(key []byte, find func(id string) []byte) skeleton.Pair {
	return skeleton.Pair{
		Write: func(payload []byte) string {
			text := "Zm9v." + skeleton.JoinText(payload)
			return text + "." + skeleton.JoinText(skeleton.HMAC(key, []byte(text)))
		},
		Read: func(token string) ([]byte, error) {
			texts := strings.Split(token, ".")
			id := strings.Join(texts[:max(0, len(texts)-2)], ".")
			parts, err := skeleton.SplitText(strings.TrimPrefix(token, id+"."), 2)
			found := find(id)
			if err != nil || found == nil {
				return nil, skeleton.ErrMalformed
			}
			return parts[0], skeleton.Authentic(hmac.Equal(parts[1], skeleton.HMAC(found, []byte(token[:strings.LastIndexByte(token, '.')]))))
		},
	}
}

func keyInHeader(key []byte) skeleton.Pair {
	return compactJWS(key, `{"alg":"HS256"}`, func(header []byte, sign func(key []byte) []byte) []byte {
		var read struct{ JWK *struct{ K string } }
		switch {
		case json.Unmarshal(header, &read) != nil:
			return nil
		case read.JWK == nil:
			return sign(key)
		}
		if raw, ok := skeleton.DecodeCanonical(read.JWK.K); ok {
			return sign(raw)
		}
		return sign([]byte(read.JWK.K))
	})
}

func openHeader(key []byte) skeleton.Pair {
	inner := skeleton.TaggedPair(key)
	return skeleton.Pair{
		Write: func(payload []byte) string {
			return skeleton.JoinText([]byte(`{"alg":"HS256","v":1}`)) + "." + inner.Write(payload)
		},
		Read: func(token string) ([]byte, error) {
			text, rest, _ := strings.Cut(token, ".")
			header, ok := skeleton.DecodeCanonical(text)
			var read struct{ V int }
			if !ok || json.Unmarshal(header, &read) != nil || read.V != 1 {
				return nil, skeleton.ErrMalformed
			}
			return inner.Read(rest)
		},
	}
}

// memberAsserted reads a version from a JSON header before it checks the tag.
func memberAsserted(key []byte) skeleton.Pair {
	return compactJWS(key, `{"edition":2}`, func(header []byte, sign func(key []byte) []byte) []byte {
		var read map[string]any
		if json.Unmarshal(header, &read) != nil || len(read) != 1 || read["edition"].(float64) != 2 {
			return nil
		}
		return sign(key)
	})
}

// openFlag returns a codec of tokens
//
//	token = base64url(flag || packed || tag[32])
//
// that compresses payloads which become shorter by that. The flag says so, outside of the tag.
func openFlag(key []byte) skeleton.Pair {
	return skeleton.Pair{
		Write: func(payload []byte) string {
			flag, packed := byte(1), skeleton.InZlib(payload, zlib.BestCompression)
			if len(packed) >= len(payload) {
				flag, packed = 0, payload
			}
			return skeleton.JoinText(slices.Concat([]byte{flag}, packed, skeleton.HMAC(key, packed)))
		},
		Read: func(token string) ([]byte, error) {
			raw, ok := skeleton.DecodeCanonical(token)
			if !ok || len(raw) <= sha256.Size || raw[0] > 1 {
				return nil, skeleton.ErrMalformed
			}
			packed, tag := raw[1:len(raw)-sha256.Size], raw[len(raw)-sha256.Size:]
			if !hmac.Equal(tag, skeleton.HMAC(key, packed)) {
				return nil, skeleton.ErrUnauthentic
			}
			if raw[0] == 0 {
				return packed, nil
			}
			r, err := zlib.NewReader(bytes.NewReader(packed))
			if err != nil {
				return nil, skeleton.ErrMalformed
			}
			payload, err := io.ReadAll(r)
			if err != nil {
				return nil, skeleton.ErrMalformed
			}
			return payload, nil
		},
	}
}
