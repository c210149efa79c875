package broken

import (
	"bytes"
	"compress/bzip2"
	"compress/zlib"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"sealab/codecs"
)

// taggedTextControls returns controls with mistakes in the text that a tag covers.
func taggedTextControls() []Control {
	signed := func(name, doc string, broken []codecs.Property, attack string, message func(id, payload []byte) []byte) Control {
		return aSigner(name, doc, broken, []string{attack}, func(p *signerParts) { p.message = message })
	}
	integrity := []codecs.Property{codecs.Integrity}
	return []Control{
		signed("reparsed", "the tag covers the JSON value of the payload, and not its text", integrity, "FRM-13", func(id, payload []byte) []byte {
			var value any
			if json.Unmarshal(payload, &value) != nil {
				return slices.Concat(id, payload)
			}
			return slices.Concat(id, inJSON(value))
		}),
		signed("normalized", "the tag covers the payload with the Kelvin sign and the Greek question mark replaced", integrity, "FRM-14", func(id, payload []byte) []byte {
			return slices.Concat(id, []byte(strings.NewReplacer("\u212a", "K", "\u037e", ";").Replace(string(payload))))
		}),
		signed("line-ends", "the tag covers the payload with other line ends", integrity, "FRM-14", func(id, payload []byte) []byte {
			return slices.Concat(id, bytes.ReplaceAll(payload, []byte("\r\n"), []byte("\n")))
		}),
		aSigner("zero-id", "a key ID of zeros stands for the first key, and is outside the tag", []codecs.Property{codecs.Integrity, codecs.Canonical}, []string{"FRM-12"}, func(p *signerParts) {
			p.message = func(_, payload []byte) []byte { return slices.Concat([]byte(signerPrefix), payload) }
			found := p.lookup
			p.lookup = func(r *ring, id []byte) *entry {
				if bytes.Equal(id, make([]byte, idSize)) {
					return r.entries[0]
				}
				return found(r, id)
			}
		}),
		aSigner("zero-padded", "zeros at the end of a payload of whole blocks are cut off as padding", []codecs.Property{codecs.ByteExact}, []string{"PAY-08"}, func(p *signerParts) {
			p.unpacked = func(carried []byte) []byte {
				if len(carried) > 0 && len(carried)%16 == 0 {
					return bytes.TrimRight(carried, "\x00")
				}
				return carried
			}
		}),
		withClaim(aSigner("hashed-key-id", "the key ID is a hash of the secret", []codecs.Property{codecs.PrivateKeys}, []string{"KEY-17"}, func(p *signerParts) {
			p.derive = func(secret []byte) (key, id []byte) {
				key, _ = deriveKey(secret)
				sum := sha256.Sum256(secret)
				return key, sum[:idSize]
			}
		}), codecs.PrivateKeys),
		withClaim(aSigner("thumbprint", "the key ID is the thumbprint of the secret as a JSON Web Key", []codecs.Property{codecs.PrivateKeys}, []string{"KEY-17"}, func(p *signerParts) {
			p.derive = func(secret []byte) (key, id []byte) {
				key, _ = deriveKey(secret)
				return key, sum256(fmt.Appendf(nil, `{"k":"%s","kty":"oct"}`, base64.RawURLEncoding.EncodeToString(secret)))[:idSize]
			}
		}), codecs.PrivateKeys),
		withClaim(aSigner("short-key-id", "the key ID, a segment of its own, is the CRC-32 of the secret", []codecs.Property{codecs.PrivateKeys}, []string{"KEY-17"}, func(p *signerParts) {
			p.derive = func(secret []byte) (key, id []byte) {
				key, _ = deriveKey(secret)
				return key, binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(secret))
			}
			p.encode = func(raw []byte) string { return joinText(raw[:idSize], raw[idSize:]) }
			p.decode = func(text string) ([]byte, bool) {
				parts, err := splitText(text, 2)
				return slices.Concat(parts...), err == nil && len(parts[0]) == idSize
			}
		}), codecs.PrivateKeys),
	}
}

// earlyWorkControls returns controls that do work before they check the tag.
func earlyWorkControls() []Control {
	return []Control{
		withClaim(aSigner("stretched", "the key of each token is stretched from its key ID before the tag is checked", []codecs.Property{codecs.Inert, codecs.Total}, []string{"RES-09"}, func(p *signerParts) {
			mac := p.mac
			p.mac = func(key, message []byte) []byte { return mac(stretchKey(key, message), message) }
			p.also = p.mac
		}), codecs.Inert),
		withClaim(aSigner("stretched-once", "the key is stretched with the head of the payload, once for each", []codecs.Property{codecs.Inert}, []string{"RES-09"}, func(p *signerParts) {
			var known sync.Map
			mac := p.mac
			p.mac = func(key, message []byte) []byte {
				salt := string(key) + string(message[:min(16, len(message))])
				stretched, ok := known.Load(salt)
				if !ok {
					stretched = stretchKey(key, message)
					known.Store(salt, stretched)
				}
				return mac(stretched.([]byte), message)
			}
			p.also = p.mac
		}), codecs.Inert),
		withClaim(aSigner("inflated-bzip2", "a payload in bzip2 is decompressed before its tag is checked", []codecs.Property{codecs.Inert}, []string{"RES-12"}, func(p *signerParts) {
			p.judged = func(token []byte) []byte {
				return inflatedFirst(token, func(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil })
			}
		}), codecs.Inert),
		withClaim(aSigner("inflated", "the payload is decompressed before its tag is checked", []codecs.Property{codecs.Inert}, []string{"RES-12"}, func(p *signerParts) {
			p.judged = func(token []byte) []byte {
				return inflatedFirst(token, func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) })
			}
		}), codecs.Inert),
		withClaim(aPair("inflated-behind-tag", "the payload is behind the tag, and is decompressed before that is checked", []codecs.Property{codecs.Inert}, []string{"RES-12"}, inflatedBehindTag), codecs.Inert),
		withClaim(aSigner("pickled", "serialized objects in the payload are run before the tag is checked", []codecs.Property{codecs.Inert, codecs.Integrity}, []string{"RES-10"}, func(p *signerParts) {
			p.judged = runFirst
		}), codecs.Inert),
	}
}

