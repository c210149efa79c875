package identify_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/analysis/identify"
	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/internal/golibs"
	"sealab/internal/lab"
)

// A sample is a token made by a library: a line of testdata/tokens.jsonl.
type sample struct{ Format, Library, Token string }

func samples(t *testing.T) []sample {
	file, err := os.Open("testdata/tokens.jsonl")
	require.NoError(t, err)
	defer file.Close()
	var all []sample
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var s sample
		require.NoError(t, json.Unmarshal(lines.Bytes(), &s))
		all = append(all, s)
	}
	return all
}

// tally counts the answers for tokens of known formats. An answer is right if it names the format, and
// open if it names none.
type tally struct{ right, wrong, open int }

func (c *tally) add(t *testing.T, want string, a identify.Answer) {
	named := a.Named()
	switch {
	case named == nil:
		c.open++
	case named.Format == want:
		c.right++
	default:
		c.wrong++
		t.Logf("%s is named %s: %.60q", want, named.Format, a.Token)
	}
}

func (c tally) String() string {
	return fmt.Sprintf("%d named rightly, %d wrongly, %d cannot be told", c.right, c.wrong, c.open)
}

// TestLibraries identifies tokens of every format for which a library makes samples.
func TestLibraries(t *testing.T) {
	id, formats, all := identify.New(), map[string]*tally{}, tally{}
	for _, s := range samples(t) {
		if formats[s.Format] == nil {
			formats[s.Format] = new(tally)
		}
		a := id.Identify(s.Token)
		formats[s.Format].add(t, s.Format, a)
		all.add(t, s.Format, a)
	}
	for format, c := range formats {
		t.Logf("%s: %s", format, c)
	}
	t.Logf("%d formats: %s", len(formats), all)
	require.Len(t, formats, 28)
	require.Equal(t, 345, all.right+all.wrong+all.open)
	require.Zero(t, all.wrong)
	require.LessOrEqual(t, all.open, 10) // mcp-py and mcp-rb share their structure
}

// envelopes are the designs whose tokens look like those of the enclosing format, which is then named
// instead.
var envelopes = map[string]string{"laravel-encrypter": "Laravel Encrypter", "mcp-laravel": "Laravel Encrypter", "mcp-phantom": "Plug.Crypto"}

// TestCatalog identifies tokens of every format of the catalog.
func TestCatalog(t *testing.T) {
	id, all := identify.New(), tally{}
	secret := []byte("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-")
	for _, d := range catalog.Formats() {
		want := d.Name
		if d.Over != "" {
			want = d.Over
		}
		if envelopes[want] != "" {
			want = envelopes[want]
		}
		in, err := lab.Open(d, codecs.Config{Secrets: [][]byte{secret[:max(d.KeySize, codecs.MinSecret)]}})
		require.NoError(t, err, d.Name)
		for n := range 4 {
			token, err := in.Seal(nil, fmt.Appendf(nil, `{"step":%d}`, n), &codecs.Context{Now: time.Unix(1_795_300_000, 0), Method: "tools/call", Target: "deploy"})
			require.NoError(t, err, d.Name)
			all.add(t, want, id.Identify(string(token)))
		}
		require.NoError(t, in.Close())
	}
	t.Logf("%s", all)
	require.Zero(t, all.wrong)
	require.LessOrEqual(t, all.open, 4*4) // mcp-py, mcp-rb; envoy-session is base64 alone
}

