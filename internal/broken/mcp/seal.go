package mcp

import (
	"bytes"
	"cmp"
	"compress/flate"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"sealab/internal/broken/skeleton"
)

// claims are the content of a token.
type claims struct {
	Step string `json:"step"`
	Env  string `json:"env"`
	Bind string `json:"bind"`
	Exp  int64  `json:"exp,omitempty"`
	ID   string `json:"id,omitempty"`
	Auth string `json:"auth,omitempty"` // used by a fault
	Flow string `json:"flow,omitempty"` // used by a fault
	Past string `json:"past,omitempty"` // used by a fault
	Code string `json:"code,omitempty"` // used by a fault
	// Open counts the earlier withdrawals of the user.
	Open int `json:"open,omitempty"`
	// Tries counts invalid answers, if the server limits them.
	Tries int `json:"tries,omitempty"`
}

// A boundRequest is the request that a token is bound to.
type boundRequest struct {
	method, target, user, connection string
	arguments                        json.RawMessage
	unanswered                       bool // it has no answers; not a part of the digest
}

var errState = errors.New("invalid requestState")

// errElsewhere is the error for a good state of another request or time.
var errElsewhere = fmt.Errorf("%w", errState)

var errExpired = fmt.Errorf("%w: expired", errElsewhere)

// firstEnv matches the first argument env as it is written.
var firstEnv = regexp.MustCompile(`"env": *"[^"]*"`)

// memberNames matches the names of arguments.
var memberNames = regexp.MustCompile(`"\w+": *`)

