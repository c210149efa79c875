package tokenfmt_test

import (
	"bytes"
	"compress/zlib"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/attack/tokenfmt"
)

// raw returns n bytes that derive from a seed.
func raw(seed uint64, n int) []byte { return tokenfmt.NewSource(seed).Bytes(n) }

func TestInfer(t *testing.T) {
	url := base64.RawURLEncoding.EncodeToString
	for _, c := range []struct {
		name  string
		token func(seed uint64) string
		want  string // encodings of the segments, with words in quotes
	}{
		{"dotted", func(s uint64) string { return "v1." + url(raw(s, 24)) + "." + url(raw(s+9, 32)) }, `"v1" "." base64url "." base64url`},
		{"prefix with a dash", func(s uint64) string { return "tok-" + url(raw(s, 24)) }, `"tok-" base64url`},
		{"prefix with two dashes", func(s uint64) string { return "me7--" + url(raw(s, 24)) }, `"me7--" base64url`},
		{"letters before base64url", func(s uint64) string { return "m1" + url(raw(s, 24+int(s))) }, `"m1" base64url`},
		{"letters before hexadecimal", func(s uint64) string { return "ng" + hex.EncodeToString(raw(s, 24)) }, `"ng" hex`},
		{"one word", func(s uint64) string { return "sessiontokenv." + url(raw(s, 24)) }, `"sessiontokenv" "." base64url`},
		{"bare", func(s uint64) string { return url(raw(s, 40)) }, `base64url`},
		{"hexadecimal", func(s uint64) string { return hex.EncodeToString(raw(s, 40)) }, `hex`},
		{"base32", func(s uint64) string { return base32.StdEncoding.EncodeToString(raw(s, 40)) }, `BASE32`},
		{"padded base64", func(s uint64) string { return base64.StdEncoding.EncodeToString(raw(s, 40)) }, `base64`},
		{"tag of 4 bytes", func(s uint64) string { return "v1." + url(raw(s, 24)) + "." + url(raw(s+9, 4)) }, `"v1" "." base64url "." base64url`},
		{"tag of 2 bytes", func(s uint64) string { return "v1." + url(raw(s, 24)) + "." + url(raw(s+9, 2)) }, `"v1" "." base64url "." base64url`},
		{"number", func(s uint64) string { return fmt.Sprintf("v1.%d.%s", 20+s, url(raw(s, 24))) }, `"v1" "." "21" "." base64url`},
		{"key name", func(s uint64) string { return "v1.key_a." + url(raw(s, 24)) }, `"v1" "." "key_a" "." base64url`},
		{"words of several lengths", func(s uint64) string { return "v1." + "abcde"[:1+s] + "." + url(raw(s, 24)) }, `"v1" "." "ab" "." base64url`},
		{"members", func(s uint64) string { return "k=1234;t=" + url(raw(s, 24)) }, `"k" "=1234" ";" "t" "=" base64url`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := tokenfmt.Infer([]byte(c.token(1)), []byte(c.token(2)), []byte(c.token(3)), []byte(c.token(4)))
			require.Equal(t, c.token(1), string(f.Text()))
			if c.name == "members" {
				return // the words may be split at '=' or not
			}
			require.Equal(t, c.want, describe(f))
		})
	}
}

func describe(f tokenfmt.Format) string {
	var all []string
	for _, s := range f.Segments {
		if s.Encoded() {
			all = append(all, s.Encoding.Name)
			continue
		}
		all = append(all, `"`+s.Text+`"`)
	}
	return strings.Join(all, " ")
}

// token returns a token with a JSON body, and its format.
func token() (string, tokenfmt.Format) {
	make := func(seed uint64) string {
		body := append([]byte(`{"step":"KLMNOPQRST; uvwxyz","exp":1795176123}`), raw(seed, 33)...)
		return "v1." + base64.RawURLEncoding.EncodeToString(body)
	}
	return make(1), tokenfmt.Infer([]byte(make(1)), []byte(make(2)), []byte(make(3)))
}