// TestLengths identifies short tokens, and tokens whose text does not begin at a group of four characters.
func TestLengths(t *testing.T) {
	id := identify.New()
	b64 := base64.RawURLEncoding.EncodeToString
	for n := 32; n < 40; n++ {
		body := make([]byte, n)
		token := b64(slices.Concat([]byte{0x09, 0xf0, 0xc9, 0xf0}, make([]byte, 16), body))
		a := id.Identify(token)
		require.NotNil(t, a.Named(), "%d", n)
		require.Equal(t, "ASP.NET Core DataProtection", a.Named().Format)
	}
	for token, want := range map[string]string{
		"SFMyNTY." + b64([]byte("\x83h\x03a\x01n\x06\x00\x7f\x92\xac\xe1\x91\x01b\x00\x01Q\x80")) + "." + b64(make([]byte, 32)): "Plug.Crypto",
		"SFM1MTI.g2EB." + b64(make([]byte, 64)):                    "Plug.Crypto",
		"SFMyNTY.g2EB." + b64(make([]byte, 31)):                    "",
		"42:1xV224:FbsLZql1PsC-zJtycdyZNX8fwD94PcblC2nQfvxyufw":    "django signed value",
		"hello:1xV224:FbsLZql1PsC-zJtycdyZNX8fwD94PcblC2nQfvxyufw": "django signed value",
	} {
		a := id.Identify(token)
		got := a.Named()
		require.Equal(t, want == "", got == nil, token)
		if got != nil {
			require.Equal(t, want, got.Format, token)
		}
	}
}

// TestFrameworks identifies tokens with the structure that frameworks document. The signed value of
// Tornado comes from its own tests, and a key opens it.
func TestFrameworks(t *testing.T) {
	id, b64 := identify.New(), base64.RawURLEncoding.EncodeToString
	tornado := "2|1:0|10:1300000000|3:key|8:dmFsdWU=|3d4e60b996ff9c5d5788e333a0cba6f238a22c6c0f94788870e1a9ecd482e152"
	cookie := "1795132800|Dv-BBAEC_4IAAQwBEAAA|" + strings.Repeat("|", 32)
	macaroon := "\x02\x01\x08pypi.org\x02\x04user\x00\x02\x03[1]\x00\x00\x06\x20" + strings.Repeat("m", 32)
	sealed := "QTEyOEdDTQ." + b64(make([]byte, 44)) + "." + b64(make([]byte, 12)) + ".AAAA."
	for token, want := range map[string]string{
		tornado: "Tornado signed value",
		strings.Replace(tornado, "|8:", "|9:", 1):                                              "",
		base64.URLEncoding.EncodeToString([]byte(cookie)):                                      "gorilla/securecookie",
		base64.URLEncoding.EncodeToString([]byte(cookie[1:])):                                  "gorilla/securecookie",
		base64.URLEncoding.EncodeToString([]byte(cookie + "x")):                                "",
		"pypi-" + b64([]byte(macaroon)):                                                        "macaroon, version 2",
		b64([]byte(macaroon)):                                                                  "macaroon, version 2",
		b64([]byte(macaroon + "x")):                                                            "",
		b64([]byte(macaroon[:1] + "\x00\x00" + macaroon[24:])):                                 "",
		b64([]byte("\x02\x01\xff\xff\xff\xff\xff\xff\xff\xff\x7f")):                            "",
		sealed + b64(make([]byte, 16)):                                                         "Plug.Crypto",
		sealed + b64(make([]byte, 15)):                                                         "",
		b64([]byte(`{"_rails":{"data":1,"pur":"blob_id"}}`)) + "--" + strings.Repeat("0a", 20): "Rails MessageVerifier",
	} {
		a := id.Identify(token)
		if want == "" {
			require.Empty(t, a.Candidates, token)
			continue
		}
		require.NotNil(t, a.Named(), token)
		require.Equal(t, want, a.Named().Format, token)
	}
	libraries := golibs.All()
	i := slices.IndexFunc(libraries, func(d codecs.Design) bool { return d.Name == "securecookie" })
	codec, err := libraries[i].OpenCodec(codecs.Config{Secrets: [][]byte{make([]byte, codecs.MinSecret)}})
	require.NoError(t, err)
	token, err := codec.Seal(nil, []byte("payload"))
	require.NoError(t, err)
	require.Equal(t, "gorilla/securecookie", id.Identify(string(token)).Candidates[0].Format)

	a := id.Identify(tornado)
	a.Try([]identify.Key{{Name: "tests", Secret: []byte("It's a secret to everybody")}})
	require.Equal(t, "tests", a.Named().Key)
}