// digest returns the value that binds a token to its request.
func (s *Server) digest(p boundRequest) string {
	args := p.arguments
	if s.has("the first of two arguments bound") {
		args = firstEnv.Find(args)
	}
	if s.has("values of arguments bound") {
		args = memberNames.ReplaceAll(args, nil)
	}
	if !s.has("textual arguments", "the first of two arguments bound", "values of arguments bound") {
		var v any
		_ = json.Unmarshal(args, &v) // parsed before, except with one fault
		args, _ = json.Marshal(s.digested(v))
	}
	if s.has("unbound user") || len(args) > 600 && s.has("users of long arguments unbound") {
		p.user = ""
	}
	if s.has("unbound tool") {
		p.target = ""
	}
	if s.has("unbound arguments") {
		args = nil
	}
	if s.has("long arguments cut") {
		args = args[:min(len(args), 128)]
	}
	if s.has("arguments without case") {
		args = bytes.ToLower(args)
	}
	if s.has(mappedChoices...) {
		args = bytes.ToUpper(args)
	}
	if s.has("arguments without spaces") {
		args = bytes.ReplaceAll(args, []byte(" "), nil)
	}
	if s.has("arguments in one normal form") {
		args = bytes.Map(func(r rune) rune {
			if r > 0xff00 && r < 0xff5f { // full-width forms
				return r - 0xfee0
			}
			return r
		}, args)
	}
	if s.has("arguments joined") {
		var all struct{ Env, Zone string }
		_ = json.Unmarshal(args, &all)
		args = []byte(all.Env + "|" + all.Zone)
	}
	if s.has("bins joined with counts") {
		var all struct {
			Env, Zone, Bin string
			Count          json.RawMessage
		}
		_ = json.Unmarshal(args, &all)
		args = fmt.Appendf(nil, "%q %q %s%s", all.Env, all.Zone, all.Bin, all.Count)
	}
	if s.has("optional arguments unbound") {
		var required struct {
			Env string `json:"env"`
		}
		_ = json.Unmarshal(args, &required)
		args = []byte(required.Env)
	}
	if s.has("unbound method") {
		p.method, p.target, args = "", "", nil
	}
	if !s.has("bound to the connection") {
		p.connection = ""
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q", p.method, p.target, p.user, p.connection, args))
	if s.has("states as texts") { // short
		return hex.EncodeToString(sum[:6])
	}
	return hex.EncodeToString(sum[:])
}

// digested returns the arguments for a digest. To read an absent text as empty is not a fault. A
// fault may omit nested members.
func (s *Server) digested(v any) any {
	all, _ := v.(map[string]any)
	if all != nil && all["zone"] == nil && s.has("absent texts are empty") {
		all["zone"] = ""
	}
	if all != nil && all["zone"] != nil && s.has("arguments joined with slashes", "places by path") { // the second is sound
		all["env"] = fmt.Sprintf("%v/%v", all["env"], all["zone"])
		delete(all, "zone")
	}
	if all != nil && s.has(fieldChoices...) { // the state has them
		delete(all, "env")
		delete(all, "zone")
	}
	for name, inner := range all {
		if list, is := inner.([]any); is && len(list) > 1 && s.has("first labels bound") {
			all[name] = list[:1]
		}
		if list, is := inner.([]any); is && s.has("labels sorted") { // not a fault if their order has no meaning
			slices.SortFunc(list, func(a, b any) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
		if n, is := inner.(float64); is && s.has("amounts rounded") {
			all[name] = math.Floor(n)
		}
		if inner == float64(-1) && s.has("numbers hashed") { // as in Python
			all[name] = -2
		}
		if text, is := inner.(string); is && s.has("checksums of texts bound") {
			all[name] = crc32.ChecksumIEEE([]byte(text))
		}
		if text, is := inner.(string); is && name == "zone" && s.has("ends of zones bound") {
			all[name] = text[max(0, len(text)-4):]
		}
		if inner == "" && s.has("empty texts left out") {
			delete(all, name)
		}
		if _, deep := inner.(map[string]any); deep && s.has("members of members unbound") {
			all[name] = object{}
		}
	}
	return v
}

// unboundEmpty reports whether a fault skips the comparison because the state or the argument is
// empty.
func (s *Server) unboundEmpty(c claims, p boundRequest) bool {
	var given struct{ Env string }
	_ = json.Unmarshal(p.arguments, &given)
	return c.Env == "" && s.has("empty arguments unbound") || given.Env == "" && s.has("empty arguments not compared")
}

// membersIn returns readable claims with the members whose names fit.
func membersIn(text string, fits func(name string) bool) string {
	raw, err := decodeStrict(text)
	var members map[string]json.RawMessage
	if err != nil || json.Unmarshal(raw, &members) != nil {
		return text
	}
	maps.DeleteFunc(members, func(name string, _ json.RawMessage) bool { return !fits(name) })
	return base64.RawURLEncoding.EncodeToString(skeleton.InJSON(members))
}

// signingFaults are the faults that make tokens signed and readable.
var signingFaults = []string{"tag not compared", "tag compared as far as it goes", "one byte of the tag compared", "careless base64", "short tag",
	"published key", "credentials in a readable state", "careless key", "key from the name of the server", "readable and careful",
	"tag without regard to case", "refusals tell the tag", "refusals tell the key", "one member verified, another read", "keys in headers",
	"keys in headers of another name", "tags of long tokens unread", "names of keys in tokens", "versions in tokens", "last byte of the tag unread",
	"keys in tokens", "public keys in headers", "public keys in headers, unread", "public keys in a set", "public keys as secrets", "files of keys named", "lists of tags", "tags in front", "tags behind an underscore",
	"names verified, read in any case", "names verified and read", "places unverified"}

func (s *Server) mint(c claims, p boundRequest) string {
	c.Bind, c.Open = s.digest(p), s.withdrawals(p)
	if c.Exp = s.Clock.Now().Add(TTL).Unix(); s.has("no expiry") {
		c.Exp = 0
	}
	if c.ID = hex.EncodeToString(randomBytes(8)); s.has("one nonce") {
		c.ID = "" // equal states give equal tokens
	}
	if s.has("states of varying length") { // not a fault
		c.ID += randomWord()
	}
	if s.has("credentials in a readable state") {
		c.Auth = "Bearer " + p.user
	}
	if c.Flow == "" && s.has("one nonce for a flow") {
		c.Flow = hex.EncodeToString(randomBytes(8))
	}
	raw, err := json.Marshal(c)
	if err != nil {
		return ""
	}
	if s.has("notes joined with the state") {
		quoted, _ := json.Marshal(c.Past) // a text
		raw = bytes.Replace(raw, quoted, []byte(`"`+c.Past+`"`), 1)
	}
	switch {
	case s.has("constant states"):
		return constantState + c.Step
	case s.has("state in the clear"):
		return string(raw)
	case s.has("states as texts"):
		return s.asText(c)
	case s.has(keyPairChoices...):
		return s.asJWE(c, p)
	case s.has("counted handles", "hashed handles"):
		s.mu.Lock()
		defer s.mu.Unlock()
		s.count++
		handle := fmt.Sprintf("state-%06d", s.count)
		if s.has("hashed handles") {
			sum := md5.Sum(fmt.Append(nil, s.count))
			handle = hex.EncodeToString(sum[:])
		}
		s.held[handle] = c
		return handle
	case s.has(signingFaults...):
		return s.signed(raw)
	case s.has(fieldChoices...):
		return s.asFields(raw, p)
	}
	if s.has("compressed state") {
		var b bytes.Buffer
		w, _ := flate.NewWriter(&b, flate.BestCompression) // the level is valid
		_, _ = w.Write(raw)                                // a write to memory does not fail
		_ = w.Close()
		raw = b.Bytes()
	}
	if s.has("blocks encrypted alone", "blocks chained without a nonce", "blocks chained without a tag") {
		return base64.RawURLEncoding.EncodeToString(s.blocks(raw))
	}
	if s.has("states in parts") { // not a fault
		return s.inParts(raw, c.ID)
	}
	nonce := s.nonce(c)
	token := base64.RawURLEncoding.EncodeToString(s.aead().Seal(nonce, nonce, raw, nil))
	if s.has("unknown keys end the server") {
		token = s.keyID() + "." + token
	}
	return token
}

// constantState is the beginning of states that hold the step alone.
const constantState = "asked:"

// signed returns a token with readable claims and a tag.
func (s *Server) signed(raw []byte) string {
	text := base64.RawURLEncoding.EncodeToString(raw)
	if s.has("lists of tags") { // not a fault
		return fmt.Sprintf(`{"payload":%q,"signatures":[{"signature":%q}]}`, text, base64.RawURLEncoding.EncodeToString(s.tag(text)))
	}
	if s.has("keys in headers of another name") {
		text = base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","key":""}`)) + "." + text
	}
	if s.has("keys in headers") {
		text = base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + text
	}
	if s.has("public keys in headers", "public keys in headers, unread", "public keys in a set", "public keys as secrets") {
		return s.signedWithKey(text)
	}
	if s.has("versions in tokens") { // not a fault
		text = "v2." + s.keyID() + "." + text
	}
	if s.has("files of keys named") { // not a fault
		text = base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","kid":"`+s.keyID()+`"}`)) + "." + text
	}
	if s.has("names of keys in tokens") { // not a fault
		text += "." + s.keyID()
	}
	tag := base64.RawURLEncoding.EncodeToString(s.tag(text))
	if s.has("tags in front") { // not a fault
		return tag + "!" + text
	}
	if s.has("tags behind an underscore") { // not a fault
		return text + "_" + base64.RawStdEncoding.EncodeToString(s.tag(text))
	}
	return text + "." + tag
}

// nonce returns a random nonce for a token, or with a fault one that repeats.
func (s *Server) nonce(c claims) []byte {
	nonce := randomBytes(12)
	if s.has("one nonce") {
		nonce = make([]byte, 12)
	}
	if s.has("one nonce for a flow") {
		sum := sha256.Sum256([]byte(c.Flow))
		nonce = sum[:12]
	}
	if s.has("one nonce for a step") {
		sum := sha256.Sum256([]byte(c.Step))
		nonce = sum[:12]
	}
	if s.has("nonces of one seed") {
		s.mu.Lock()
		s.count++
		sum := sha256.Sum256(fmt.Append(nil, s.count))
		s.mu.Unlock()
		nonce = sum[:12]
	}
	return nonce
}

// blocks encrypts in blocks of 16 bytes, each alone or chained. The tag of the whole comes first,
// if there is one.
func (s *Server) blocks(raw []byte) []byte {
	raw = append(raw, bytes.Repeat([]byte(" "), 16-len(raw)%16)...)
	block := s.cipher()
	if s.has("blocks chained without a tag") {
		first := randomBytes(16)
		cipher.NewCBCEncrypter(block, first).CryptBlocks(raw, raw)
		return append(first, raw...)
	}
	if s.has("blocks chained without a nonce") {
		cipher.NewCBCEncrypter(block, make([]byte, 16)).CryptBlocks(raw, raw)
		return append(s.tag(string(raw)), raw...)
	}
	for b := raw; len(b) > 0; b = b[16:] {
		block.Encrypt(b, b)
	}
	return append(s.tag(string(raw)), raw...)
}

// unblocks decrypts a token of [Server.blocks].
func (s *Server) unblocks(token string) ([]byte, error) {
	all, err := decodeStrict(token)
	if err != nil || len(all) < 32 || len(all)%16 != 0 {
		return nil, errState
	}
	block := s.cipher()
	if s.has("blocks chained without a tag") {
		cipher.NewCBCDecrypter(block, all[:16]).CryptBlocks(all[16:], all[16:])
		return all[16:], nil
	}
	if !hmac.Equal(all[:32], s.tag(string(all[32:]))) {
		return nil, errState
	}
	if s.has("blocks chained without a nonce") {
		cipher.NewCBCDecrypter(block, make([]byte, 16)).CryptBlocks(all[32:], all[32:])
		return all[32:], nil
	}
	for b := all[32:]; len(b) > 0; b = b[16:] {
		block.Decrypt(b, b)
	}
	return all[32:], nil
}

// keyID returns the ID of the key in a token.
func (s *Server) keyID() string {
	if s.has("older keys are wiped") {
		return "2026-11"
	}
	sum := sha256.Sum256(s.Secret)
	return "k" + hex.EncodeToString(sum[:4])
}

func (s *Server) aead() cipher.AEAD {
	a, _ := cipher.NewGCM(s.cipher())
	return a
}

func (s *Server) cipher() cipher.Block {
	key := sha256.Sum256(s.Secret)
	block, _ := aes.NewCipher(key[:]) // 32 bytes
	return block
}

func (s *Server) tag(text string) []byte {
	key := s.Secret
	if s.has("published key") {
		key = []byte("secret")
	}
	if s.has("key from the name of the server") {
		sum := sha256.Sum256([]byte("broken"))
		key = sum[:]
	}
	if s.has("keys in tokens") {
		key = []byte(unverifiedClaims(text).ID)
	}
	if s.has("careless key") {
		key = []byte("change-me")
	}
	if s.has("tag without regard to case") {
		text = strings.ToLower(text)
	}
	switch {
	case s.has("names verified, read in any case", "names verified and read"): // the second is sound
		text = membersIn(text, func(name string) bool { return name == strings.ToLower(name) })
	case s.has("places unverified"):
		text = membersIn(text, func(name string) bool { return name != "env" })
	}
	tag := skeleton.HMAC(key, []byte(text))
	if s.has("short tag") {
		return tag[:4]
	}
	return tag
}
