package resources

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"io"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
)

// Neighbors returns sound designs that resemble the controls of work and memory, by name.
func Neighbors() map[string]codecs.Design {
	return map[string]codecs.Design{
		"a key for each salt": skeleton.WithClaim(skeleton.NewSigner("nothing", "a key is derived from the head of the payload by one HMAC", nil, nil, func(p *skeleton.SignerParts) {
			mac := p.MAC
			p.MAC = func(key, message []byte) []byte { return mac(mac(key, message[:min(16, len(message))]), message) }
			p.Also = p.MAC
		}), codecs.Inert).Design,
		"compressed under a tag": compressedUnderATag("zlib",
			func(payload []byte) []byte { return skeleton.InZlib(payload, zlib.DefaultCompression) }, zlib.NewReader),
		"deflated under a tag": compressedUnderATag("deflate",
			func(payload []byte) []byte { // without the header and checksum of zlib
				packed := skeleton.InZlib(payload, zlib.DefaultCompression)
				return packed[2 : len(packed)-4]
			},
			func(r io.Reader) (io.ReadCloser, error) { return flate.NewReader(r), nil }),
	}
}

// compressedUnderATag returns a sound design that compresses payloads and decompresses them after it has
// checked the tag.
func compressedUnderATag(format string, pack func(payload []byte) []byte, open func(io.Reader) (io.ReadCloser, error)) codecs.Design {
	return skeleton.WithDisclaimer(skeleton.NewSigner("nothing", "the payload is compressed in "+format+", and decompressed behind the tag", nil, nil, func(p *skeleton.SignerParts) {
		p.Carried = pack
		p.Unpacked = func(carried []byte) []byte {
			r, err := open(bytes.NewReader(carried))
			if err != nil {
				panic("broken: " + err.Error()) // it is authenticated
			}
			payload, err := io.ReadAll(r)
			if err != nil {
				panic("broken: " + err.Error())
			}
			return payload
		}
	}), codecs.Total, "a long state may have a short token").Design
}
