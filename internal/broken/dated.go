package broken

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"hash/crc64"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"time"

	"sealab/codecs"
)

// dated are the mistakes of schemes with time.
func dated() []Control {
	timed := func(name, doc, attack string, mistake func(*schemeParts)) Control {
		return aScheme(name, doc, breaks(codecs.Expiry), by(attack), mistake)
	}
	check := func(name, doc, attack string, timely func(c *claims, now time.Time) bool) Control {
		return timed(name, doc, attack, func(p *schemeParts) { p.timely = timely })
	}
	return []Control{
		check("never-expires", "the expiry is written and not read", "EXP-01", func(c *claims, now time.Time) bool {
			return c.Issued != nil && *c.Issued <= seconds(now.Add(skew))
		}),
		check("far-ahead", "a time of issue more than a month ahead is taken for none", "EXP-03", func(c *claims, now time.Time) bool {
			return c.Issued != nil && c.Expires != nil && (*c.Issued <= seconds(now.Add(skew)) || *c.Issued > seconds(now.AddDate(0, 1, 0))) && seconds(now) < *c.Expires
		}),
		timed("two-days-ahead", "times are counted from 2020, and a time of issue may be two days ahead", "EXP-03", func(p *schemeParts) {
			const epoch = 1577836800
			p.issue = func(now time.Time, ttl time.Duration) (iat, exp float64) {
				return seconds(now) - epoch, seconds(now.Add(ttl)) - epoch
			}
			p.timely = func(c *claims, now time.Time) bool {
				return c.Issued != nil && c.Expires != nil && *c.Issued <= seconds(now.AddDate(0, 0, 2))-epoch && seconds(now)-epoch < *c.Expires
			}
		}),
		timed("milliseconds", "the expiry is written in milliseconds and read as seconds", "EXP-01", func(p *schemeParts) {
			p.issue = func(now time.Time, ttl time.Duration) (iat, exp float64) {
				return seconds(now), float64(now.Add(ttl).UnixMilli())
			}
		}),
		check("a-minute-late", "a minute of grace is given that nobody stated", "EXP-01", func(c *claims, now time.Time) bool {
			return c.Issued != nil && c.Expires != nil && *c.Issued <= seconds(now.Add(skew)) && seconds(now.Add(-time.Minute)) < *c.Expires
		}),
		check("inclusive", "a token is taken at its expiry", "EXP-08", func(c *claims, now time.Time) bool {
			return c.Issued != nil && c.Expires != nil && *c.Issued <= seconds(now.Add(skew)) && seconds(now) <= *c.Expires
		}),
		check("early-if-empty", "the time of issue is not read if the state is empty", "EXP-07", func(c *claims, now time.Time) bool {
			return c.Issued != nil && c.Expires != nil && (*c.Issued <= seconds(now.Add(skew)) || len(c.State) == 0) && seconds(now) < *c.Expires
		}),
		check("no-date", "a time behind the last Date of ECMAScript is no number, and later than none", "EXP-07", func(c *claims, now time.Time) bool {
			date := func(s float64) float64 {
				if math.Abs(s) > 8.64e12 {
					return math.NaN()
				}
				return s
			}
			return c.Issued != nil && c.Expires != nil && !(*c.Issued > date(seconds(now.Add(skew)))) && !(date(seconds(now)) >= *c.Expires)
		}),
		check("from-the-future", "the time of issue is not read", "EXP-03", func(c *claims, now time.Time) bool {
			return c.Expires != nil && seconds(now) < *c.Expires
		}),
		around(timed("grace-if-anonymous", "without a principal a token has five minutes more", "EXP-07", func(*schemeParts) {}), func(inner codecs.Scheme) codecs.Scheme { return graceful{inner} }),
		timed("life-of-32-bits", "a time to live is milliseconds in 32 bits, and a negative one is no limit", "EXP-01", func(p *schemeParts) {
			p.issue = func(now time.Time, ttl time.Duration) (iat, exp float64) {
				life := time.Duration(int32(ttl.Milliseconds())) * time.Millisecond
				if life < 0 {
					return seconds(now), math.MaxInt32 * 1e6
				}
				return seconds(now), seconds(now.Add(life))
			}
		}),
		timed("without-year", "times are counted from the beginning of the year", "EXP-07", func(p *schemeParts) {
			ofYear := func(now time.Time) float64 {
				return seconds(now) - seconds(time.Date(now.UTC().Year(), 1, 1, 0, 0, 0, 0, time.UTC))
			}
			p.issue = func(now time.Time, ttl time.Duration) (iat, exp float64) {
				return ofYear(now), ofYear(now) + ttl.Seconds()
			}
			p.timely = func(c *claims, now time.Time) bool {
				return c.Issued != nil && c.Expires != nil && *c.Issued <= ofYear(now.Add(skew)) && ofYear(now) < *c.Expires
			}
		}),
		timed("zero-is-ever", "a time to live of zero is no limit", "EXP-06", func(p *schemeParts) {
			p.lifetime = func(time.Duration) error { return nil }
			dated, timely := p.issue, p.timely
			p.issue = func(now time.Time, ttl time.Duration) (iat, exp float64) {
				if ttl == 0 {
					return 0, 0
				}
				return dated(now, ttl)
			}
			p.timely = func(c *claims, now time.Time) bool { return c.Expires == nil || timely(c, now) }
		}),
		aScheme("expired-first", "the time is checked before the tag", breaks(codecs.UniformRefusal), by("ORA-02"), func(p *schemeParts) {
			p.order = func(checks []func() error) []func() error { return []func() error{checks[1], checks[0], checks[2]} }
		}),
		stating(aScheme("stateless", "said to be for a single use, and nothing is stored", breaks(codecs.SingleUse), by("EXP-05"), func(*schemeParts) {}), codecs.SingleUse),
		aScheme("absent-claims", "claims are read without asking whether they are there", breaks(codecs.Total), by("EXP-02", "PAY-01"), func(p *schemeParts) {
			p.timely = func(c *claims, now time.Time) bool {
				return *c.Issued <= seconds(now.Add(skew)) && seconds(now) < *c.Expires
			}
			p.derive = rawKey
		}),
		aScheme("optional-expiry", "the expiry is checked where it is present", breaks(codecs.Expiry), by("EXP-04", "EXP-02"), func(p *schemeParts) {
			timely := p.timely
			p.timely = func(c *claims, now time.Time) bool { return c.Expires == nil || timely(c, now) }
			p.derive = rawKey
		}),
	}
}