// plain are texts that look like tokens but have no known format.
var plain = []string{
	"0190d3c4-7b2a-7cc0-98c4-dc0c0c07398f", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "0ujsswThIGTUYm2K8FjOOfXtY1K", "V1StGXR8_Z5jdHi6B-myT",
	"9k2v0c3m8x1l5q7w4e6r8t0y2u4i6o8p", "eyJ1c2VyIjoiYWxpY2UifQ==", "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MjI3M30", "YXJyYXljb25uZWN0aW9uOjEw",
	"cbx7ur-6e2b3f0c1a5d4e7f8091a2b3c4d5e6f7", "hvs.CAESIJ", "GA1.2.1234567890.1700000000", "www.example.com", "v1.2.3", "1541815603606036480",
	"YWxpY2U=|1380000000|31c934969f53e48164c50768b40cbd7e2daaaa4f", "0A1B2C3D4E5F60718293A4B5C6D7E8F9.node1", "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
	"t=1492774577,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd", "https://sp.example.com/app?x=1", "fb.1.1596403881668.1116446470",
	"9d5ed678fe57bcca610140957afab571--not-a-tag", "admin|1700000000|WnV5bEx|5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd",
}

// TestPlainTexts checks that plain texts are not identified: a wrong name is worse than none.
func TestPlainTexts(t *testing.T) {
	id := identify.New()
	for _, text := range plain {
		require.Empty(t, id.Identify(text).Candidates, text)
	}
}

// TestOthers identifies 100 random texts, which have no format, and 500 damaged tokens, which may only be
// identified as their own format.
func TestOthers(t *testing.T) {
	id, random := identify.New(), rand.New(rand.NewPCG(1, 2))
	var noise, damaged tally
	for i := range 100 {
		b := make([]byte, 20+random.IntN(200))
		for j := range b {
			b[j] = byte(random.Uint32())
		}
		text := []string{base64.RawURLEncoding.EncodeToString(b), base64.StdEncoding.EncodeToString(b), fmt.Sprintf("%x", b),
			base64.RawURLEncoding.EncodeToString(b[:10]) + "." + base64.RawURLEncoding.EncodeToString(b[10:]), string(b)}[i%5]
		noise.add(t, "no format", id.Identify(text))
	}
	all := samples(t)
	for range 500 {
		s := all[random.IntN(len(all))]
		at := 1 + random.IntN(len(s.Token)-1)
		text := []string{s.Token[:at], s.Token[at:], s.Token[:at] + " " + s.Token[at:], s.Token[:at] + "!!" + s.Token[at:],
			strings.ToUpper(s.Token), strings.ToLower(s.Token)}[random.IntN(6)]
		damaged.add(t, s.Format, id.Identify(text))
	}
	t.Logf("random texts: %s", noise)
	t.Logf("damaged tokens: %s", damaged)
	require.Zero(t, noise.wrong)
	require.Zero(t, damaged.wrong)
}

// TestKeys checks that published keys of tokens are found, and that tokens under other keys have none.
func TestKeys(t *testing.T) {
	keys, err := identify.CommonKeys()
	require.NoError(t, err)
	id := identify.New()
	for token, want := range map[string]string{
		"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c":                                                                                                                    "jwt.io",
		"Fe26.2**0cdd607945dd1dffb7da0b0bf5f1a7daa6218cbae14cac51dcbd91fb077aeb5b*aOZLCKLhCt0D5IU1qLTtYw*g0ilNDlQ3TsdFUqJCqAm9iL7Wa60H7eYcHL_5oP136TOJREkS3BzheDC1dlxz5oJ**05b8943049af490e913bbc3a2485bee2aaf7b823f4c41d0ff0b7c168371a3772*R8yscVdTBRMdsoVbdDiFmUL8zb-c3PQLGJn4Y8C-AqI": "@hapi/iron",
		"gAAAAAAdwJ6wAAECAwQFBgcICQoLDA0ODy021cpGVWKZ_eEwCGM4BLLF_5CV9dOPmrhuVUPgJobwOz7JcbmrR64jVmpU4IwqDA==":                                                                                                                                                                           "Fernet",
	} {
		a := id.Identify(token)
		a.Try(keys)
		require.NotNil(t, a.Named(), token)
		require.Contains(t, a.Named().Key, want)
	}
	for _, s := range samples(t) {
		a := id.Identify(s.Token)
		a.Try(keys)
		for _, c := range a.Candidates {
			require.Empty(t, c.Key, "%s under a random key", s.Format)
		}
	}
}

