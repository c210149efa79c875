// Package laravel implements two designs. The design laravel-encrypter is
// encryptString of Laravel's Encrypter with AES-256-CBC (illuminate/encryption
// 8.83). The design mcp-laravel is the requestState of laravel/mcp pull request
// 328 (e24ca59), which encrypts a serialized PHP array with it.
//
// Layout:
//
//	token = base64(JSON)
//	JSON  = {"iv":base64(iv[16]),"value":base64(ciphertext),"mac":hex(tag[32]),"tag":""}
//	ciphertext = AES-256-CBC(secret, iv, plaintext) with PKCS #7 padding
//	tag   = HMAC-SHA256(secret, base64(iv) || base64(ciphertext))
//
// base64 is padded and has the standard alphabet. The secret is the key for
// both encryption and tag and has exactly 32 bytes.
//
// Plaintext of mcp-laravel, as PHP's serialize writes it:
//
//	["scope" => hex(scope[32]), "expiresAt" => Unix seconds,
//	 "inputResponses" => [], "state" => ["s" => state]]
//	scope = SHA-256(json_encode([method, name, uri, arguments, principal]))
//
// The target is the name or, for resources/read, the uri; the other is null.
// Arguments are PHP arrays whose names are sorted at every level. A token is
// valid up to and including the second expiresAt.
//
// Under reading=sdk the outer base64 is decoded as base64_decode does without
// its strict mode, which skips characters outside the alphabet, and the JSON
// may have more members than these three. Under reading=strict, the default,
// tokens must be as Mint writes them.
//
// Known differences of reading=sdk: a plaintext of mcp-laravel must be as Mint
// writes it, while PHP unserializes any. Mint refuses arguments with names that
// are numbers but not canonical integers, and with both integers and other
// names.
//
// The library verifies laravel-encrypter. The digest of the scope was compared
// with PHP 8.2; the rest of mcp-laravel was implemented from its source code.
//
// Limitations: one key for encryption and tag, no key ID, no rotation before Laravel
// 11, no audience. Digests of different arguments can be equal.
package laravel

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"slices"
	"unicode/utf8"

	"sealab/codecs"
	"sealab/codecs/internal/framework"
	"sealab/codecs/internal/mac"
	"sealab/codecs/internal/rawjson"
	"sealab/internal/lab"
)

const (
	keySize = 32
	prefix  = "eyJpdiI6I" // {"iv":"

	beforeIV    = `{"iv":"`
	beforeValue = `","value":"`
	beforeMAC   = `","mac":"`
	afterMAC    = `","tag":""}`
)

var (
	errMalformed   = codecs.Reject(codecs.Malformed, "payload")
	errUnauthentic = codecs.Reject(codecs.Unauthentic, "mac")
	errDecrypt     = codecs.Reject(codecs.Malformed, "decrypt")
)

// An encrypter is Laravel's Encrypter under one key.
type encrypter struct {
	mac   *mac.Key
	block cipher.Block
	sdk   bool
}

func newEncrypter(secret []byte, options map[string]string) (*encrypter, error) {
	block, err := aes.NewCipher(secret)
	return &encrypter{mac.New(secret), block, framework.IsSDK(options)}, err
}

func (e *encrypter) SeedSize() int { return aes.BlockSize }

// Mint implements framework.Format for laravel-encrypter.
func (e *encrypter) Mint(dst, seed, payload []byte, _ *codecs.Context, edit lab.Edit) ([]byte, error) {
	return e.seal(dst, seed, edit.Apply(lab.StepPayload, payload), edit)
}

func (e *encrypter) seal(dst, seed, plaintext []byte, edit lab.Edit) ([]byte, error) {
	iv := edit.Apply(lab.StepNonce, seed)
	if len(iv) != aes.BlockSize {
		return dst, codecs.ErrUnsupported
	}
	std := base64.StdEncoding
	ivText := std.AppendEncode(nil, iv)
	value := edit.Give(lab.StepText, std.AppendEncode(nil, framework.SealCBC(e.block, iv, plaintext)))
	tag := edit.Give(lab.StepTag, e.mac.Append(nil, ivText, value))
	return framework.Join(dst, edit, part(ivText, value, hex.AppendEncode(nil, tag))), nil
}

// The pieces of the JSON between its values.
const (
	wireBeforeIV    lab.Step = "wire-before-iv"
	wireBeforeValue lab.Step = "wire-before-value"
	wireBeforeMAC   lab.Step = "wire-before-mac"
	wireAfterMAC    lab.Step = "wire-after-mac"
)

func part(iv, value, tag []byte) framework.Part {
	return framework.Part{Encoding: base64.StdEncoding, Fields: []framework.Piece{
		{Step: wireBeforeIV, Value: []byte(beforeIV)}, {Step: lab.WireNonce, Value: iv},
		{Step: wireBeforeValue, Value: []byte(beforeValue)}, {Step: lab.WireBody, Value: value},
		{Step: wireBeforeMAC, Value: []byte(beforeMAC)}, {Step: lab.WireTag, Value: tag},
		{Step: wireAfterMAC, Value: []byte(afterMAC)},
	}}
}

