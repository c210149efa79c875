package formats

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"sealab/codecs"
)

// A kind is a kind of foreign encodings: alterations of a token that some decoders accept.
type kind struct {
	name string
	make func(token []byte) [][]byte
}

// separators are the characters between the segments of known formats.
const separators = ".*:~"

const base64Letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// kinds are the columns of the comparison.
var kinds = []kind{
	{"last", lastCharacters},
	{"alphabet", otherAlphabet},
	{"padding", appended("=", "==", "===")},
	{"white space", inserted("\n", "\r\n", "\r", " ", "\t", "\f", "\x00")},
	{"tail", tails},
	{"junk", inserted("!", "%", "~~~~", "\x7f", "\u00e9", "\u200b")},
}

// ends returns the index after each segment.
func ends(token []byte) []int {
	var all []int
	for i, c := range token {
		if bytes.IndexByte([]byte(separators), c) >= 0 && i > 0 {
			all = append(all, i)
		}
	}
	return append(all, len(token))
}

// lastCharacters replaces the last character of each segment before its padding, which changes its spare
// bits.
func lastCharacters(token []byte) [][]byte {
	var all [][]byte
	for _, end := range ends(token) {
		for end > 1 && token[end-1] == '=' {
			end--
		}
		for i := range base64Letters {
			changed := bytes.Clone(token)
			changed[end-1] = base64Letters[i]
			all = append(all, changed)
		}
	}
	return all
}

// otherAlphabet exchanges the two base64 alphabets: in the whole token, at the first difference, and in
// each segment.
func otherAlphabet(token []byte) [][]byte {
	var all [][]byte
	for _, pair := range []string{"-+", "_/", "+-", "/_"} {
		old, other := []byte(pair[:1]), []byte(pair[1:])
		all = append(all, bytes.ReplaceAll(token, old, other), bytes.Replace(token, old, other, 1))
		begin := 0
		for _, end := range ends(token) {
			all = append(all, slices.Concat(token[:begin], bytes.ReplaceAll(token[begin:end], old, other), token[end:]))
			begin = end
		}
	}
	return all
}

// appended inserts texts after each segment.
func appended(texts ...string) func([]byte) [][]byte {
	return func(token []byte) [][]byte {
		var all [][]byte
		for _, end := range ends(token) {
			for _, text := range texts {
				all = append(all, slices.Concat(token[:end], []byte(text), token[end:]))
			}
		}
		return all
	}
}

// tails appends texts to the token.
func tails(token []byte) [][]byte {
	var all [][]byte
	for _, text := range []string{"A", "AA", "AAAA", ".", "--", "~", "~2", "=A", "==A", "=AAA", "--QUJD", ".AAAA", "*"} {
		all = append(all, slices.Concat(token, []byte(text)))
	}
	return all
}

// inserted inserts texts before the token, in the middle of each segment and after it.
func inserted(texts ...string) func([]byte) [][]byte {
	return func(token []byte) [][]byte {
		places := []int{0}
		begin := 0
		for _, end := range ends(token) {
			places = append(places, (begin+end)/2, end)
			begin = end
		}
		var all [][]byte
		for _, at := range places {
			for _, text := range texts {
				all = append(all, slices.Concat(token[:at], []byte(text), token[at:]))
			}
		}
		return all
	}
}

// tokens is the number of tokens that are tried, of payloads of different lengths. Each is the first of up
// to mints tokens that shows its alphabet.
const tokens, mints = 3, 16

// judge presents foreign encodings of tokens and collects the kinds of refusals.
func (c *contestant) judge() error {
	c.row.Foreign = make([]Foreign, len(kinds))
	refusals := map[string]bool{}
	for n := range tokens {
		token, err := c.showing(50 + n)
		if err != nil {
			return err
		}
		for i, k := range kinds {
			if err := c.row.Foreign[i].judge(c, k, token, refusals); err != nil {
				return err
			}
		}
		c.flip(token, refusals)
	}
	c.row.Errors = slices.Sorted(maps.Keys(refusals))
	return nil
}

// showing returns a token in which the two base64 alphabets differ. Its payload has n bytes or a few more.
func (c *contestant) showing(n int) (token []byte, err error) {
	for i := range mints {
		if token, err = c.in.Seal(nil, payload(n+tokens*i), c.at); err != nil {
			return nil, fmt.Errorf("minting %d bytes: %w", n+tokens*i, err)
		}
		if bytes.ContainsAny(token, "-_+/") {
			break
		}
	}
	if _, err := c.in.Unseal(nil, token, c.at); err != nil {
		return nil, fmt.Errorf("opening an ordinary token: %w", err)
	}
	return token, nil
}

// judge presents the encodings of one kind and counts the accepted ones.
func (f *Foreign) judge(c *contestant, k kind, token []byte, refusals map[string]bool) error {
	f.Kind = k.name
	for _, text := range k.make(token) {
		if bytes.Equal(text, token) {
			continue
		}
		f.Tried++
		if _, err := c.in.Unseal(nil, text, c.at); err == nil {
			f.Accepted++
		} else if r := codecs.Rejected(err); r != nil {
			refusals[r.Stage.String()+": "+r.Reason] = true
		} else {
			return fmt.Errorf("presenting %.40q: %w", text, err)
		}
	}
	return nil
}

// flip collects the refusals of tokens with one flipped bit.
func (c *contestant) flip(token []byte, refusals map[string]bool) {
	for i := range token {
		changed := bytes.Clone(token)
		changed[i] ^= 2
		_, err := c.in.Unseal(nil, changed, c.at)
		if r := codecs.Rejected(err); r != nil {
			refusals[r.Stage.String()+": "+r.Reason] = true
		}
	}
}

// Kinds returns the names of the kinds of foreign encodings, in column order.
func Kinds() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
}