func TestExtract(t *testing.T) {
	const token = "gAAAAAAdwJ6wAAECAwQFBgcICQoLDA0ODy0"
	for name, input := range map[string]string{
		"token":  token + "\n",
		"header": "Cookie: lang=en; session=" + token + "; x=1",
		"pairs":  "session=" + token + "; lang=en",
		"HAR":    `{"log":{"entries":[{"request":{"cookies":[{"name":"lang","value":"en"}],"postData":{"text":"{\"params\":{\"requestState\":\"` + token + `\"}}"}},"response":{}}]}}`,
	} {
		found, err := identify.Extract([]byte(input))
		require.NoError(t, err, name)
		require.Len(t, found, 1, name)
		require.Equal(t, token, found[0].Token, name)
	}
	for _, bad := range []string{"", "{", `{"log":{"entries":[]}}`} {
		_, err := identify.Extract([]byte(bad))
		require.Error(t, err, bad)
	}
}

// TestPasted extracts a token from text as people copy it.
func TestPasted(t *testing.T) {
	token := samples(t)[0].Token
	half := len(token) / 2
	for _, text := range []string{
		token, " " + token + "\n", "Bearer " + token, "authorization: bearer " + token, `"` + token + `"`, "'" + token + "'",
		token[:half] + "\r\n  " + token[half:], strings.ReplaceAll(token, ".", "%2E"), `{"params":{"requestState":"` + token + `"}}`,
	} {
		found, err := identify.Extract([]byte(text))
		require.NoError(t, err, "%q", text)
		require.Len(t, found, 1)
		require.Equal(t, token, found[0].Token)
	}
	found, err := identify.Extract([]byte("Cookie: a=1; one=" + token + `; two="` + token + `"`))
	require.NoError(t, err)
	require.Len(t, found, 2)
	_, err = identify.Extract([]byte(`{"a":1}`))
	require.ErrorContains(t, err, "no cookie")
}

// TestExtractInOrder extracts the states of a message in the order of its members.
func TestExtractInOrder(t *testing.T) {
	var members, want []string
	for n := range 8 {
		want = append(want, fmt.Sprintf("state-%d", n))
		members = append(members, fmt.Sprintf(`"m%d":{"requestState":%q}`, n, want[n]))
	}
	var got []string
	found, err := identify.Extract([]byte("{" + strings.Join(members, ",") + "}"))
	require.NoError(t, err)
	for _, f := range found {
		got = append(got, f.Token)
	}
	require.Equal(t, want, got)
}

// TestTimesOutOfRange checks that an impossible time is omitted.
func TestTimesOutOfRange(t *testing.T) {
	encode := base64.RawURLEncoding.EncodeToString
	for exp, want := range map[string]string{"1795132800": "2026-11-20T00:00:00Z", "1e300": ""} {
		token := encode([]byte(`{"alg":"HS256"}`)) + "." + encode([]byte(`{"exp":`+exp+`}`)) + "." + encode(make([]byte, 32))
		answer := identify.New().Identify(token)
		require.NotNil(t, answer.Named())
		require.Equal(t, want, answer.Named().Fields[1].Time)
	}
}
