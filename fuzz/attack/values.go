package attack

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"slices"
)

// values are everything that can be read out of a token without a key: its
// pieces, what they decode to, and so on into JSON texts, at most four deep.
func values(token []byte) [][]byte {
	v := reader{}
	v.read(token, 4)
	return v.found
}

type reader struct{ found [][]byte }

func (v *reader) read(raw []byte, depth int) {
	v.found = append(v.found, raw)
	if depth == 0 {
		return
	}
	whole := pieces(string(raw))
	v.pieces(whole, depth)
	if cut, ok := cutWords([][]string{whole}); ok { // a word, or random letters that look like one
		v.pieces(cut[0][:2], depth)
	}
	var document any
	if json.Unmarshal(raw, &document) == nil {
		v.members(document, depth)
	}
}

// pieces reads each piece in its code.
func (v *reader) pieces(texts []string, depth int) {
	for _, text := range texts {
		if p := pieceOf(text, []string{text}); p.coded {
			v.read(p.raw, depth-1)
		}
		v.looser([]byte(text), depth)
	}
}

// looser adds what text decodes to in codes other than that of the piece.
func (v *reader) looser(text []byte, depth int) {
	if len(text) < minCoded {
		return
	}
	if raw, err := hex.DecodeString(string(text)); err == nil {
		v.read(raw, depth-1)
	}
	if raw, err := base64.RawURLEncoding.DecodeString(string(text)); err == nil {
		v.found = append(v.found, raw)
	}
}

// members adds the texts of a JSON document.
func (v *reader) members(document any, depth int) {
	switch d := document.(type) {
	case string:
		v.read([]byte(d), depth-1)
	case []any:
		for _, x := range d {
			v.members(x, depth-1)
		}
	case map[string]any:
		names := make([]string, 0, len(d))
		for name := range d {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			v.members(d[name], depth-1)
		}
	}
}

// findIn returns the readings of token that contain what.
func findIn(token, what []byte) [][]byte {
	var in [][]byte
	for _, v := range values(token) {
		if bytes.Contains(v, what) {
			in = append(in, v)
		}
	}
	return in
}
