package broken

import (
	"encoding/binary"
	"sync/atomic"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
)

// countedNonceControls returns controls that count nonces anew, or draw them from a linear generator.
func countedNonceControls() []skeleton.Control {
	return []skeleton.Control{
		skeleton.NewSealer("nonce-by-ring", "each handle of several keys counts its nonces from zero", []codecs.Property{codecs.FreshNonces, codecs.Confidentiality}, []string{"NON-08"}, func(p *skeleton.SealerParts) {
			var several atomic.Bool
			first := p.First
			p.First = func(r *skeleton.Ring) *skeleton.Entry { several.Store(len(r.Entries) > 1); return first(r) }
			p.Nonce = func(n uint64, key, _ []byte) []byte {
				if !several.Load() {
					return skeleton.RandomBytes(skeleton.GCMNonce)
				}
				return skeleton.HMAC(key, binary.BigEndian.AppendUint64(nil, n))[:skeleton.GCMNonce]
			}
		}),
		skeleton.NewSealer("nonce-by-handle", "each handle counts its nonces from zero", []codecs.Property{codecs.FreshNonces, codecs.Confidentiality}, []string{"NON-08"}, func(p *skeleton.SealerParts) {
			p.Nonce = func(n uint64, key, _ []byte) []byte {
				return skeleton.HMAC(key, binary.BigEndian.AppendUint64(nil, n))[:skeleton.GCMNonce]
			}
		}),
		skeleton.NewSealer("nonce-by-opening", "all handles have one count of nonces, which opening one sets to zero", []codecs.Property{codecs.FreshNonces, codecs.Confidentiality}, []string{"NON-08"}, func(p *skeleton.SealerParts) {
			var count atomic.Uint64
			check := p.Check
			p.Check = func(secrets [][]byte) error { count.Store(0); return check(secrets) }
			p.Nonce = func(_ uint64, key, _ []byte) []byte {
				return skeleton.HMAC(key, binary.BigEndian.AppendUint64(nil, count.Add(1)))[:skeleton.GCMNonce]
			}
		}),
		skeleton.WithDisclaimer(skeleton.NewSigner("weak-salt", "a salt of a linear generator stands in each token", []codecs.Property{codecs.FreshNonces}, []string{"NON-09"}, func(p *skeleton.SignerParts) {
			var count atomic.Uint64
			p.Carried = func(payload []byte) []byte {
				salt := binary.LittleEndian.AppendUint64(nil, count.Add(1)*0x9e3779b97f4a7c15)
				return append(salt, payload...)
			}
			p.Unpacked = func(carried []byte) []byte { return carried[8:] }
		}), codecs.FreshNonces, "there is no nonce"),
	}
}
