package attack

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"

	"sealab/codecs"
)

// aKeyID is the member of a JSON header that names a key.
var aKeyID = regexp.MustCompile(`"(kid|key|k|keyid|key_id)":"([^"]*)"`)

// injectedKeyIDs writes hostile key ids into the header and makes the tag under
// the keys that they would lead to: none, zero, and the id itself.
func injectedKeyIDs(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	s := tok.shape()
	for _, i := range s.coded() {
		m := aKeyID.FindSubmatchIndex(s.pieces[i].raw)
		if m == nil {
			continue
		}
		for _, id := range []string{"", "0", "null", "../../../../dev/null", "/dev/null", "' UNION SELECT '", "none", "default", "__proto__", "constructor", string(t.letters(1 << 16)), "a\x00b"} {
			raw := slices.Concat(s.pieces[i].raw[:m[4]], []byte(id), s.pieces[i].raw[m[5]:])
			t.try(codecs.Total)
			other := s.altered(i, raw)
			t.change(p, tok, other.text(), fmt.Sprintf("%.40q for the key id", id))
			for _, key := range [][]byte{nil, make([]byte, 32), []byte(id)} {
				t.underKey(p, tok, other, key)
			}
		}
	}
	t.suppliedKeys(p, tok, s)
	if t.trials[codecs.Total] == 0 {
		t.skip("no piece of the token is a header that names a key")
	}
}

// suppliedKeys writes a key of the attacker's choice into each piece that is a JSON
// object, in the forms in which headers carry one, and makes the tag under it.
func (t *Trial) suppliedKeys(p *Party, tok *Token, s shape) {
	key := t.bytes(32)
	k := quoted(base64.RawURLEncoding.EncodeToString(key))
	for _, i := range s.coded() {
		rest, ok := bytes.CutPrefix(s.pieces[i].raw, []byte("{"))
		if !ok {
			continue
		}
		for _, member := range []string{`"jwk":{"kty":"oct","k":` + k + `}`, `"jwk":` + k, `"k":` + k, `"key":` + k, `"secret":` + k} {
			t.try(codecs.Total)
			for _, raw := range [][]byte{slices.Concat([]byte("{"+member+","), rest), []byte(`{"alg":"HS256",` + member + `}`)} {
				t.underKey(p, tok, s.altered(i, raw), key)
			}
		}
	}
}

// underKey makes the tag of each reading of the token under a key.
func (t *Trial) underKey(p *Party, tok *Token, s shape, key []byte) {
	for _, l := range s.tagged(sha256.Size) {
		for _, message := range l.messages(l.body) {
			m := hmac.New(sha256.New, key)
			m.Write(message)
			t.change(p, tok, l.build(l.body, m.Sum(nil)), fmt.Sprintf("the tag under a key of %d known bytes", len(key)))
		}
	}
	// A header in front of the body is authenticated with it, as in RFC 7515.
	if at := s.coded(); len(at) == 3 {
		signed := bytes.TrimRight(s.textUpTo(at[2]), ".")
		m := hmac.New(sha256.New, key)
		m.Write(signed)
		t.change(p, tok, s.with(at[2], m.Sum(nil)), fmt.Sprintf("the tag under a key of %d known bytes", len(key)))
	}
}

// lowOrder are the points of X25519 whose multiples are known, little-endian.
var lowOrder = []string{
	"0000000000000000000000000000000000000000000000000000000000000000",
	"0100000000000000000000000000000000000000000000000000000000000000",
	"e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
	"5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
	"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
}

// edgePoints writes special points and other forms of a point over every window
// of 32 bytes at the start of each piece.
func edgePoints(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	s := tok.shape()
	for _, i := range s.coded() {
		raw := s.pieces[i].raw
		for at := range min(20, max(0, len(raw)-31)) {
			for _, form := range formsOf(raw[at : at+32]) {
				t.try(codecs.Total)
				altered := slices.Concat(raw[:at], form, raw[at+32:])
				t.change(p, tok, s.with(i, altered), fmt.Sprintf("point %x at byte %d of piece %d", form, at, i))
			}
		}
	}
}

// formsOf returns what may be written in the place of a point: its other form,
// which differs in the bit that X25519 does not read, and both forms of each of
// the points in lowOrder.
func formsOf(point []byte) [][]byte {
	ignored := append(make([]byte, 31), 0x80)
	forms := [][]byte{xor(point, ignored)}
	for _, text := range lowOrder {
		b, err := hex.DecodeString(text)
		if err != nil {
			panic("sealab: " + text + " is no point")
		}
		forms = append(forms, b, xor(b, ignored))
	}
	return forms
}
