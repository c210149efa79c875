package tokens

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"math"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/crypto/blake2b"

	"sealab/fuzz/review/jsondoc"
)

// numberHashes are the hash functions that are tried on numbers, by the length of the hash in bytes.
// The most usual come first.
var numberHashes = map[int][]func() hash.Hash{
	md5.Size:       {md5.New},
	sha1.Size:      {sha1.New},
	sha256.Size224: {sha256.New224},
	sha256.Size:    {sha256.New, func() hash.Hash { return sha3.New256() }, unkeyed(blake2b.New256)},
	sha512.Size384: {sha512.New384},
	sha512.Size:    {sha512.New, unkeyed(blake2b.New512)},
}

// unkeyed returns a hash function without a key.
func unkeyed(open func(key []byte) (hash.Hash, error)) func() hash.Hash {
	return func() hash.Hash {
		h, _ := open(nil) // only keys that are too long are refused
		return h
	}
}

// Limits of the search for a number: its digits, with and without a salt, the length and the number
// of salts, the hashes of a token that are looked at, and those that are computed for each.
const (
	saltedDigits = 4
	plainDigits  = 6
	maxSalt      = 80
	maxSalts     = 10
	maxSums      = 3
	maxHashes    = 2_500_000
)

// HashedNumber returns a number of one to six digits whose hash can be read in a token, and is not in
// another token of the same call. The number may stand before or after another text of the state, or
// be hashed with that text as a key. HashedNumber returns "" if it finds none.
func HashedNumber(token, another string) string {
	texts, known := readableTexts(token), InTheOpen(another)
	var sums [][]byte
	for _, text := range texts {
		if !strings.Contains(known, text) && !strings.HasSuffix(token, text) { // the last part is a tag
			sums = append(sums, sumsIn(text)...)
		}
	}
	slices.SortStableFunc(sums, func(a, b []byte) int { return len(b) - len(a) }) // nonces are short
	for _, sum := range sums[:min(len(sums), maxSums)] {
		if number := numberOf(sum, texts); number != "" {
			return number
		}
	}
	return ""
}

// readableTexts returns the texts and numbers of the objects in a token, at every depth, and the parts of
// the rest that can be read.
func readableTexts(token string) []string {
	var all []string
	var collect func(raw json.RawMessage)
	collect = func(raw json.RawMessage) {
		var text string
		var list []json.RawMessage
		members := jsondoc.Members(raw)
		switch {
		case members != nil:
			for _, name := range jsondoc.SortedKeys(members) {
				collect(members[name])
			}
		case json.Unmarshal(raw, &list) == nil:
			for _, item := range list {
				collect(item)
			}
		case json.Unmarshal(raw, &text) == nil:
			all = append(all, segmentPattern.FindAllString(text, -1)...)
		default:
			all = append(all, string(raw))
		}
	}
	for _, v := range Views(token) {
		collect(jsondoc.Object(v.Object))
	}
	if len(all) == 0 {
		for _, form := range strings.Split(InTheOpen(token), "\n") {
			all = append(all, formValue.FindAllString(form, -1)...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// formValue matches a value of a state that is not JSON.
var formValue = regexp.MustCompile(`[\w+/-]+`)

// sumsIn returns the bytes that a text encodes if they are as long as a hash.
func sumsIn(text string) [][]byte {
	var all [][]byte
	if raw, err := hex.DecodeString(text); err == nil && numberHashes[len(raw)] != nil {
		return [][]byte{raw}
	}
	for _, code := range []*base64.Encoding{base64.RawURLEncoding, base64.RawStdEncoding} {
		if raw, err := code.DecodeString(strings.TrimRight(text, "=")); err == nil && numberHashes[len(raw)] != nil {
			all = append(all, raw)
		}
	}
	return all
}

// A saltedHash hashes a number between two texts.
type saltedHash struct {
	make          func() hash.Hash
	before, after string
}

// saltedHashes returns the ways to hash a number of a state with a text of it.
func saltedHashes(plain func() hash.Hash, texts []string) []saltedHash {
	var all []saltedHash
	for _, salt := range texts {
		if len(salt) > maxSalt || len(all) >= 9*maxSalts {
			continue
		}
		for _, between := range []string{"", ":", ".", "|"} {
			all = append(all, saltedHash{plain, salt + between, ""}, saltedHash{plain, "", between + salt})
		}
		all = append(all, saltedHash{func() hash.Hash { return hmac.New(plain, []byte(salt)) }, "", ""})
	}
	return all
}

// numberOf returns the number that a hash is of, or "". It tries the most likely ways first.
func numberOf(sum []byte, texts []string) string {
	left := maxHashes
	functions := numberHashes[len(sum)]
	var plain []saltedHash
	for _, f := range functions {
		plain = append(plain, saltedHash{make: f})
	}
	salted := saltedHashes(functions[0], slices.DeleteFunc(slices.Clone(texts), func(text string) bool {
		return slices.ContainsFunc(sumsIn(text), func(b []byte) bool { return string(b) == string(sum) })
	}))
	for _, part := range []struct {
		ways []saltedHash
		from int
		to   int
	}{{plain, 1, saltedDigits}, {salted, 1, saltedDigits}, {plain, saltedDigits + 1, plainDigits}} {
		for _, way := range part.ways {
			for digits := part.from; digits <= part.to; digits++ {
				count := int(math.Pow10(digits))
				if left -= count; left < 0 {
					return ""
				}
				if number := way.find(sum, digits, count); number != "" {
					return number
				}
			}
		}
	}
	return ""
}

// find returns the number with some digits whose hash is sum, or "".
func (w saltedHash) find(sum []byte, digits, count int) string {
	h := w.make()
	text := []byte(fmt.Sprintf("%s%0*d%s", w.before, digits, 0, w.after))
	at, got := len(w.before), make([]byte, 0, len(sum))
	for range count {
		h.Reset()
		h.Write(text)
		if got = h.Sum(got[:0]); string(got) == string(sum) {
			return string(text[at : at+digits])
		}
		for i := at + digits - 1; i >= at; i-- {
			if text[i]++; text[i] <= '9' {
				break
			}
			text[i] = '0'
		}
	}
	return ""
}