// A graceful scheme judges tokens without a principal five minutes late.
type graceful struct{ codecs.Scheme }

// Verify implements codecs.Scheme.
func (s graceful) Verify(dst, token []byte, b *codecs.Context) ([]byte, error) {
	out, err := s.Scheme.Verify(dst, token, b)
	if err == nil || b.Principal != nil {
		return out, err
	}
	late := *b
	late.Now = b.Now.Add(-5 * time.Minute)
	return s.Scheme.Verify(dst, token, &late)
}

// rawKey uses the secret as the key, as it stands.
func rawKey(secret []byte) (key, id []byte) {
	_, id = deriveKey(secret)
	return secret, id
}

// checksums are encrypted codecs with a checksum in the place of a tag.
func checksums() []Control {
	crc := func(payload []byte) []byte { return binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(payload)) }
	digest := func(payload []byte) []byte { d := sha256.Sum256(payload); return d[:] }
	return []Control{
		aSealer("crc-inside", "AES-CTR over the payload and its CRC-32", breaks(codecs.Integrity), by("TAG-13"), summed(crc)),
		aSigner("keyed-fnv", "the tag is FNV-1a over the key and the message", breaks(codecs.Integrity), by("TAG-13", "TAG-12"), running(4, func(message []byte) []byte {
			h := fnv.New32a()
			h.Write(message)
			return h.Sum(nil)
		})),
		aSigner("keyed-crc", "the tag is CRC-64 over the key and the message", breaks(codecs.Integrity), by("TAG-13"), running(8, func(message []byte) []byte {
			return binary.LittleEndian.AppendUint64(nil, crc64.Checksum(message, crc64.MakeTable(crc64.ISO)))
		})),
		aSealer("digest-behind", "AES-CTR over the payload and its SHA-256", breaks(codecs.Integrity), by("TAG-13"), summed(digest)),
	}
}

// running makes the tag a hash over the key and the message.
func running(size int, hash func([]byte) []byte) func(*signerParts) {
	return func(p *signerParts) {
		p.tagSize = size
		p.mac = func(key, message []byte) []byte { return hash(slices.Concat(key, message)) }
		p.also = p.mac
	}
}

// summed makes the skeleton use AES-CTR over the payload and a sum of it.
func summed(sum func(payload []byte) []byte) func(*sealerParts) {
	return func(p *sealerParts) {
		p.nonceSize = 16
		p.nonce = func(uint64, []byte, []byte) []byte { return drawn(16) }
		p.seal = func(key, iv, text, _ []byte) []byte { return ctr(key, iv, slices.Concat(text, sum(text))) }
		p.open = func(key, iv, sealed, _ []byte) ([]byte, error) {
			text := ctr(key, iv, sealed)
			n := len(text) - len(sum(nil))
			if n < 0 || !bytes.Equal(sum(text[:n]), text[n:]) {
				return nil, errUnauthentic
			}
			return text[:n], nil
		}
	}
}