func TestSpells(t *testing.T) {
	text, f := token()
	for name, c := range map[string]struct {
		other string
		want  bool
	}{
		"the token":       {text, true},
		"padded":          {text + "=", true},
		"a line break":    {text[:20] + "\n" + text[20:], true},
		"trailing letter": {text + "AAAA", true},
		"another letter":  {strings.Replace(text, text[10:11], "_", 1), false},
		"shorter":         {text[:len(text)-4], false},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, f.Spells([]byte(c.other))) })
	}
}

// TestSpellsParts checks that bytes count, and neither the border between two parts nor a foreign character at it.
func TestSpellsParts(t *testing.T) {
	write := func(seed uint64, cut int) string {
		b := raw(seed, 48)
		return base64.RawURLEncoding.EncodeToString(b[:cut]) + "." + base64.RawURLEncoding.EncodeToString(b[cut:])
	}
	f := tokenfmt.Infer([]byte(write(1, 24)), []byte(write(2, 24)), []byte(write(3, 24)))
	for other, want := range map[string]bool{
		write(1, 27): true, write(1, 21): true, write(2, 24): false,
		strings.Replace(write(1, 24), ".", "\u00e9.", 1): true,
	} {
		require.Equal(t, want, f.Spells([]byte(other)), other)
	}
}

// TestSpellsBehindLetters checks that the bytes of a token are found after a prefix without a
// separator.
func TestSpellsBehindLetters(t *testing.T) {
	token := func(seed uint64) []byte {
		return []byte("m1" + base64.RawURLEncoding.EncodeToString(raw(seed, 24+int(seed))))
	}
	f := tokenfmt.Infer(token(1), token(2), token(3))
	require.True(t, f.Spells(append(token(1), '=', '=')))
	require.False(t, f.Spells(f.Flip(1, 9).Text))
}

// TestSparesPrefix checks that only a token whose leading word is missing, or is in another case, spares it.
func TestSparesPrefix(t *testing.T) {
	body := func(seed uint64) string { return base64.RawURLEncoding.EncodeToString(raw(seed, 24)) }
	for _, prefix := range []string{"pass_", "sv1."} {
		f := tokenfmt.Infer([]byte(prefix+body(1)), []byte(prefix+body(2)), []byte(prefix+body(3)))
		for text, want := range map[string]bool{body(1): true, strings.ToUpper(prefix) + body(1): true, "v2_" + body(1): false, prefix + body(2): false, "": false} {
			require.Equal(t, want, f.SparesPrefix([]byte(text)), text)
		}
	}
}

// TestOtherLetters checks that only the case of letters in the bytes of a token may differ.
func TestOtherLetters(t *testing.T) {
	code := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	f := tokenfmt.Infer([]byte(code("00af state one")), []byte(code("00be state two")), []byte(code("00cd state six")))
	for text, want := range map[string]bool{"00aF state one": true, "00ag state one": false, "00af state ona": false, "00\x61f stat": false} {
		require.Equal(t, want, f.OtherLetters([]byte(code(text))), text)
	}
}

// TestSpellsSpokenNames checks that a name in one case is recognized in the other case and with
// other hyphens.
func TestSpellsSpokenNames(t *testing.T) {
	f := tokenfmt.Infer([]byte("7eiwvfp3-pgbuyg54-aovtkpvc-h3k5vzgd"), []byte("mfrggzdf-mztwq2lk-nnwg23tp-obyxe43u"), []byte("onuwg3lp-nztxk5dp-mvzxi2lo-m4xg64tf"))
	for _, text := range []string{"7EIWVFP3-pgbuyg54-aovtkpvc-h3k5vzgd", "7eiwvfp3pgbuyg54aovtkpvch3k5vzgd", "-7eiwvfp3--pgbuyg54-aovtkpvc-h3k5vzgd"} {
		require.True(t, f.Spells([]byte(text)), text)
	}
	require.False(t, f.Spells([]byte("8eiwvfp3-pgbuyg54-aovtkpvc-h3k5vzgd")))
}

