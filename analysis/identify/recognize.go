package identify

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"hash"
	"math/big"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

// A recognizer recognizes the structure of a format that no design implements.
type recognizer struct {
	format, library string
	score           int
	holds, lacks    []string
	// parse returns the fields of a token, and a function that checks a key, or nil.
	parse func(token string) (fields []Field, opens func(key []byte) bool, ok bool)
}

func (r *recognizer) candidate(token string) (Candidate, bool) {
	fields, opens, ok := r.parse(token)
	return Candidate{Format: r.format, Library: r.library, Score: r.score, Fields: fields, Holds: r.holds, Lacks: r.lacks, Attack: attackWorker, opens: opens}, ok
}

// attackWorker is the command for formats that the laboratory attacks only as workers.
const attackWorker = `sealab attack --worker "COMMAND" (a worker around the server's library; see go doc sealab/codecs/worker)`

var recognizers = []recognizer{
	{"JWT HS256", "PyJWT, jsonwebtoken, jose, authlib, jjwt and others", scoreSpecific, []string{"integrity"},
		[]string{"confidentiality", "canonical: many decoders accept other spellings", "single-use"}, parseJWS},
	{"JWT", "a JWS with another algorithm than HS256", scoreSpecific - 1, []string{"integrity, if the verifier pins the algorithm"}, []string{"confidentiality", "single-use"}, parseOtherJWS},
	{"Auth.js session", "npm @auth/core, next-auth 5", scoreSpecific + 1, []string{"integrity", "confidentiality"}, []string{"private-keys: kid is a hash of the key", "single-use"}, parseAuthJS},
	{"JWE", "jose, joserfc, authlib, nimbus-jose-jwt and others", scorePrefix, []string{"integrity"}, []string{"single-use"}, parseJWE},
	{"iron-session", "npm iron-session", scoreSpecific, []string{"integrity", "confidentiality"}, []string{"canonical: the version ~2 is outside the mac", "single-use"}, parseIronSession},
	{"cookie-signature", "npm cookie-signature, as express-session and cookie-parser use it", scoreSpecific, []string{"integrity", "canonical"},
		[]string{"confidentiality", "expiry", "single-use"}, parseCookieSignature},
	{"Rails MessageVerifier", "gem activesupport, or Rack's session cookie", scorePrefix, []string{"integrity"},
		[]string{"confidentiality", "inert: the serializer may be Marshal", "single-use"}, parseVerifier},
	{"Rails MessageEncryptor, CBC", "gem activesupport before 5.2, or with aes-256-cbc", scorePrefix + 1, []string{"integrity", "confidentiality"},
		[]string{"inert: the serializer may be Marshal", "single-use"}, parseEncryptorCBC},
	{"django-signing without time", "PyPI Django, Signer.sign_object", scoreStructure, []string{"integrity", "canonical"}, []string{"confidentiality", "expiry", "single-use"}, parseDjangoUntimed},
	{"itsdangerous without time", "PyPI itsdangerous, URLSafeSerializer", scoreStructure, []string{"integrity"}, []string{"confidentiality", "expiry", "canonical", "single-use"}, parseUntimed},
	{"django signed value", "PyPI Django, TimestampSigner or signed cookies", scoreStructure - 1, []string{"integrity", "canonical"}, []string{"confidentiality", "single-use"}, parseDjangoValue},
	{"macaroon", "pymacaroons, libmacaroons", scoreSpecific, []string{"integrity"}, []string{"confidentiality", "canonical", "single-use"}, parseMacaroon},
	{"macaroon, version 2", "libmacaroons, pymacaroons, PyPI's API tokens", scoreSpecific, []string{"integrity"}, []string{"confidentiality", "canonical", "single-use"}, parseMacaroon2},
	{"gorilla/securecookie", "Go github.com/gorilla/securecookie, gorilla/sessions", scoreSpecific, []string{"integrity"},
		[]string{"confidentiality, without a block key", "single-use"}, parseSecureCookie},
	{"Tornado signed value", "PyPI tornado, set_signed_cookie", scoreSpecific, []string{"integrity"}, []string{"confidentiality", "single-use"}, parseTornado},
	{"Laravel Encrypter", "illuminate/encryption", scoreSpecific, []string{"integrity", "confidentiality"}, []string{"canonical", "inert: unserialize", "single-use"}, parseLaravel},
	{"ASP.NET Core DataProtection", "Microsoft.AspNetCore.DataProtection", scoreSpecific, []string{"integrity", "confidentiality"}, []string{"single-use"}, parseDataProtection},
	{"Plug.Crypto", "Phoenix.Token, Plug sessions", scoreSpecific, []string{"integrity"}, []string{"canonical", "single-use"}, parsePlug},
	{"PASETO v1.local", "PASETO, version 1", scoreSpecific, []string{"integrity", "confidentiality"}, []string{"single-use"}, prefixParser("v1.local.")},
	{"PASETO v2.local", "PASETO, version 2", scoreSpecific, []string{"integrity", "confidentiality"}, []string{"key-committing", "single-use"}, prefixParser("v2.local.")},
	{"PASETO v3.local", "pyseto and others", scoreSpecific, []string{"integrity", "confidentiality"}, []string{"canonical, by pyseto", "single-use"}, prefixParser("v3.local.")},
	{"PASETO public", "PASETO, signed with a private key", scoreSpecific, []string{"integrity", "sender-authenticated"}, []string{"confidentiality", "single-use"}, parsePublicPASETO},
}

