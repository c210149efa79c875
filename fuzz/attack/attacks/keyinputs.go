package attacks

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/fields"
	"sealab/fuzz/attack/tokenfmt"
)

// keyMember matches the member of a JSON header that names a key.
var keyMember = regexp.MustCompile(`"(kid|key|k|keyid|key_id)":"([^"]*)"`)

// injectedKeyIDs writes hostile key IDs into the header. It computes the tag under the keys
// that they may lead to: the empty key, zeros, and the ID itself. Formats without a header may
// name a key in the head of a segment, or in a segment of its own.
func (t trial) injectedKeyIDs(in *attack.Instance, tok *attack.Token) {
	f := tok.Format()
	for _, i := range f.Encoded() {
		m := keyMember.FindSubmatchIndex(f.Segments[i].Bytes)
		if m == nil {
			continue
		}
		for _, id := range []string{"", "0", "null", "../../../../../../../../dev/null", "/dev/null", "' UNION SELECT '", "none", "default", "__proto__",
			"constructor", string(t.Letters(1 << 16)), "a\x00b"} {
			raw := slices.Concat(f.Segments[i].Bytes[:m[4]], []byte(id), f.Segments[i].Bytes[m[5]:])
			t.Try(codecs.Total)
			other := f.Altered(i, raw)
			how := fmt.Sprintf("%.40q for the key ID", id)
			t.Change(in, tok, other.Text(), how)
			keys := []string{"", string(make([]byte, 32)), id}
			if key := foreignKeyIDs[id]; key != "" {
				keys = append(keys, key)
			}
			for _, key := range keys {
				t.underKey(in, tok, other, []byte(key), how)
			}
		}
	}
	t.noKeyIDs(in, tok, f)
	t.suppliedKeys(in, tok, f)
	t.missingKeys(in, tok, f)
	if t.Untried() {
		t.Skip("no segment of the token may name a key")
	}
}

// noKeyIDs removes the key ID from a header, or replaces it by a value of another type. It
// computes the tag under the keys that a reader may then use: the empty key, zeros, and words
// for absent.
func (t trial) noKeyIDs(in *attack.Instance, tok *attack.Token, f tokenfmt.Format) {
	for i, raw := range f.EncodedBytes() {
		m := keyMember.FindSubmatchIndex(raw)
		if m == nil {
			continue
		}
		name := raw[m[0] : m[4]-1]
		for _, value := range []string{"", "null", "0", "false", "[]", "{}"} {
			member, how := slices.Concat(name, []byte(value)), "the key ID "+value
			if value == "" {
				member, how = nil, "no key ID"
			}
			head, tail := raw[:m[0]], raw[m[1]:]
			if rest, ok := bytes.CutPrefix(tail, []byte(",")); ok && member == nil {
				tail = rest
			} else if member == nil {
				head = bytes.TrimSuffix(head, []byte(","))
			}
			other := slices.Concat(head, member, tail)
			t.Try(codecs.Total)
			t.Change(in, tok, f.With(i, other), how)
			for _, key := range []string{"", string(make([]byte, 32)), "undefined", "null", "None"} {
				t.underKey(in, tok, f.Altered(i, other), []byte(key), how)
			}
		}
	}
}

// suppliedKeys writes a key of the attacker's choice into each segment that is a JSON object,
// in the forms in which headers carry keys. It computes the tag under that key.
func (t trial) suppliedKeys(in *attack.Instance, tok *attack.Token, f tokenfmt.Format) {
	key := t.Bytes(32)
	k := fields.QuoteJSON(base64.RawURLEncoding.EncodeToString(key))
	for _, i := range f.Encoded() {
		rest, ok := bytes.CutPrefix(f.Segments[i].Bytes, []byte("{"))
		if !ok {
			continue
		}
		for _, member := range []string{`"jwk":{"kty":"oct","k":` + k + `}`, `"jwk":` + k, `"k":` + k, `"key":` + k, `"secret":` + k} {
			t.Try(codecs.Total)
			for _, raw := range [][]byte{slices.Concat([]byte("{"+member+","), rest), []byte(`{"alg":"HS256",` + member + `}`)} {
				t.underKey(in, tok, f.Altered(i, raw), key, fmt.Sprintf("%.80q in segment %d", raw, i))
			}
		}
	}
}

// underKey presents the token with a tag computed under a key.
func (t trial) underKey(in *attack.Instance, tok *attack.Token, f tokenfmt.Format, key []byte, altered string) {
	t.Changes(in, tok, tokenfmt.TaggedUnderKey(f, key, altered))
}

// foreignKeyIDs maps names that lead out of a ring to the keys that they lead to. The names are
// inherited members of JavaScript objects (whose values become text), a path of an empty file,
// and SQL that gives an empty row.
var foreignKeyIDs = map[string]string{"__proto__": "[object Object]", "constructor": "function Object() { [native code] }",
	"toString": "function toString() { [native code] }", "valueOf": "function valueOf() { [native code] }", "hasOwnProperty": "function hasOwnProperty() { [native code] }",
	"../../../../../../../../dev/null": "", "/dev/null": "", "' UNION SELECT '": ""}

// missingKeys names keys that are not in the ring. It computes tags under the keys that a
// reader may find for them: zeros, and keys from elsewhere.
func (t trial) missingKeys(in *attack.Instance, tok *attack.Token, f tokenfmt.Format) {
	tokenfmt.OtherHeads(f, func(other tokenfmt.Format, how string) {
		t.underKey(in, tok, other, make([]byte, 32), how)
		t.Changes(in, tok, tokenfmt.SealedUnderKey(other, make([]byte, 32), how))
	})
	for _, name := range slices.Sorted(maps.Keys(foreignKeyIDs)) { // a reader may look up whole tokens
		t.Change(in, tok, []byte(name), fmt.Sprintf("%q for the token", name))
		t.Change(in, tok, []byte(t.PrefixOf(tok)+name), fmt.Sprintf("%q behind the prefix", name))
	}
	for i, s := range f.Segments[:max(len(f.Segments), 1)-1] {
		if strings.Trim(s.Text, ".:|~-_=") == "" {
			continue // a separator
		}
		for _, name := range slices.Sorted(maps.Keys(foreignKeyIDs)) {
			other := f.Named(i, name)
			how := fmt.Sprintf("%q in segment %d", name, i)
			t.Change(in, tok, other.Text(), how)
			t.underKey(in, tok, other, []byte(foreignKeyIDs[name]), how)
		}
	}
}

func (t trial) points(in *attack.Instance, tok *attack.Token) {
	t.Try(codecs.Total)
	t.changes(in, tok, tokenfmt.Points)
}
