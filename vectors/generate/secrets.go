package generate

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"sealab/codecs"
	"sealab/internal/lab"
	"sealab/vectors"
	"sealab/vectors/cases"
)

// blockSize is the block length of SHA-256 in bytes. HMAC hashes a longer key.
const blockSize = 64

// secrets returns the secrets of a design's vectors, by the names that the
// cases use.
func secrets(d *codecs.Design) map[string][]byte {
	n := max(d.KeySize, codecs.MinSecret)
	all := map[string][]byte{}
	for _, name := range []string{"k1", "k2", "k3"} {
		all[name] = cases.NewStream("sealab-vectors/1 key " + name).Bytes(n)
	}
	all["k1-bit"] = cases.Flip(-1, 1)(bytes.Clone(all["k1"]))
	if d.KeySize != 0 {
		return all
	}
	all["k1-zero"] = append(bytes.Clone(all["k1"]), 0)
	all["k1-hex"] = hex.AppendEncode(nil, all["k1"])
	all["long"] = cases.NewStream("sealab-vectors/1 key long").Bytes(blockSize + 16)
	sum := sha256.Sum256(all["long"])
	all["long-hash"] = sum[:]
	return all
}

// rings returns the configurations that the design accepts or refuses.
func (g *generator) rings() ([]vectors.Ring, error) {
	d, k := &g.subject.Design, g.subject.Secrets
	var rings []vectors.Ring
	for _, r := range []struct {
		name, doc string
		secrets   [][]byte
		ttl       *time.Duration
		scheme    bool // the ring tests the time to live of a scheme
	}{
		{name: "one", doc: "one key", secrets: [][]byte{k["k1"]}},
		{name: "three", doc: "three keys", secrets: [][]byte{k["k1"], k["k2"], k["k3"]}},
		{name: "none", doc: "no key"},
		{name: "empty", doc: "an empty key", secrets: [][]byte{{}}},
		{name: "short", doc: "a key of 31 bytes", secrets: [][]byte{k["k1"][:codecs.MinSecret-1]}},
		{name: "short-second", doc: "a second key of 31 bytes", secrets: [][]byte{k["k1"], k["k2"][:codecs.MinSecret-1]}},
		{name: "long", doc: "a key of 33 bytes", secrets: [][]byte{append(bytes.Clone(k["k1"]), 0)}},
		{name: "twice", doc: "one key twice", secrets: [][]byte{k["k1"], k["k1"]}},
		{name: "constant", doc: "a key of equal bytes", secrets: [][]byte{bytes.Repeat([]byte{'k'}, codecs.MinSecret)}},
		{name: "collision", doc: "two keys, which collide in the 32-bit fingerprint of the Python SDK's format",
			secrets: [][]byte{fmt.Appendf(nil, "%032d", 35028), fmt.Appendf(nil, "%032d", 44271)}},
		{name: "ttl-zero", doc: "a time to live of zero", secrets: [][]byte{k["k1"]}, ttl: new(time.Duration(0)), scheme: true},
		{name: "ttl-negative", doc: "a negative time to live", secrets: [][]byte{k["k1"]}, ttl: new(-time.Second), scheme: true},
		{name: "ttl-half", doc: "a time to live of half a second", secrets: [][]byte{k["k1"]}, ttl: new(500 * time.Millisecond), scheme: true},
	} {
		if r.scheme && !d.IsScheme() {
			continue
		}
		ring, err := g.ring(r.name, r.doc, r.secrets, r.ttl)
		if err != nil {
			return nil, err
		}
		rings = append(rings, ring)
	}
	return rings, nil
}

func (g *generator) ring(name, doc string, keys [][]byte, ttl *time.Duration) (vectors.Ring, error) {
	d, ring := &g.subject.Design, vectors.Ring{Comment: doc, Secrets: []vectors.Hex{}}
	for _, k := range keys {
		ring.Secrets = append(ring.Secrets, vectors.Hex(k))
	}
	if d.IsScheme() {
		ttl = cmp.Or(ttl, new(cases.TTL))
		ring.TTL = new(vectors.DurationSeconds(*ttl))
	}
	c := codecs.Config{Secrets: keys, TTL: ttl}
	ring.Expect = taken(d, c)
	for reading, other := range g.readings {
		if as := taken(&other.Design, c); as != ring.Expect {
			if ring.Readings == nil {
				ring.Readings = map[string]vectors.Verdict{}
			}
			ring.Readings[reading] = as
		}
	}
	return ring, ring.Identify(d.Name, name)
}

// taken returns the verdict of a design on a configuration.
func taken(d *codecs.Design, c codecs.Config) vectors.Verdict {
	if _, err := lab.Open(*d, c); err != nil {
		return vectors.Refuse
	}
	return vectors.Accept
}
