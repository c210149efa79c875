package tokenfmt

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
)

// Readings returns everything that can be read from token without a key: its segments and the
// bytes that they decode to, also after a prefix of up to four letters. It decompresses gzip,
// zlib and deflate, and reads the strings of JSON documents, to a depth of four. Random bytes
// may pass as deflate, which has no checksum.
func Readings(token []byte) [][]byte {
	r := encodingReader{}
	r.read(token, 4)
	return r.found
}

// Find returns the readings of token that contain value.
func Find(token, value []byte) [][]byte {
	return slices.DeleteFunc(Readings(token), func(r []byte) bool { return !bytes.Contains(r, value) })
}

type encodingReader struct {
	found    [][]byte
	inflated int // total of decompressed bytes
}

func (r *encodingReader) read(raw []byte, depth int) {
	r.found = append(r.found, raw)
	if depth == 0 {
		return
	}
	whole := splitAtBorders(string(raw))
	r.segments(whole, depth)
	if cut, ok := cutWords([][]string{whole}); ok { // a word, or random letters that look like one
		r.segments(cut[0][:2], depth)
	}
	var document any
	if json.Unmarshal(raw, &document) == nil {
		r.members(document, depth)
	}
	r.compressed(raw, depth)
}

// compressed decompresses raw, or raw after a short head, and reads the result.
func (r *encodingReader) compressed(raw []byte, depth int) {
	for at := range min(mostPackedHead, len(raw)) {
		for _, p := range compressions {
			if r.inflated > mostUnpacked {
				return
			}
			if plain, _, ok := p.unpacked(raw[at:]); ok {
				r.inflated += len(plain)
				r.read(plain, depth-1)
				return
			}
		}
	}
}

// segments reads each text in its inferred encoding and in others.
func (r *encodingReader) segments(texts []string, depth int) {
	for _, text := range texts {
		if s := segmentOf(text, []string{text}); s.Encoded() {
			r.read(s.Bytes, depth-1)
		}
		r.otherwise([]byte(text), depth)
	}
}

// otherwise reads text as hexadecimal and base64url, even if its segment has another encoding.
func (r *encodingReader) otherwise(text []byte, depth int) {
	if len(text) < minEncoded {
		return
	}
	if raw, err := hex.DecodeString(string(text)); err == nil {
		r.read(raw, depth-1)
	}
	for prefix := range mostLetters + 1 { // a prefix without a separator
		if raw, err := base64.RawURLEncoding.DecodeString(string(text[prefix:])); err == nil {
			r.found = append(r.found, raw)
		}
	}
}

// members reads the strings of a JSON document.
func (r *encodingReader) members(document any, depth int) {
	switch d := document.(type) {
	case string:
		r.read([]byte(d), depth-1)
	case []any:
		for _, x := range d {
			r.members(x, depth-1)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(d)) {
			r.members(d[name], depth-1)
		}
	}
}
