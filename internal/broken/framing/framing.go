// Package framing holds the negative controls of framing: codecs that split a token wrongly, or do not
// authenticate all of it.
package framing

import (
	"bytes"
	"slices"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
)

// Borders returns controls that split a token wrongly.
func Borders() []skeleton.Control {
	return []skeleton.Control{
		skeleton.NewSigner("key-id-outside", "the key id is outside the tag, and a key that is not found is the first", []codecs.Property{codecs.Integrity}, []string{"FRM-07"},
			func(p *skeleton.SignerParts) {
				p.Message = func(_, payload []byte) []byte { return payload }
				p.OrElse(func(r *skeleton.Ring, _ []byte) *skeleton.Entry { return r.Entries[0] })
			}),
		skeleton.NewSigner("first-kilobyte", "the tag covers the first 64 bytes only", []codecs.Property{codecs.Integrity}, []string{"FRM-07"},
			func(p *skeleton.SignerParts) {
				p.Message = func(id, payload []byte) []byte { return slices.Concat(id, payload[:min(64, len(payload))]) }
			}),
		skeleton.NewSigner("version", "every version is read as the first", []codecs.Property{codecs.Integrity}, []string{"FRM-05"},
			func(p *skeleton.SignerParts) {
				p.Judged = func(token []byte) []byte {
					if _, text, ok := bytes.Cut(token, []byte(".")); ok && len(token)-len(text) == len(skeleton.SignerPrefix) {
						return append([]byte(skeleton.SignerPrefix), text...)
					}
					return token
				}
			}),
	}
}
