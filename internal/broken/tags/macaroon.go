package tags

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sealab/internal/broken/skeleton"
)

// A macaroonFormat writes and reads the identifier and the caveats of a macaroon with its signature, in this
// order.
type macaroonFormat struct {
	write func(parts [][]byte) []byte
	read  func(raw []byte) (parts [][]byte, ok bool)
}

// inMacaroon returns a codec of tokens
//
//	token = base64url(format(identifier || caveats || signature[32]))
//	signature = HMAC-SHA256(... HMAC-SHA256(HMAC-SHA256(key, identifier), caveat 1) ..., caveat n)
//
// whose payload is a caveat "state = " || hexadecimal. The reader takes the last one. If single, it accepts only
// one caveat.
func inMacaroon(key []byte, format macaroonFormat, single bool) skeleton.Pair {
	const name = "state = "
	sign := func(parts [][]byte) []byte {
		signature := key
		for _, part := range parts {
			signature = skeleton.HMAC(signature, part)
		}
		return signature
	}
	return skeleton.Pair{
		Write: func(payload []byte) string {
			parts := [][]byte{skeleton.HMAC(key, payload)[:8], fmt.Appendf(nil, "%s%x", name, payload)}
			return base64.RawURLEncoding.EncodeToString(format.write(append(parts, sign(parts))))
		},
		Read: func(token string) ([]byte, error) {
			raw, ok := skeleton.DecodeCanonical(token)
			parts, isMacaroon := format.read(raw)
			n := len(parts) - 1
			if !ok || !isMacaroon || n < 2 || single && n > 2 || !bytes.Equal(format.write(parts), raw) {
				return nil, skeleton.ErrMalformed
			}
			if !hmac.Equal(parts[n], sign(parts[:n])) {
				return nil, skeleton.ErrUnauthentic
			}
			text, isState := strings.CutPrefix(string(parts[n-1]), name)
			payload, err := hex.DecodeString(text)
			if !isState || err != nil {
				return nil, skeleton.ErrMalformed
			}
			return payload, nil
		},
	}
}

// packets are the packets of format 1.
var packets = macaroonFormat{
	write: func(parts [][]byte) (raw []byte) {
		for i, part := range parts {
			name := "cid"
			switch i {
			case 0:
				name = "identifier"
			case len(parts) - 1:
				name = "signature"
			}
			raw = fmt.Appendf(raw, "%04x%s %s\n", 4+len(name)+1+len(part)+1, name, part)
		}
		return raw
	},
	read: func(raw []byte) (parts [][]byte, ok bool) {
		for len(raw) > 4 {
			n, err := strconv.ParseUint(string(raw[:4]), 16, 16)
			if err != nil || n < 5 || n > uint64(len(raw)) {
				return nil, false
			}
			_, value, _ := bytes.Cut(raw[4:n-1], []byte(" "))
			parts, raw = append(parts, value), raw[n:]
		}
		return parts, len(raw) == 0
	},
}

// The fields of format 2.
var fields = macaroonFormat{
	write: func(parts [][]byte) []byte {
		raw := []byte{2}
		for _, part := range parts[:len(parts)-1] {
			raw = slices.Concat(binary.AppendUvarint(append(raw, 2), uint64(len(part))), part, []byte{0})
		}
		return slices.Concat(raw, []byte{0, 6, sha256.Size}, parts[len(parts)-1])
	},
	read: func(raw []byte) (parts [][]byte, ok bool) {
		raw, ok = bytes.CutPrefix(raw, []byte{2})
		for ok && len(raw) > 2 && raw[0] == 2 {
			n, size := binary.Uvarint(raw[1:])
			if size <= 0 || n >= uint64(len(raw)-1-size) {
				return nil, false
			}
			parts, raw = append(parts, raw[1+size:1+size+int(n)]), raw[2+size+int(n):]
		}
		signature, isSignature := bytes.CutPrefix(raw, []byte{0, 6, sha256.Size})
		return append(parts, signature), ok && isSignature
	},
}
