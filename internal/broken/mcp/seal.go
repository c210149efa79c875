package mcp

import (
	"bytes"
	"compress/flate"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// claims are the content of a token.
type claims struct {
	Step string `json:"step"`
	Env  string `json:"env"`
	Bind string `json:"bind"`
	Exp  int64  `json:"exp,omitempty"`
	ID   string `json:"id,omitempty"`
	Auth string `json:"auth,omitempty"` // with a fault
}

// A place is the request that a token belongs to.
type place struct {
	method, target, user, connection string
	arguments                        json.RawMessage
}

var errState = errors.New("invalid requestState")

// errElsewhere is the error of a good state of another request or time.
var errElsewhere = fmt.Errorf("%w", errState)

var errExpired = fmt.Errorf("%w: expired", errElsewhere)

// firstEnv is the first value of the argument env, as it is written.
var firstEnv = regexp.MustCompile(`"env": *"[^"]*"`)

// digest is the binding of a token to its request.
func (s *Server) digest(p place) string {
	args := p.arguments
	if s.has("the first of two arguments bound") {
		args = firstEnv.Find(args)
	}
	if !s.has("textual arguments", "the first of two arguments bound") {
		var v any
		_ = json.Unmarshal(args, &v) // the request was parsed before, but for one fault
		args, _ = json.Marshal(v)
	}
	for _, drop := range []struct {
		fault string
		part  *string
	}{{"unbound user", &p.user}, {"unbound tool", &p.target}} {
		if s.has(drop.fault) {
			*drop.part = ""
		}
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
	if s.has("arguments without spaces") {
		args = bytes.ReplaceAll(args, []byte(" "), nil)
	}
	if s.has("arguments joined") {
		var all struct{ Env, Zone string }
		_ = json.Unmarshal(args, &all)
		args = []byte(all.Env + "|" + all.Zone)
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
	return hex.EncodeToString(sum[:])
}

// signing are the faults of tokens that are signed and readable.
var signing = []string{"tag not compared", "tag compared as far as it goes", "one byte of the tag compared", "careless base64", "short tag", "published key", "credentials in a readable state", "careless key", "key from the name of the server", "readable and careful", "tag without regard to case", "refusals tell the tag", "refusals tell the key", "one member verified, another read", "keys in headers", "keys in headers of another name", "tags of long tokens unread", "names of keys in tokens"}

func (s *Server) mint(c claims, p place) string {
	c.Bind = s.digest(p)
	if c.Exp = s.Clock.Now().Add(TTL).Unix(); s.has("no expiry") {
		c.Exp = 0
	}
	if c.ID = hex.EncodeToString(random(8)); s.has("one nonce") {
		c.ID = "" // equal states give equal tokens
	}
	if s.has("credentials in a readable state") {
		c.Auth = "Bearer " + p.user
	}
	raw, err := json.Marshal(c)
	if err != nil {
		return ""
	}
	switch {
	case s.has("state in the clear"):
		return string(raw)
	case s.has("counted handles"):
		s.mu.Lock()
		defer s.mu.Unlock()
		s.count++
		s.held[fmt.Sprintf("state-%06d", s.count)] = c
		return fmt.Sprintf("state-%06d", s.count)
	case s.has(signing...):
		text := base64.RawURLEncoding.EncodeToString(raw)
		if s.has("keys in headers of another name") {
			text = base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","key":""}`)) + "." + text
		}
		if s.has("keys in headers") {
			text = base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + text
		}
		if s.has("names of keys in tokens") { // no fault
			text += "." + s.keyID()
		}
		return text + "." + base64.RawURLEncoding.EncodeToString(s.tag(text))
	}
	if s.has("compressed state") {
		var b bytes.Buffer
		w, _ := flate.NewWriter(&b, flate.BestCompression) // the level is known
		_, _ = w.Write(raw)                                // to memory
		_ = w.Close()
		raw = b.Bytes()
	}
	nonce := random(12)
	if s.has("one nonce") {
		nonce = make([]byte, 12)
	}
	if s.has("nonces of one seed") {
		s.mu.Lock()
		s.count++
		sum := sha256.Sum256(fmt.Append(nil, s.count))
		s.mu.Unlock()
		nonce = sum[:12]
	}
	token := base64.RawURLEncoding.EncodeToString(s.aead().Seal(nonce, nonce, raw, nil))
	if s.has("unknown keys end the server") {
		token = s.keyID() + "." + token
	}
	return token
}

// keyID names the key in a token.
func (s *Server) keyID() string {
	sum := sha256.Sum256(s.Secret)
	return "k" + hex.EncodeToString(sum[:4])
}

func (s *Server) aead() cipher.AEAD {
	key := sha256.Sum256(s.Secret)
	block, _ := aes.NewCipher(key[:]) // 32 bytes
	a, _ := cipher.NewGCM(block)
	return a
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
	if s.has("careless key") {
		key = []byte("change-me")
	}
	if s.has("tag without regard to case") {
		text = strings.ToLower(text)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	if s.has("short tag") {
		return mac.Sum(nil)[:4]
	}
	return mac.Sum(nil)
}

// open returns the claims of a token that is good at a place.
func (s *Server) open(token string, p place) (claims, error) {
	c, err := s.unseal(token, p)
	if bind := s.digest(p); err == nil && s.has("verdicts remembered by token") {
		s.mu.Lock()
		if s.held[token].Bind != "" {
			c.Bind = bind
		} else if c.Bind == bind {
			s.held[token] = c
		}
		s.mu.Unlock()
	}
	switch {
	case err != nil:
		return c, err
	case c.Exp != 0 && s.Clock.Now().Unix() >= c.Exp:
		return c, errExpired
	case !s.has("state in the clear", "counted handles") && c.Bind != s.digest(p):
		return c, fmt.Errorf("%w: of another request", errElsewhere)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used[c.ID] {
		return c, fmt.Errorf("%w: used", errState)
	}
	return c, nil
}

// redeem marks a token as used; it returns an error if it was.
func (s *Server) redeem(c claims) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used[c.ID] {
		return errState
	}
	s.used[c.ID] = c.ID != "" && !s.has("used twice", "used twice at once")
	if s.has("used twice at once") {
		// The token is marked after the other requests in flight have looked.
		time.AfterFunc(raceWindow, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.used[c.ID] = true
		})
	}
	return nil
}

// raceWindow is the time between look and mark of a store without atomic
// operations.
const raceWindow = 200 * time.Millisecond

func (s *Server) unseal(token string, p place) (claims, error) {
	var c claims
	switch {
	case s.has("state in the clear"):
		if err := json.Unmarshal([]byte(token), &c); err != nil {
			return c, fmt.Errorf("%w: malformed", errState)
		}
		return c, nil
	case s.has("counted handles"):
		s.mu.Lock()
		defer s.mu.Unlock()
		c, ok := s.held[token]
		if !ok {
			return c, errState
		}
		return c, nil
	case s.has(signing...):
		return s.unsign(token)
	case len(token) > 8<<10 && s.has("long states unverified"):
		return claims{Step: "confirm", Env: "all", Bind: s.digest(p), Exp: s.Clock.Now().Add(TTL).Unix()}, nil
	}
	if s.has("unknown keys end the server") {
		id, rest, ok := strings.Cut(token, ".")
		if token = rest; ok && len(id) == len(s.keyID()) && id != s.keyID() {
			panic(http.ErrAbortHandler)
		}
	}
	raw, err := strict(token)
	if err != nil || len(raw) < 12 {
		return c, fmt.Errorf("%w: malformed", errState)
	}
	if raw, err = s.aead().Open(nil, raw[:12], raw[12:], nil); err != nil {
		return c, fmt.Errorf("%w: not authentic", errState)
	}
	if s.has("compressed state") {
		if raw, err = io.ReadAll(flate.NewReader(bytes.NewReader(raw))); err != nil {
			return c, errState
		}
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return c, errState
	}
	return c, nil
}

func (s *Server) unsign(token string) (claims, error) {
	var c claims
	text, tag, ok := strings.Cut(token, ".")
	if s.has("keys in headers", "keys in headers of another name") {
		return s.unsignByHeader(token)
	}
	if s.has("names of keys in tokens") {
		return s.unsignByName(token)
	}
	if !ok && !s.has("tag not compared") {
		return c, fmt.Errorf("%w: malformed", errState)
	}
	read := strict
	if s.has("careless base64") {
		read = func(text string) ([]byte, error) {
			return base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "= \n"))
		}
	}
	mac, err := read(tag)
	want := s.tag(text)
	switch {
	case s.has("tag not compared"), s.has("tags of long tokens unread") && len(text) > 2000:
		ok = true
	case s.has("tag compared as far as it goes") && err == nil:
		ok = bytes.HasPrefix(want, mac)
	case s.has("one byte of the tag compared") && err == nil && len(mac) == len(want):
		ok = mac[0] == want[0]
	default:
		ok = err == nil && hmac.Equal(mac, want)
	}
	switch {
	case ok || s.has("tag not compared"):
	case s.has("refusals tell the tag"):
		return c, fmt.Errorf("%w: tag: want %x, got %x", errState, want, mac)
	case s.has("refusals tell the key"):
		return c, fmt.Errorf("%w: not under the key %s", errState, base64.StdEncoding.EncodeToString(s.Secret))
	default:
		return c, fmt.Errorf("%w: not authentic", errState)
	}
	raw, err := strict(text)
	if err != nil || json.Unmarshal(raw, &c) != nil {
		return c, fmt.Errorf("%w: malformed", errState)
	}
	return c, nil
}

// unsignByHeader reads a JWT, under the key in its header if one stands there.
func (s *Server) unsignByHeader(token string) (c claims, err error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return c, errState
	}
	var head struct {
		Alg string
		JWK struct{ K string }
		Key string
	}
	var all [3][]byte
	for i, p := range parts {
		if all[i], err = strict(p); err != nil {
			return c, errState
		}
	}
	if json.Unmarshal(all[0], &head) != nil || head.Alg != "HS256" {
		return c, errState
	}
	text := parts[0] + "." + parts[1]
	want := s.tag(text)
	if key, err := strict(head.JWK.K + head.Key); err == nil && len(key) > 0 {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(text))
		want = mac.Sum(nil)
	}
	if !hmac.Equal(all[2], want) || json.Unmarshal(all[1], &c) != nil {
		return c, errState
	}
	return c, nil
}