// long are mistakes that show in long tokens.
func long() []Control {
	return []Control{
		aPair("uncounted-chunks", "long payloads are cut into chunks with a number, and how many there are is nowhere", breaks(codecs.Integrity), by("FRM-10"), uncountedChunks),
		aPair("chunks-by-digit", "payloads are cut into chunks, of whose number the last digit is under the tag", breaks(codecs.Integrity), by("FRM-10"), chunksByDigit),
		aSealer("uncounted-pieces", "the payload is sealed in pieces with a number, and which is the last is nowhere", breaks(codecs.Integrity), by("FRM-10"), func(p *sealerParts) { inPieces(p, false) }),
		headOnly("head-only", "of a long payload the first KiB is authenticated", 1<<10),
		from(1<<18, headOnly("head-of-64k", "of a payload as much is authenticated as two bytes count", 1<<16)),
	}
}

// inPieces seals chunks one by one, with the number of the chunk in the nonce, and whether it
// is the last (STREAM, Hoang, Reyhanitabar, Rogaway, Vizár 2015).
func inPieces(p *sealerParts, last bool) {
	p.nonceSize = 7
	p.nonce = func(uint64, []byte, []byte) []byte { return drawn(7) }
	nonceOf := func(prefix []byte, n int, end bool) []byte {
		nonce := binary.BigEndian.AppendUint32(bytes.Clone(prefix), uint32(n))
		if end && last {
			return append(nonce, 1)
		}
		return append(nonce, 0)
	}
	p.seal = func(key, prefix, text, data []byte) []byte {
		var out []byte
		for n := 0; ; n++ {
			part := text[:min(len(text), chunk)]
			text = text[len(part):]
			out = gcm(key).Seal(out, nonceOf(prefix, n, len(text) == 0), part, data)
			if len(text) == 0 {
				return out
			}
		}
	}
	p.open = func(key, prefix, sealed, data []byte) ([]byte, error) {
		text, n := []byte{}, 0
		for part := range slices.Chunk(sealed, chunk+gcmTag) {
			plain, err := gcm(key).Open(text, nonceOf(prefix, n, (n+1)*(chunk+gcmTag) >= len(sealed)), part, data)
			if err != nil || n > 0 && len(part) == gcmTag {
				return nil, errUnauthentic
			}
			text, n = plain, n+1
		}
		return text, refusedUnless(n > 0)
	}
}

// headOnly is a control that authenticates the first n bytes of a message.
func headOnly(name, doc string, n int) Control {
	return aSigner(name, doc, breaks(codecs.Integrity), by("FRM-11"), func(p *signerParts) {
		mac := p.mac
		p.mac = func(key, message []byte) []byte { return mac(key, message[:min(len(message), n)]) }
		p.also = p.mac
	})
}

// chunk is the length of a chunk in bytes.
const chunk = 1 << 10

// uncountedChunks numbers chunks.
func uncountedChunks(key []byte) pair {
	return chunked(key, chunk, func(index, _ int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(index)) })
}

// chunksByDigit numbers chunks in one digit, and counts them.
func chunksByDigit(key []byte) pair {
	return chunked(key, chunk/4, func(index, of int) []byte { return fmt.Append(nil, index%10, " ", of) })
}

// chunked writes
//
//	token = base64url(id[16]) *( "." base64url(chunk || tag[32]) )
//	tag = HMAC-SHA256(key, id || label of the chunk || chunk)
//
// with chunks of a size, of which the last may be shorter. A label is made of the index of a
// chunk, from 1, and their number.
func chunked(key []byte, size int, label func(index, of int) []byte) pair {
	tag := func(id []byte, index, of int, part []byte) []byte {
		return hmacSHA256(key, slices.Concat(id, label(index, of), part))
	}
	return pair{
		seal: func(payload []byte) string {
			id := drawn(16)
			token := []string{base64.RawURLEncoding.EncodeToString(id)}
			ended := append(slices.Clip(payload), 0)
			of := (len(ended) + size - 1) / size
			for part := range slices.Chunk(ended, size) {
				sealed := slices.Concat(part, tag(id, len(token), of, part))
				token = append(token, base64.RawURLEncoding.EncodeToString(sealed))
			}
			return strings.Join(token, ".")
		},
		unseal: func(token string) ([]byte, error) {
			texts := strings.Split(token, ".")
			id, ok := canonical(texts[0])
			if !ok || len(id) != 16 || len(texts) < 2 {
				return nil, errMalformed
			}
			var payload []byte
			for index, text := range texts[1:] {
				raw, ok := canonical(text)
				if !ok || len(raw) <= 32 {
					return nil, errMalformed
				}
				part := raw[:len(raw)-32]
				if !hmac.Equal(raw[len(part):], tag(id, index+1, len(texts)-1, part)) {
					return nil, errUnauthentic
				}
				payload = append(payload, part...)
			}
			return payload[:len(payload)-1], nil
		},
	}
}