// texts are the values of a token's JSON.
type texts struct{ iv, value, mac []byte }

// cut splits a token that is as Mint writes it, except for its ciphertext.
func cut(token []byte) (t texts, ok bool) {
	doc, ok := framework.Decode(base64.StdEncoding, token)
	rest, ok1 := bytes.CutPrefix(doc, []byte(beforeIV))
	iv, rest, ok2 := bytes.Cut(rest, []byte(beforeValue))
	value, rest, ok3 := bytes.Cut(rest, []byte(beforeMAC))
	tag, ok4 := bytes.CutSuffix(rest, []byte(afterMAC))
	return texts{iv, value, tag}, ok && ok1 && ok2 && ok3 && ok4
}

// cutLenient splits a token as the library does.
func cutLenient(token []byte) (t texts, ok bool) {
	doc := phpDecode(token)
	v, err := rawjson.PHP.Parse(doc)
	if err != nil || !utf8.Valid(doc) || !v.IsUTF8() {
		return t, false
	}
	iv, value, tag := v.Lookup("iv"), v.Lookup("value"), v.Lookup("mac")
	for _, member := range []*rawjson.Value{iv, value, tag} {
		if member == nil || member.Kind != rawjson.String {
			return t, false
		}
	}
	return texts{iv.Text, value.Text, tag.Text}, isEmpty(v.Lookup("tag"))
}

// isEmpty reports whether PHP's empty holds for a member, which may be absent.
func isEmpty(v *rawjson.Value) bool {
	if v == nil {
		return true
	}
	switch v.Kind {
	case rawjson.String:
		return len(v.Text) == 0 || string(v.Text) == "0"
	case rawjson.Number:
		return v.Float() == 0
	case rawjson.Array, rawjson.Object:
		return len(v.Items)+len(v.Members) == 0
	default:
		return v.Kind != rawjson.True
	}
}

// phpDecode decodes as base64_decode does by default: it skips padding and
// characters outside the alphabet anywhere, and ignores spare bits.
func phpDecode(text []byte) []byte {
	clean := slices.DeleteFunc(slices.Clone(text), func(c byte) bool {
		return !('A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '+' || c == '/')
	})
	if len(clean)%4 == 1 {
		clean = clean[:len(clean)-1]
	}
	out, _ := base64.RawStdEncoding.AppendDecode(nil, clean) // such a text always decodes
	return out
}

// Open implements framework.Format for laravel-encrypter.
func (e *encrypter) Open(dst, token []byte, _ *codecs.Context) ([]byte, error) {
	plaintext, refused := e.open(token)
	if refused != nil {
		return dst, refused
	}
	return append(dst, plaintext...), nil
}

func (e *encrypter) open(token []byte) ([]byte, *codecs.RejectError) {
	read := cut
	if e.sdk {
		read = cutLenient
	}
	t, ok := read(token)
	iv, decoded := framework.Decode(base64.StdEncoding, t.iv)
	if e.sdk {
		iv, decoded = framework.PHPDecode(nil, t.iv)
	}
	if !ok || !decoded || len(iv) != aes.BlockSize || len(t.mac) != hex.EncodedLen(mac.Size) {
		return nil, errMalformed
	}
	tag := make([]byte, mac.Size)
	if _, err := hex.Decode(tag, t.mac); err != nil || !bytes.Equal(hex.AppendEncode(nil, tag), t.mac) {
		return nil, errMalformed
	}
	if !e.mac.Verify(tag, t.iv, t.value) {
		return nil, errUnauthentic
	}
	body, ok := framework.Decode(base64.StdEncoding, t.value)
	if e.sdk {
		body, ok = phpDecode(t.value), true
	}
	if !ok {
		return nil, errDecrypt
	}
	plaintext, ok := framework.OpenCBC(e.block, iv, body)
	if !ok {
		return nil, errDecrypt
	}
	return plaintext, nil
}

// inspect splits a token that is as Mint writes it into fields.
func inspect(token []byte) ([]lab.Field, error) {
	t, ok := cut(token)
	if !ok || len(t.mac) != hex.EncodedLen(mac.Size) {
		return nil, errors.New("not a token of Laravel's Encrypter with AES-256-CBC")
	}
	readable := []lab.Step{wireBeforeIV, wireBeforeValue, wireBeforeMAC, wireAfterMAC}
	return framework.Fields(readable, part(t.iv, t.value, t.mac)), nil
}

// tokenSize returns the length of the token of an n-byte payload.
func tokenSize(n int) int {
	std := base64.StdEncoding
	body := std.EncodedLen(n + aes.BlockSize - n%aes.BlockSize)
	fixed := len(beforeIV + beforeValue + beforeMAC + afterMAC)
	return std.EncodedLen(fixed + std.EncodedLen(aes.BlockSize) + body + hex.EncodedLen(mac.Size))
}
