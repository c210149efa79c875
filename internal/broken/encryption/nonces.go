package encryption

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"sync"
	"sync/atomic"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
)

// CountedNonces returns controls that count nonces anew, or draw them from a linear generator.
func CountedNonces() []skeleton.Control {
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
		skeleton.NewSealer("nonce-after-refusal", "nonces are drawn from a generator, which a refused token starts anew", []codecs.Property{codecs.FreshNonces, codecs.Confidentiality}, []string{"NON-08"},
			drawnNonces(func(_, refused []byte) []byte { return refused })),
		nonceGivenBack(),
		skeleton.NewSealer("nonce-of-empty", "the next nonce is drawn after a token of a payload that is not empty", []codecs.Property{codecs.FreshNonces, codecs.Confidentiality}, []string{"NON-08"}, func(p *skeleton.SealerParts) {
			var mu sync.Mutex
			next := skeleton.RandomBytes(skeleton.GCMNonce)
			p.Nonce = func(_ uint64, _, payload []byte) []byte {
				mu.Lock()
				defer mu.Unlock()
				nonce := next
				if len(payload) > 0 {
					next = skeleton.RandomBytes(skeleton.GCMNonce)
				}
				return nonce
			}
		}),
		skeleton.WithDisclaimer(skeleton.NewSealer("gmac-by-handle", "payloads are authenticated by GMAC, and each handle counts its nonces from zero", []codecs.Property{codecs.FreshNonces}, []string{"NON-08"}, func(p *skeleton.SealerParts) {
			withGMAC(p)
			p.Nonce = func(n uint64, key, _ []byte) []byte {
				return skeleton.HMAC(key, binary.BigEndian.AppendUint64(nil, n))[:skeleton.GCMNonce]
			}
		}), codecs.Confidentiality, "the payload is readable"),
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

// withGMAC leaves the payload readable and authenticates it with a nonce.
func withGMAC(p *skeleton.SealerParts) {
	p.Encrypt = func(key, nonce, plaintext, data []byte) []byte {
		return append(skeleton.NewGCM(key).Seal(nil, nonce, nil, append(data, plaintext...)), plaintext...)
	}
	p.Decrypt = func(key, nonce, sealed, data []byte) ([]byte, error) {
		if len(sealed) < skeleton.GCMTag {
			return nil, skeleton.ErrMalformed
		}
		tag, payload := sealed[:skeleton.GCMTag], sealed[skeleton.GCMTag:]
		if _, err := skeleton.OpenGCM(key, nonce, tag, append(data, payload...)); err != nil {
			return nil, err
		}
		return payload, nil
	}
}

// drawnNonces draws nonces from a generator, whose seed a refused token changes.
func drawnNonces(reseed func(seed, refused []byte) []byte) func(*skeleton.SealerParts) {
	return func(p *skeleton.SealerParts) {
		var mu sync.Mutex
		var drawn uint64
		seed, decrypt := skeleton.RandomBytes(32), p.Decrypt
		p.Decrypt = func(key, nonce, sealed, data []byte) ([]byte, error) {
			out, err := decrypt(key, nonce, sealed, data)
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				seed, drawn = reseed(seed, sealed), 0
			}
			return out, err
		}
		p.Nonce = func(uint64, []byte, []byte) []byte {
			mu.Lock()
			defer mu.Unlock()
			drawn++
			return skeleton.HMAC(seed, binary.BigEndian.AppendUint64(nil, drawn))[:skeleton.GCMNonce]
		}
	}
}

// DerivedNonces returns controls whose nonce is a digest of part of the payload, or of a checksum
// that is too short.
func DerivedNonces() []skeleton.Control {
	of := func(name, doc string, broken []codecs.Property, attacks []string, part func(payload []byte) string) skeleton.Control {
		c := skeleton.NewSealer(name, doc, broken, attacks, func(p *skeleton.SealerParts) {
			p.Nonce = func(_ uint64, key, payload []byte) []byte {
				return skeleton.HMAC(key, fmt.Append(nil, len(payload), " ", part(payload)))[:skeleton.GCMNonce]
			}
		})
		if !slices.Contains(broken, codecs.FreshNonces) {
			c = skeleton.WithDisclaimer(c, codecs.FreshNonces, "there is no other nonce")
		}
		return skeleton.WithClaim(skeleton.WithDisclaimer(c, codecs.Confidentiality, "equal payloads give equal tokens"), codecs.NonceMisuseResistant)
	}
	return []skeleton.Control{
		of("nonce-of-end", "the nonce is a digest of the last 64 bytes and the length of the payload",
			[]codecs.Property{codecs.NonceMisuseResistant, codecs.FreshNonces, codecs.Integrity}, []string{"NON-07", "TAG-14"},
			func(payload []byte) string { return string(payload[max(0, len(payload)-64):]) }),
		of("nonce-of-beginning", "the nonce is a digest of the first 8 KiB and the length of the payload", []codecs.Property{codecs.NonceMisuseResistant}, []string{"NON-07"},
			func(payload []byte) string { return string(payload[:min(len(payload), 8<<10)]) }),
		of("nonce-of-ends", "the nonce is a digest of both ends and the length of the payload", []codecs.Property{codecs.NonceMisuseResistant}, []string{"NON-07"},
			func(payload []byte) string {
				n := min(len(payload), 48)
				return string(payload[:n]) + string(payload[len(payload)-n:])
			}),
		of("nonce-of-sum", "the nonce is a digest of the length and of a sum of 16 bits of the payload", []codecs.Property{codecs.NonceMisuseResistant}, []string{"NON-07"},
			func(payload []byte) string { return fmt.Sprint(crc32.ChecksumIEEE(payload) & 0xffff) }),
	}
}

// nonceGivenBack returns a control that counts its nonces. A payload that is too long gives a number back that
// it has not taken.
func nonceGivenBack() skeleton.Control {
	var count atomic.Int64
	c := skeleton.NewSealer("nonce-given-back", "a payload that is too long takes one from the count of nonces", []codecs.Property{codecs.FreshNonces, codecs.Confidentiality}, []string{"NON-08"}, func(p *skeleton.SealerParts) {
		p.Nonce = func(_ uint64, key, _ []byte) []byte {
			return skeleton.HMAC(key, binary.BigEndian.AppendUint64(nil, uint64(count.Add(1))))[:skeleton.GCMNonce]
		}
	})
	c.NewCodec = skeleton.WrapOpen(c.NewCodec, func(inner codecs.Codec) codecs.Codec { return countingBack{inner, &count} })
	return c
}

// A countingBack codec lowers the count with each payload that is too long.
type countingBack struct {
	codecs.Codec
	count *atomic.Int64
}

// Seal implements codecs.Codec.
func (c countingBack) Seal(dst, payload []byte) ([]byte, error) {
	if len(payload) > 1<<16 {
		c.count.Add(-1)
		return dst, codecs.ErrUnsupported
	}
	return c.Codec.Seal(dst, payload)
}