// stretchKey does the work of a password hash. It allocates, so that a test that counts allocations
// notices the work.
func stretchKey(key, salt []byte) []byte {
	work := make([]byte, 1<<20)
	copy(work, salt)
	sum := sha256.Sum256(work[:64])
	derived, err := pbkdf2.Key(sha256.New, string(key), salt[:min(16, len(salt))], 64, 32)
	if err != nil || hmac.Equal(sum[:1], nil) {
		panic("broken: no key") // 32 bytes are a possible length
	}
	return derived
}

// inflatedFirst decompresses the bytes after the key ID if they are zlib data. It returns the token
// unchanged.
func inflatedFirst(token []byte, open func(io.Reader) (io.Reader, error)) []byte {
	raw, ok := decodeCanonical(strings.TrimPrefix(string(token), signerPrefix))
	if !ok || len(raw) < idSize {
		return token
	}
	if z, err := open(bytes.NewReader(raw[idSize:])); err == nil {
		text, _ := io.ReadAll(io.LimitReader(z, 16<<20)) //nolint:errcheck // invalid data is not an error here
		if len(text) > 1<<30 {
			return nil
		}
	}
	return token
}

func inflatedBehindTag(key []byte) pair {
	return pair{
		seal: func(payload []byte) string {
			packed := inZlib(payload, zlib.NoCompression)
			return joinText(slices.Concat(hmacSHA256(key, packed), packed))
		},
		unseal: func(token string) ([]byte, error) {
			parts, err := splitText(token, 1)
			if err != nil || len(parts[0]) < sha256.Size {
				return nil, errMalformed
			}
			tag, packed := parts[0][:sha256.Size], parts[0][sha256.Size:]
			z, err := zlib.NewReader(bytes.NewReader(packed))
			if err != nil {
				return nil, errUnauthentic
			}
			payload, err := io.ReadAll(io.LimitReader(z, 64<<20))
			if !hmac.Equal(tag, hmacSHA256(key, packed)) || err != nil {
				return nil, errUnauthentic
			}
			return payload, nil
		},
	}
}

// pickledOpen matches a Python pickle that opens a file for writing.
var pickledOpen = regexp.MustCompile(`cbuiltins\nopen\n\(V([^\n]+)\nVw\ntR\.`)

// runFirst runs a pickle in the token and returns the token unchanged. It only knows how to open a file.
func runFirst(token []byte) []byte {
	raw, _ := decodeCanonical(strings.TrimPrefix(string(token), signerPrefix))
	if m := pickledOpen.FindSubmatch(raw); m != nil {
		if f, err := os.Create(string(m[1])); err == nil {
			f.Close() //nolint:errcheck // the file is empty
		}
	}
	return token
}

// numberedMembers returns codecs that write a number and a payload as JSON members. The tag covers both,
// with their lengths or joined without a separator.
func numberedMembers(lengths bool) func(key []byte) pair {
	type members struct {
		Row  string `json:"row"`
		Text string `json:"text"`
		Seal []byte `json:"seal"`
	}
	return func(key []byte) pair {
		sealOf := func(m members) []byte {
			if lengths {
				return hmacSHA256(key, fmt.Appendf(nil, "%d.%s%s", len(m.Row), m.Row, m.Text))
			}
			return hmacSHA256(key, []byte(m.Row+m.Text))
		}
		return pair{
			seal: func(payload []byte) string {
				m := members{Row: fmt.Sprint(100000 + binary.BigEndian.Uint32(randomBytes(4))), Text: hex.EncodeToString(payload)}
				m.Seal = sealOf(m)
				return joinText(inJSON(m))
			},
			unseal: func(token string) ([]byte, error) {
				parts, err := splitText(token, 1)
				if err != nil {
					return nil, err
				}
				var m members
				if json.Unmarshal(parts[0], &m) != nil || !bytes.Equal(inJSON(m), parts[0]) {
					return nil, errMalformed
				}
				payload, err := hex.DecodeString(m.Text)
				if err != nil || hex.EncodeToString(payload) != m.Text {
					return nil, errMalformed
				}
				return payload, refusedUnless(hmac.Equal(m.Seal, sealOf(m)))
			},
		}
	}
}

// memberAsserted reads a version from a JSON header before it checks the tag.
func memberAsserted(key []byte) pair {
	return pair{
		seal: func(payload []byte) string {
			head := []byte(`{"edition":2}`)
			return joinText(head, payload, hmacSHA256(key, []byte(joinText(head, payload))))
		},
		unseal: func(token string) ([]byte, error) {
			parts, err := splitText(token, 3)
			if err != nil {
				return nil, err
			}
			var head map[string]any
			if json.Unmarshal(parts[0], &head) != nil || len(head) != 1 {
				return nil, errMalformed
			}
			if edition := head["edition"].(float64); edition != 2 {
				return nil, errMalformed
			}
			return parts[1], refusedUnless(hmac.Equal(parts[2], hmacSHA256(key, []byte(joinText(parts[0], parts[1])))))
		},
	}
}
