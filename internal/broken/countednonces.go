package broken

import (
	"encoding/binary"
	"sync/atomic"

	"sealab/codecs"
)

// countedNonceControls returns controls that count nonces anew, or draw them from a linear generator.
func countedNonceControls() []Control {
	return []Control{
		aSealer("nonce-by-ring", "each handle of several keys counts its nonces from zero", []codecs.Property{codecs.FreshNonces, codecs.Confidentiality}, []string{"NON-08"}, func(p *sealerParts) {
			var several atomic.Bool
			first := p.first
			p.first = func(r *ring) *entry { several.Store(len(r.entries) > 1); return first(r) }
			p.nonce = func(n uint64, key, _ []byte) []byte {
				if !several.Load() {
					return randomBytes(gcmNonce)
				}
				return hmacSHA256(key, binary.BigEndian.AppendUint64(nil, n))[:gcmNonce]
			}
		}),
		aSealer("nonce-by-handle", "each handle counts its nonces from zero", []codecs.Property{codecs.FreshNonces, codecs.Confidentiality}, []string{"NON-08"}, func(p *sealerParts) {
			p.nonce = func(n uint64, key, _ []byte) []byte {
				return hmacSHA256(key, binary.BigEndian.AppendUint64(nil, n))[:gcmNonce]
			}
		}),
		aSealer("nonce-by-opening", "all handles have one count of nonces, which opening one sets to zero", []codecs.Property{codecs.FreshNonces, codecs.Confidentiality}, []string{"NON-08"}, func(p *sealerParts) {
			var count atomic.Uint64
			check := p.check
			p.check = func(secrets [][]byte) error { count.Store(0); return check(secrets) }
			p.nonce = func(_ uint64, key, _ []byte) []byte {
				return hmacSHA256(key, binary.BigEndian.AppendUint64(nil, count.Add(1)))[:gcmNonce]
			}
		}),
		withDisclaimer(aSigner("weak-salt", "a salt of a linear generator stands in each token", []codecs.Property{codecs.FreshNonces}, []string{"NON-09"}, func(p *signerParts) {
			var count atomic.Uint64
			p.carried = func(payload []byte) []byte {
				salt := binary.LittleEndian.AppendUint64(nil, count.Add(1)*0x9e3779b97f4a7c15)
				return append(salt, payload...)
			}
			p.unpacked = func(carried []byte) []byte { return carried[8:] }
		}), codecs.FreshNonces, "there is no nonce"),
	}
}
