package attacks

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"math/bits"
	"slices"
	"sync"
)

// A shortHash is a hash of 32 bits, from which code may derive a key.
type shortHash struct {
	name string
	sum  func(text []byte) uint32
}

// shortHashes are hashes of tables, checksums and digests that are cut to 32 bits.
var shortHashes = []shortHash{
	polynomial(131), polynomial(257), polynomial(65599),
	{"h * 33 ^ b", func(text []byte) uint32 {
		h := uint32(5381)
		for _, b := range text {
			h = h*33 ^ uint32(b)
		}
		return h
	}},
	{"FNV-1", func(text []byte) uint32 { h := fnv.New32(); h.Write(text); return h.Sum32() }},
	{"FNV-1a", fnv1a},
	{"CRC-32", crc32.ChecksumIEEE},
	{"CRC-32C", func(text []byte) uint32 { return crc32.Checksum(text, castagnoli) }},
	{"MurmurHash3", murmur3},
	{"the one-at-a-time hash", oneAtATime},
	{"4 bytes of MD5", func(text []byte) uint32 { h := md5.Sum(text); return binary.BigEndian.Uint32(h[:]) }},
	{"4 bytes of SHA-1", func(text []byte) uint32 { h := sha1.Sum(text); return binary.BigEndian.Uint32(h[:]) }},
	{"4 bytes of SHA-256", func(text []byte) uint32 { h := sha256.Sum256(text); return binary.BigEndian.Uint32(h[:]) }},
	{"the last 4 bytes of SHA-256", func(text []byte) uint32 { h := sha256.Sum256(text); return binary.BigEndian.Uint32(h[28:]) }},
}

// textHashes returns the most usual hashes, of the secret in hexadecimal and in base64.
func textHashes() (all []shortHash) {
	for _, h := range []shortHash{polynomial(31), polynomial(33), {"FNV-1a", fnv1a}, {"CRC-32", crc32.ChecksumIEEE}} {
		all = append(all,
			shortHash{h.name + " of the hexadecimal text", func(text []byte) uint32 { return h.sum(hex.AppendEncode(nil, text)) }},
			shortHash{h.name + " of the base64 text", func(text []byte) uint32 { return h.sum(base64.StdEncoding.AppendEncode(nil, text)) }})
	}
	return all
}

func fnv1a(text []byte) uint32 {
	h := fnv.New32a()
	h.Write(text)
	return h.Sum32()
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// polynomial returns the hash that multiplies by m and adds each byte.
func polynomial(m uint32) shortHash {
	return shortHash{fmt.Sprintf("h * %d + b", m), func(text []byte) (h uint32) {
		for _, b := range text {
			h = h*m + uint32(b)
		}
		return h
	}}
}

// murmur3 returns MurmurHash3 with seed 0 of a text of whole words.
func murmur3(text []byte) (h uint32) {
	for word := range slices.Chunk(text, 4) {
		k := bits.RotateLeft32(binary.LittleEndian.Uint32(word)*0xcc9e2d51, 15) * 0x1b873593
		h = bits.RotateLeft32(h^k, 13)*5 + 0xe6546b64
	}
	h ^= uint32(len(text))
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}

// oneAtATime returns the hash of Jenkins 1997.
func oneAtATime(text []byte) (h uint32) {
	for _, b := range text {
		h += uint32(b)
		h += h << 10
		h ^= h >> 6
	}
	h += h << 3
	h ^= h >> 11
	return h + h<<15
}

// A secretPair holds two secrets that are equal under a hash.
type secretPair struct {
	a, b []byte
	how  string
}

// numberedSecret returns secret number n: 32 letters, so that it is also the text of its bytes.
func numberedSecret(n int) []byte {
	sum := sha256.Sum256(binary.BigEndian.AppendUint32(nil, uint32(n)))
	for i := range sum {
		sum[i] = 'c' + sum[i]%20
	}
	return sum[:]
}

// searchedSecrets is the number of secrets among which two have the same hash of 32 bits with a
// probability of 99.9%.
const searchedSecrets = 1 << 18

// equalHashes returns pairs of secrets, at most one for each hash.
var equalHashes = sync.OnceValue(func() []secretPair {
	pairs := sumPairs()
	var secrets [][]byte
	seen := map[uint32]int{}
	for _, h := range slices.Concat(shortHashes, textHashes()) {
		clear(seen)
		for n := range searchedSecrets {
			if n == len(secrets) {
				secrets = append(secrets, numberedSecret(n))
			}
			sum := h.sum(secrets[n])
			if first, ok := seen[sum]; ok {
				pairs = append(pairs, secretPair{secrets[first], secrets[n], h.name})
				break
			}
			seen[sum] = n
		}
	}
	return pairs
})

// sumPairs returns pairs that differ in a few neighboring bytes. Their weighted sums are equal as
// integers, and thus also modulo any number.
func sumPairs() (pairs []secretPair) {
	change := func(how string, by ...int) {
		a := numberedSecret(0)
		for i := range by {
			a[8+i] = 'm'
		}
		b := bytes.Clone(a)
		for i, d := range by {
			b[8+i] = byte(int(b[8+i]) + d)
		}
		pairs = append(pairs, secretPair{a, b, how})
	}
	for _, m := range []int{31, 33, 37} {
		change(fmt.Sprintf("h * %d + b", m), 1, -m)
		change(fmt.Sprintf("h * %d + b, from the last byte to the first", m), -m, 1)
	}
	change("sums of bytes and of sums, as in Adler-32", 1, -2, 1)
	swapped := numberedSecret(0)
	swapped[8], swapped[21] = swapped[21], swapped[8]
	return append(pairs, secretPair{numberedSecret(0), swapped, "a sum, product or exclusive or of all bytes"})
}

// shortHashesOfKeys presents tokens to secrets that are equal under a short hash.
func (t trial) shortHashesOfKeys() {
	for _, pair := range equalHashes() {
		t.same(pair.a, pair.b, "they are equal under "+pair.how)
	}
}