// decodeRawURL decodes unpadded base64url, canonical or not.
func decodeRawURL(text string) ([]byte, bool) {
	b, err := base64.RawURLEncoding.DecodeString(text)
	return b, err == nil && !strings.ContainsAny(text, "\r\n")
}

// decodeStd decodes padded base64 of the standard alphabet.
func decodeStd(text string) ([]byte, bool) {
	b, err := base64.StdEncoding.Strict().DecodeString(text)
	return b, err == nil && !strings.ContainsAny(text, "\r\n")
}

func readableField(name string, b []byte) Field {
	return Field{Name: name, Bytes: len(b), Text: string(b)}
}

func opaqueField(name string, b []byte) Field { return Field{Name: name, Bytes: len(b)} }

// macOpens returns a function that reports whether a key gives the tag of a message.
func macOpens(h func() hash.Hash, message string, tag []byte) func([]byte) bool {
	return func(key []byte) bool {
		m := hmac.New(h, key)
		m.Write([]byte(message))
		return hmac.Equal(m.Sum(nil), tag)
	}
}

func parseIronSession(token string) ([]Field, func([]byte) bool, bool) {
	inner, version, found := strings.Cut(token, "~")
	parts := strings.Split(inner, "*")
	if !found || len(version) != 1 || parts[0] != "Fe26.2" || len(parts) != 8 {
		return nil, nil, false
	}
	fields := []Field{readableField("password-id", []byte(parts[1])), readableField("salt", []byte(parts[2])), readableField("version", []byte(version))}
	if ms, ok := new(big.Int).SetString(parts[5], 10); ok && ms.IsInt64() {
		fields = append(fields, Field{Name: "expiry", Bytes: len(parts[5]), Text: parts[5], Time: time.UnixMilli(ms.Int64()).UTC().Format(time.RFC3339)})
	}
	return fields, nil, true
}

var signature43 = regexp.MustCompile(`^[A-Za-z0-9+/]{43}$`)

func parseCookieSignature(token string) ([]Field, func([]byte) bool, bool) {
	if plain, err := url.PathUnescape(token); err == nil {
		token = plain
	}
	value, ok := strings.CutPrefix(token, "s:")
	i := strings.LastIndexByte(value, '.')
	if !ok || i < 0 || !signature43.MatchString(value[i+1:]) {
		return nil, nil, false
	}
	tag, _ := base64.RawStdEncoding.DecodeString(value[i+1:])
	return []Field{readableField("value", []byte(value[:i])), opaqueField("signature", tag)}, macOpens(sha256.New, value[:i], tag), true
}