// TestGenerators checks that every generator yields an alteration of a token, with a few
// exceptions.
func TestGenerators(t *testing.T) {
	text, f := token()
	for _, g := range tokenfmt.Generators {
		t.Run(g.Name, func(t *testing.T) {
			n := 0
			for a := range g.Alter(f, tokenfmt.NewSource(1)) {
				if string(a.Text) == text {
					continue
				}
				n++
				require.NotEmpty(t, a.How)
				if g.Name == "unused-bits" {
					require.True(t, f.Spells(a.Text), a.How)
				}
			}
			switch g.Name {
			case "shifted-borders", "other-alphabet", "recompressed", "overflows": // not applicable to this token
			default:
				require.NotZero(t, n)
			}
			for range g.Alter(f, tokenfmt.NewSource(1)) {
				break // a caller may stop at once
			}
		})
	}
}

// TestRecompressed recompresses a text that lies between a byte and a tag.
func TestRecompressed(t *testing.T) {
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	w.Write(bytes.Repeat([]byte("payload "), 8))
	w.Close()
	token := func(seed uint64) []byte {
		return []byte(base64.RawURLEncoding.EncodeToString(slices.Concat([]byte{7}, packed.Bytes(), raw(seed, 16))))
	}
	require.NotEmpty(t, tokenfmt.Find(token(1), []byte("payload payload")))
	ways := map[string]bool{}
	for a := range tokenfmt.Each(tokenfmt.Recompressed, tokenfmt.Infer(token(1), token(2), token(3)), tokenfmt.NewSource(1)) {
		ways[string(a.Text)] = true
		require.NotEmpty(t, tokenfmt.Find(a.Text, []byte("payload payload")), a.How)
	}
	require.GreaterOrEqual(t, len(ways), 4)
}

// TestOverflows adds 2^64 and 2^160 to numbers in base 62.
func TestOverflows(t *testing.T) {
	number := func(bits ...int) string {
		n := big.NewInt(1)
		for _, b := range bits {
			n.SetBit(n, b, 1)
		}
		return n.Text(62)
	}
	for name, c := range map[string]struct{ text, want string }{
		"a block":                 {number(63), number(63, 64)},
		"a whole":                 {number(155), number(155, 160)},
		"a block behind a prefix": {"rb1" + number(63), "rb1" + number(63, 64)},
	} {
		t.Run(name, func(t *testing.T) {
			var texts []string
			for a := range tokenfmt.Each(tokenfmt.Overflows, tokenfmt.Infer([]byte(c.text)), tokenfmt.NewSource(1)) {
				texts = append(texts, string(a.Text))
			}
			require.Contains(t, texts, c.want)
		})
	}
}

func TestMembers(t *testing.T) {
	_, f := token()
	bodies := map[string]bool{}
	for a := range tokenfmt.Each(tokenfmt.Members, f, tokenfmt.NewSource(1)) {
		for _, r := range tokenfmt.Find(a.Text, []byte("step")) {
			if i := bytes.IndexByte(r, '}'); i > 0 {
				bodies[string(r[:i+1])] = true
			}
		}
	}
	for _, want := range []string{
		`{"exp":1795176123,"step":"KLMNOPQRST; uvwxyz","exp":1795176123}`,
		`{"step":"KLMNOPQRST; uvwxyz","exp":1795176123,"exp":9999999999}`,
		`{"exp":1795176123,"step":"KLMNOPQRST; uvwxyz"}`,
		`{"step":"KLMNOPQRST; uvwxyz","\u0065xp":1795176123}`,
		`{"step":"KLMNOPQRST; uvwxyz","exp":1795176123.0}`,
		`{"step":"KLMNOPQRST; uvwxyz","exp":1795176123,"x_extra":1}`,
	} {
		require.True(t, bodies[want], want)
	}
}

func TestTexts(t *testing.T) {
	_, f := token()
	found := map[string]bool{}
	for a := range tokenfmt.Each(tokenfmt.Texts, f, tokenfmt.NewSource(1)) {
		for _, part := range []string{"\u212aLMN", "\u037e uvw", `{"STEP"`, ";  uvw"} {
			if len(tokenfmt.Find(a.Text, []byte(part))) > 0 {
				found[part] = true
			}
		}
	}
	require.Len(t, found, 4)
}

