package attacks

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/tokenfmt"
)

// keyMember matches the member of a JSON header that names a key.
var keyMember = regexp.MustCompile(`"(kid|key|k|keyid|key_id)":"([^"]*)"`)

// injectedKeyIDs writes hostile key IDs into the header, and makes the tag under the
// keys that they may lead to: the empty key, zeros, and the ID itself.
func (t trial) injectedKeyIDs(in *attack.Instance, tok *attack.Token) {
	f := tok.Format()
	for _, i := range f.Encoded() {
		m := keyMember.FindSubmatchIndex(f.Segments[i].Bytes)
		if m == nil {
			continue
		}
		for _, id := range []string{"", "0", "null", "../../../../dev/null", "/dev/null", "' UNION SELECT '", "none", "default", "__proto__", "constructor", string(t.Letters(1 << 16)), "a\x00b"} {
			raw := slices.Concat(f.Segments[i].Bytes[:m[4]], []byte(id), f.Segments[i].Bytes[m[5]:])
			t.Try(codecs.Total)
			other := f.Altered(i, raw)
			t.Change(in, tok, other.Text(), fmt.Sprintf("%.40q for the key ID", id))
			for _, key := range [][]byte{nil, make([]byte, 32), []byte(id)} {
				t.underKey(in, tok, other, key)
			}
		}
	}
	t.suppliedKeys(in, tok, f)
	if t.Tried(codecs.Total) == 0 {
		t.Skip("no segment of the token is a header that names a key")
	}
}

// suppliedKeys writes a key of the attacker's choice into each segment that is a JSON
// object, in the forms in which headers carry one, and makes the tag under it.
func (t trial) suppliedKeys(in *attack.Instance, tok *attack.Token, f tokenfmt.Format) {
	key := t.Bytes(32)
	k := quoted(base64.RawURLEncoding.EncodeToString(key))
	for _, i := range f.Encoded() {
		rest, ok := bytes.CutPrefix(f.Segments[i].Bytes, []byte("{"))
		if !ok {
			continue
		}
		for _, member := range []string{`"jwk":{"kty":"oct","k":` + k + `}`, `"jwk":` + k, `"k":` + k, `"key":` + k, `"secret":` + k} {
			t.Try(codecs.Total)
			for _, raw := range [][]byte{slices.Concat([]byte("{"+member+","), rest), []byte(`{"alg":"HS256",` + member + `}`)} {
				t.underKey(in, tok, f.Altered(i, raw), key)
			}
		}
	}
}

// underKey makes the tag of each layout of the token under a key.
func (t trial) underKey(in *attack.Instance, tok *attack.Token, f tokenfmt.Format, key []byte) {
	sum := func(message []byte) []byte {
		m := hmac.New(sha256.New, key)
		m.Write(message)
		return m.Sum(nil)
	}
	how := fmt.Sprintf("the tag under a key of %d known bytes", len(key))
	for _, l := range f.Layouts(sha256.Size) {
		for _, message := range l.Messages(l.Body) {
			t.Change(in, tok, l.Build(l.Body, sum(message)), how)
		}
	}
	// A header in front of the body is authenticated with it (RFC 7515).
	if at := f.Encoded(); len(at) == 3 {
		t.Change(in, tok, f.With(at[2], sum(bytes.TrimRight(f.Before(at[2]), "."))), how)
	}
}

func (t trial) points(in *attack.Instance, tok *attack.Token) {
	t.Try(codecs.Total)
	t.Changes(in, tok, tokenfmt.Points(tok.Format(), t.Source))
}

// quoted returns s as a JSON text.
func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic("attacks: " + err.Error()) // every string has a JSON form
	}
	return string(b)
}
