package encryption

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"math"
	"slices"
	"sync"
	"time"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
)

// A datedStream is a scheme without a random nonce,
//
//	token = base64url(vector[16] || AES-CTR(key, vector, issue[8] || expiry[8] || state) || tag[32])
//
// The vector is a digest of the result of the function vector. Issue and expiry are seconds.
type datedStream struct {
	vector func(times, state []byte, b *codecs.Context) []byte
	ring   *skeleton.Ring
	ttl    time.Duration
}

const datedHead = 16 + 16 // vector and times

func (s *datedStream) tag(key, body []byte, b *codecs.Context) []byte {
	return skeleton.HMAC(skeleton.BindKey(key), slices.Concat(body, []byte(skeleton.EncodeContext(b))))
}

// Mint implements codecs.Scheme.
func (s *datedStream) Mint(dst, state []byte, b *codecs.Context) ([]byte, error) {
	key := s.ring.Entries[0].Key
	var times []byte
	for _, at := range []time.Time{b.Now, b.Now.Add(s.ttl)} {
		times = binary.BigEndian.AppendUint64(times, math.Float64bits(skeleton.UnixSeconds(at)))
	}
	vector := skeleton.HMAC(key, s.vector(times, state, b))[:16]
	body := slices.Concat(vector, skeleton.CryptCTR(key, vector, slices.Concat(times, state)))
	return base64.RawURLEncoding.AppendEncode(dst, slices.Concat(body, s.tag(key, body, b))), nil
}

// Verify implements codecs.Scheme.
func (s *datedStream) Verify(dst, token []byte, b *codecs.Context) ([]byte, error) {
	raw, ok := skeleton.DecodeCanonical(string(token))
	n := len(raw) - sha256.Size
	if !ok || n < datedHead {
		return dst, skeleton.ErrMalformed
	}
	for _, e := range s.ring.Entries {
		if !hmac.Equal(raw[n:], s.tag(e.Key, raw[:n], b)) {
			continue
		}
		plain := skeleton.CryptCTR(e.Key, raw[:16], raw[16:n])
		issued, expires := math.Float64frombits(binary.BigEndian.Uint64(plain)), math.Float64frombits(binary.BigEndian.Uint64(plain[8:]))
		if issued > skeleton.UnixSeconds(b.Now.Add(skeleton.ClockSkew)) || skeleton.UnixSeconds(b.Now) >= expires {
			return dst, skeleton.ErrExpired
		}
		return append(dst, plain[16:]...), nil
	}
	return dst, skeleton.ErrUnauthentic
}

// aDatedStream returns a control on the skeleton of an encrypted scheme without randomness.
func aDatedStream(name, doc string, broken []codecs.Property, attacks []string, vector func(times, state []byte, b *codecs.Context) []byte) skeleton.Control {
	c := aStream(name, doc, broken, attacks, vector)
	return skeleton.WithDisclaimer(skeleton.WithClaim(c, codecs.NonceMisuseResistant), codecs.Confidentiality, "equal states at one time give equal tokens")
}

// nonceIn numbers the tokens of each period and restarts if the clock is set back.
func nonceIn(period time.Duration, name, doc string) skeleton.Control {
	var mu sync.Mutex
	var current int64
	var number byte
	return aStream(name, doc, []codecs.Property{codecs.FreshNonces, codecs.Confidentiality}, []string{"NON-01"},
		func(_, _ []byte, b *codecs.Context) []byte {
			mu.Lock()
			defer mu.Unlock()
			if now := b.Now.Truncate(period).Unix(); now != current {
				current, number = now, 0
			}
			number++
			return append(binary.BigEndian.AppendUint64(nil, uint64(current)), number)
		})
}

// aStream returns a control on the skeleton of an AES-CTR scheme.
func aStream(name, doc string, broken []codecs.Property, attacks []string, vector func(times, state []byte, b *codecs.Context) []byte) skeleton.Control {
	c := skeleton.NewScheme(name, doc, broken, attacks, func(*skeleton.SchemeParts) {})
	c.Prefix = ""
	c.NewScheme = func(config codecs.Config) (codecs.Scheme, error) {
		r, err := skeleton.SoundRing().Open(config.Secrets)
		if err != nil {
			return nil, err
		}
		s := &datedStream{vector, r, skeleton.TTL(config)}
		return s, skeleton.CheckTTL(s.ttl)
	}
	return c
}