func TestReadings(t *testing.T) {
	inner := base64.RawURLEncoding.EncodeToString([]byte(`{"deep":"a hidden value"}`))
	outer := base64.StdEncoding.EncodeToString([]byte(`{"a":["` + inner + `"]}`))
	require.NotEmpty(t, tokenfmt.Find([]byte("v1."+outer), []byte("a hidden value")))
	require.Empty(t, tokenfmt.Find([]byte("v1."+outer), []byte("another value")))
}

func TestExtend(t *testing.T) {
	secret, message, suffix := raw(1, 16), []byte("amount=1"), []byte("&amount=9")
	for _, c := range tokenfmt.Chains {
		t.Run(c.Name, func(t *testing.T) {
			i := map[string]int{"SHA-256": 6, "SHA-512": 7, "SHA-1": 8, "MD5": 9}[c.Name]
			sum := tokenfmt.MACs[i].Sum
			n := len(secret) + len(message)
			got, err := c.Extend(sum(secret, message), n, suffix)
			require.NoError(t, err)
			require.Equal(t, sum(secret, bytes.Join([][]byte{message, c.Padding(n), suffix}, nil)), got)
		})
	}
}

func TestRecognize(t *testing.T) {
	secret := raw(1, 32)
	for _, m := range tokenfmt.MACs {
		t.Run(m.Name, func(t *testing.T) {
			seal := func(body []byte) string {
				return "v1." + base64.RawURLEncoding.EncodeToString(append(body, m.Sum(secret, body)...))
			}
			f := tokenfmt.Infer([]byte(seal([]byte("the body"))), []byte(seal([]byte("another body"))))
			c, ok := f.Recognize(secret)
			require.True(t, ok)
			require.Equal(t, m.Name, c.Name)
			require.Equal(t, seal([]byte("forged!!")), string(c.Seal([]byte("forged!!"))))
			_, ok = f.Recognize(raw(2, 32))
			require.False(t, ok)
		})
	}
}

func TestPatched(t *testing.T) {
	payload := []byte("amount=1")
	for _, c := range tokenfmt.Checksums() {
		t.Run(c.Name, func(t *testing.T) {
			build := func(p []byte) []byte {
				return []byte("v1." + base64.RawURLEncoding.EncodeToString(append(bytes.Clone(p), c.Sum(p)...)))
			}
			other := bytes.Clone(payload)
			other[len(other)-3] ^= 1
			f := tokenfmt.Infer(build(payload))
			require.Contains(t, f.Patched(3, tokenfmt.Xor(c.Sum(payload), c.Sum(other))), build(other))
		})
	}
}

func TestHead(t *testing.T) {
	id := []byte{1, 2, 3, 4}
	build := func(seed uint64) tokenfmt.Format {
		return tokenfmt.Infer([]byte(base64.RawURLEncoding.EncodeToString(append(bytes.Clone(id), raw(seed, 40)...))))
	}
	f := build(1)
	i, n, ok := f.Head(build(2), build(3), build(4))
	require.True(t, ok)
	require.Equal(t, []int{0, 4}, []int{i, n})
	var texts [][]byte
	f.WithHead(i, n, func(a tokenfmt.Alteration) { texts = append(texts, a.Text) })
	require.Equal(t, make([]byte, 4), tokenfmt.Infer(texts[0]).Bytes()[:4])
}

func TestKeyedTag(t *testing.T) { // the tag is a segment of its own
	m := hmac.New(sha256.New, []byte("0123456789abcdef0123456789abcdef"))
	body := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256"}`))
	m.Write([]byte(body))
	f := tokenfmt.Infer([]byte(body + "." + base64.RawURLEncoding.EncodeToString(m.Sum(nil))))
	require.NotEmpty(t, f.Layouts(32))
	_, ok := f.Recognize([]byte("0123456789abcdef0123456789abcdef"))
	require.True(t, ok)
}