// unsignByName reads a token under the key that it names; with a fault one that is unknown
// is empty.
func (s *Server) unsignByName(token string) (c claims, err error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return c, errState
	}
	text := parts[0] + "." + parts[1]
	want := s.tag(text)
	if parts[1] != s.keyID() {
		if !s.has("unknown keys are empty") {
			return c, errState
		}
		mac := hmac.New(sha256.New, nil)
		mac.Write([]byte(text))
		want = mac.Sum(nil)
	}
	got, err := strict(parts[2])
	raw, also := strict(parts[0])
	if err != nil || also != nil || !hmac.Equal(got, want) || json.Unmarshal(raw, &c) != nil {
		return claims{}, errState
	}
	return c, nil
}

// strict decodes base64url of one spelling.
func strict(text string) ([]byte, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err == nil && base64.RawURLEncoding.EncodeToString(raw) != text {
		return nil, errState
	}
	return raw, err
}

// refusal is the answer to a bad state.
func (s *Server) refusal(err error) *failure {
	text := "Invalid requestState"
	switch {
	case s.has("refusals differ", "refusals tell the tag", "refusals tell the key"):
		text = err.Error()
	case s.has("refusals tell"):
		text = `Traceback (most recent call last): File "/srv/app/state.py", line 12, in open`
	case s.has("refusals name exceptions"):
		text = "invalid state: ValueError('not enough values to unpack')"
	}
	fail := &failure{code: -32602, message: text, status: 200}
	if s.has("another status elsewhere") && errors.Is(err, errElsewhere) {
		fail.status = 403
	}
	if s.has("refusals tell in a header") {
		fail.header = err.Error()
	}
	if s.has("refusals tell in a number") {
		fail.number = len(err.Error())
	}
	if s.has("expired states told apart") && errors.Is(err, errExpired) {
		fail.message += " "
	}
	return fail
}
