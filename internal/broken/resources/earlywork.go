package resources

import (
	"bytes"
	"compress/bzip2"
	"compress/zlib"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
)

// EarlyWork returns controls that do work before they check the tag.
func EarlyWork() []skeleton.Control {
	return []skeleton.Control{
		skeleton.WithClaim(skeleton.NewSigner("stretched", "the key of each token is stretched from its key ID before the tag is checked", []codecs.Property{codecs.Inert, codecs.Total}, []string{"RES-09"}, func(p *skeleton.SignerParts) {
			mac := p.MAC
			p.MAC = func(key, message []byte) []byte { return mac(stretchKey(key, message), message) }
			p.Also = p.MAC
		}), codecs.Inert),
		skeleton.WithClaim(skeleton.NewSigner("stretched-once", "the key is stretched with the head of the payload, once for each", []codecs.Property{codecs.Inert}, []string{"RES-09"}, func(p *skeleton.SignerParts) {
			var known sync.Map
			mac := p.MAC
			p.MAC = func(key, message []byte) []byte {
				salt := string(key) + string(message[:min(16, len(message))])
				stretched, ok := known.Load(salt)
				if !ok {
					stretched = stretchKey(key, message)
					known.Store(salt, stretched)
				}
				return mac(stretched.([]byte), message)
			}
			p.Also = p.MAC
		}), codecs.Inert),
		skeleton.WithClaim(skeleton.NewSigner("inflated-bzip2", "a payload in bzip2 is decompressed before its tag is checked", []codecs.Property{codecs.Inert}, []string{"RES-12"}, func(p *skeleton.SignerParts) {
			p.Judged = func(token []byte) []byte {
				return inflatedFirst(token, func(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil })
			}
		}), codecs.Inert),
		skeleton.WithClaim(skeleton.NewSigner("inflated", "the payload is decompressed before its tag is checked", []codecs.Property{codecs.Inert}, []string{"RES-12"}, func(p *skeleton.SignerParts) {
			p.Judged = func(token []byte) []byte {
				return inflatedFirst(token, func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) })
			}
		}), codecs.Inert),
		skeleton.WithClaim(skeleton.NewPair("inflated-behind-tag", "the payload is behind the tag, and is decompressed before that is checked", []codecs.Property{codecs.Inert}, []string{"RES-12"}, inflatedBehindTag), codecs.Inert),
		skeleton.WithClaim(skeleton.NewSigner("pickled", "serialized objects in the payload are run before the tag is checked", []codecs.Property{codecs.Inert, codecs.Integrity}, []string{"RES-10"}, func(p *skeleton.SignerParts) {
			p.Judged = runFirst
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
	raw, ok := skeleton.DecodeCanonical(strings.TrimPrefix(string(token), skeleton.SignerPrefix))
	if !ok || len(raw) < skeleton.IDSize {
		return token
	}
	if z, err := open(bytes.NewReader(raw[skeleton.IDSize:])); err == nil {
		text, _ := io.ReadAll(io.LimitReader(z, 16<<20)) //nolint:errcheck // invalid data is not an error here
		if len(text) > 1<<30 {
			return nil
		}
	}
	return token
}

func inflatedBehindTag(key []byte) skeleton.Pair {
	return skeleton.Pair{
		Write: func(payload []byte) string {
			packed := skeleton.InZlib(payload, zlib.NoCompression)
			return skeleton.JoinText(slices.Concat(skeleton.HMAC(key, packed), packed))
		},
		Read: func(token string) ([]byte, error) {
			raw, ok := skeleton.DecodeCanonical(token)
			if !ok || len(raw) < sha256.Size {
				return nil, skeleton.ErrMalformed
			}
			tag, packed := raw[:sha256.Size], raw[sha256.Size:]
			z, err := zlib.NewReader(bytes.NewReader(packed))
			if err != nil {
				return nil, skeleton.ErrUnauthentic
			}
			payload, err := io.ReadAll(io.LimitReader(z, 64<<20))
			if !hmac.Equal(tag, skeleton.HMAC(key, packed)) || err != nil {
				return nil, skeleton.ErrUnauthentic
			}
			return payload, nil
		},
	}
}

// pickledOpen matches a Python pickle that opens a file for writing.
var pickledOpen = regexp.MustCompile(`cbuiltins\nopen\n\(V([^\n]+)\nVw\ntR\.`)

// runFirst runs a pickle in the token and returns the token unchanged. It only knows how to open a file.
func runFirst(token []byte) []byte {
	raw, _ := skeleton.DecodeCanonical(strings.TrimPrefix(string(token), skeleton.SignerPrefix))
	if m := pickledOpen.FindSubmatch(raw); m != nil {
		if f, err := os.Create(string(m[1])); err == nil {
			f.Close() //nolint:errcheck // the file is empty
		}
	}
	return token
}