var hexTag = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128})$`)

// marshalHeader is the version header of Ruby's Marshal, the serializer of old applications.
var marshalHeader = []byte{4, 8}

func parseVerifier(token string) ([]Field, func([]byte) bool, bool) {
	at := strings.LastIndex(token, "--")
	if at < 0 {
		return nil, nil, false
	}
	text, tagText := token[:at], token[at+len("--"):]
	payload, ok := decodeStd(text)
	if !ok {
		payload, ok = decodeRawURL(text) // URL-safe, like the signed IDs of Rails 7.1
	}
	if !ok || !hexTag.MatchString(tagText) || !utf8.Valid(payload) && !bytes.HasPrefix(payload, marshalHeader) {
		return nil, nil, false
	}
	tag, _ := hex.DecodeString(tagText)
	h := map[int]func() hash.Hash{20: sha1.New, 32: sha256.New, 64: sha512.New}[len(tag)]
	return []Field{readableField("payload", payload), opaqueField("signature", tag)}, macOpens(h, text, tag), true
}

// sealedText matches the message that an encryptor signs: ciphertext and initialization vector.
var sealedText = regexp.MustCompile(`^[A-Za-z0-9+/]+={0,2}--[A-Za-z0-9+/]{22}==$`)

func parseEncryptorCBC(token string) ([]Field, func([]byte) bool, bool) {
	fields, _, ok := parseVerifier(token)
	if !ok || !sealedText.MatchString(fields[0].Text) {
		return nil, nil, false
	}
	sealed, iv, _ := strings.Cut(fields[0].Text, "--")
	body, ok1 := decodeStd(sealed)
	nonce, ok2 := decodeStd(iv)
	return []Field{opaqueField("ciphertext", body), opaqueField("iv", nonce), fields[1]}, nil, ok1 && ok2 && len(body)%16 == 0
}

// parseDjangoUntimed and parseUntimed parse a payload and its tag. A leading full stop marks a compressed
// payload.
func parseDjangoUntimed(token string) ([]Field, func([]byte) bool, bool) {
	return payloadAndTag(token, ":", sha256.Size)
}

func parseUntimed(token string) ([]Field, func([]byte) bool, bool) {
	return payloadAndTag(token, ".", sha1.Size)
}

func payloadAndTag(token, separator string, size int) ([]Field, func([]byte) bool, bool) {
	text, compressed := strings.CutPrefix(token, ".")
	body, tagText, found := strings.Cut(text, separator)
	payload, ok1 := decodeRawURL(body)
	tag, ok2 := decodeRawURL(tagText)
	if !found || !ok1 || !ok2 || len(tag) != size || !compressed && !json.Valid(payload) {
		return nil, nil, false
	}
	return []Field{readableField("payload", payload), opaqueField("signature", tag)}, nil, true
}

var base62Time = regexp.MustCompile(`^[0-9A-Za-z]{6}$`)

// encodedText matches base64url text that is unlikely to be a word: part of an encoded object.
var encodedText = regexp.MustCompile(`[A-Za-z0-9_-]{16}|[A-Z0-9_-][a-z]*[A-Z0-9_-][a-z]*[A-Z0-9_-]|^.{0,5}$`)

// plainWord matches a number or a word, which is too short for part of an encoded object.
var plainWord = regexp.MustCompile(`^(?:[0-9]{1,12}|[a-z]{4,12})$`)

func parseDjangoValue(token string) ([]Field, func([]byte) bool, bool) {
	parts := strings.Split(token, ":")
	if len(parts) < 3 {
		return nil, nil, false
	}
	tag, ok := decodeRawURL(parts[len(parts)-1])
	at := parts[len(parts)-2]
	if !ok || len(tag) != sha256.Size || !base62Time.MatchString(at) {
		return nil, nil, false
	}
	value := strings.Join(parts[:len(parts)-2], ":")
	if encodedText.MatchString(value) && !plainWord.MatchString(value) {
		return nil, nil, false // may be a damaged token of django-signing
	}
	return []Field{readableField("value", []byte(value)), readableField("time in base 62", []byte(at)), opaqueField("signature", tag)}, nil, true
}

var macaroonPacket = regexp.MustCompile(`^[0-9a-f]{4}(location|identifier) `)

func parseMacaroon(token string) ([]Field, func([]byte) bool, bool) {
	b, ok := decodeRawURL(strings.TrimRight(token, "="))
	if !ok || !macaroonPacket.Match(b) {
		return nil, nil, false
	}
	var fields []Field
	for line := range bytes.SplitSeq(b, []byte("\n")) {
		if len(line) > 4 {
			if name, value, found := bytes.Cut(line[4:], []byte(" ")); found && !bytes.Equal(name, []byte("signature")) {
				fields = append(fields, readableField(string(name), value))
			}
		}
	}
	return fields, nil, true
}

func parseLaravel(token string) ([]Field, func([]byte) bool, bool) {
	b, ok := decodeStd(token)
	var v struct{ IV, Value, MAC *string }
	if !ok || json.Unmarshal(b, &v) != nil || v.IV == nil || v.Value == nil || v.MAC == nil {
		return nil, nil, false
	}
	return []Field{readableField("iv", []byte(*v.IV)), {Name: "ciphertext", Bytes: len(*v.Value)}, {Name: "mac", Bytes: len(*v.MAC)}}, nil, true
}

// prefixParser returns the parser of a format with a distinctive prefix and base64url after it.
func prefixParser(prefix string) func(string) ([]Field, func([]byte) bool, bool) {
	return func(token string) ([]Field, func([]byte) bool, bool) {
		rest, ok := strings.CutPrefix(token, prefix)
		text, footer, _ := strings.Cut(rest, ".")
		body, ok1 := decodeRawURL(text)
		tail, ok2 := decodeRawURL(footer)
		fields := []Field{opaqueField("body", body)}
		if len(tail) > 0 {
			fields = append(fields, readableField("footer", tail))
		}
		return fields, nil, ok && ok1 && ok2 && len(body) >= 32
	}
}

// parseDataProtection parses ASP.NET Core tokens: a magic number and the key's ID, a GUID.
func parseDataProtection(token string) ([]Field, func([]byte) bool, bool) {
	const magic, guid = "\x09\xf0\xc9\xf0", 16
	text, ok := decodeRawURL(token)
	if !ok || !strings.HasPrefix(string(text), magic) || len(text) < len(magic)+guid+32 {
		return nil, nil, false
	}
	key, body := text[len(magic):][:guid], text[len(magic)+guid:]
	return []Field{{Name: "key-id", Bytes: guid, Text: hex.EncodeToString(key)}, opaqueField("body", body)}, nil, true
}

// parsePlug parses tokens of Plug.Crypto: encrypted ones, and those signed with HMAC under SHA-256, SHA-384 or
// SHA-512. Their payload is an Erlang term.
func parsePlug(token string) ([]Field, func([]byte) bool, bool) {
	if fields, opens, ok := prefixParser("XCP.")(token); ok {
		return fields, opens, ok
	}
	parts := strings.Split(token, ".")
	if parts[0] == "QTEyOEdDTQ" && len(parts) == 5 { // A128GCM, before XCP
		fields, ok := encryptedFields(parts)
		return fields, nil, ok && fields[0].Bytes == 44 && fields[1].Bytes == 12 && fields[3].Bytes == 16
	}
	size := map[string]int{"SFMyNTY": 32, "SFMzODQ": 48, "SFM1MTI": 64}[parts[0]]
	if size == 0 || len(parts) != 3 {
		return nil, nil, false
	}
	term, ok := decodeRawURL(parts[1])
	tag, ok1 := decodeRawURL(parts[2])
	return []Field{opaqueField("term", term), opaqueField("signature", tag)}, nil, ok && ok1 && len(term) > 0 && len(tag) == size
}

func parsePublicPASETO(token string) ([]Field, func([]byte) bool, bool) {
	for _, v := range []string{"v1", "v2", "v3", "v4"} {
		if fields, opens, ok := prefixParser(v + ".public.")(token); ok {
			return fields, opens, ok
		}
	}
	return nil, nil, false
}
