package mcp

import (
	"bytes"
	"compress/flate"
	"crypto/hmac"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"time"

	"sealab/internal/broken/skeleton"
)

// errNoMembers is the error of a reader that fails on an object without members.
var errNoMembers = fmt.Errorf("%w: no members", errState)

// open returns the claims of a token that is valid for a place.
func (s *Server) open(token string, p boundRequest) (claims, error) {
	c, err := s.unseal(token, p)
	if s.has("used tokens by their text") {
		c.ID = token
	}
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
	case !s.has("state in the clear", "counted handles") && c.Bind != s.digest(p) && !s.unboundEmpty(c, p) && !s.isOfPlan(c, "states of plans not bound") && !s.continuesOfUser(c, p) && !(p.unanswered && (s.ownerOf(c, p) != "" || s.has("questions repeated for any call"))):
		s.useElsewhere(c, p)
		if s.has("refusals quote the state") {
			return c, fmt.Errorf("%w of %s", errElsewhere, c.Env)
		}
		return c, fmt.Errorf("%w: of another request", errElsewhere)
	case c.Open != s.withdrawals(p) && s.offers("retract"):
		return c, fmt.Errorf("%w: withdrawn", errState)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used[c.ID] {
		return c, fmt.Errorf("%w: used", errState)
	}
	return c, nil
}

// useElsewhere uses up a token that another request presents, with a fault. To use up one of the same user
// is a choice of some servers.
func (s *Server) useElsewhere(c claims, p boundRequest) {
	own := p
	own.user = "bob"
	if p.user == "bob" {
		own.user = "alice"
	}
	byAnother := c.Bind == s.digest(own)
	if s.has("states of others used up") && byAnother || s.has("states of other arguments used up") && !byAnother {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.used[c.ID] = true
	}
}

// redeem marks a token as used. It returns an error if the token was used before.
func (s *Server) redeem(c claims) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used[c.ID] {
		return errState
	}
	s.used[c.ID] = c.ID != "" && !s.has("used twice", "used twice at once") && !s.isOfPlan(c, "states of plans used twice")
	if s.has("used twice at once") {
		// Other requests in flight check the token before it is marked.
		time.AfterFunc(raceWindow, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.used[c.ID] = true
		})
	}
	return nil
}

// raceWindow is the time between check and mark in a store without atomic operations.
const raceWindow = 200 * time.Millisecond

func (s *Server) unseal(token string, p boundRequest) (claims, error) {
	var c claims
	switch {
	case token == "{}" && s.has("empty objects are faults"):
		return c, errNoMembers
	case s.has("state in the clear"):
		if err := json.Unmarshal([]byte(token), &c); err != nil {
			return c, fmt.Errorf("%w: malformed", errState)
		}
		return c, nil
	case s.has("states as texts"):
		return s.fromText(token)
	case s.has(keyPairChoices...):
		return s.fromJWE(token, p)
	case s.has("counted handles", "hashed handles"):
		s.mu.Lock()
		defer s.mu.Unlock()
		if c, ok := s.held[token]; ok {
			return c, nil
		}
		return c, errState
	case s.has(signingFaults...):
		return s.unsign(token)
	case s.has(fieldChoices...):
		return s.fromFields(token, p)
	case len(token) > 8<<10 && s.has("long states unverified"):
		return claims{Step: "confirm", Env: "all", Bind: s.digest(p), Exp: s.Clock.Now().Add(TTL).Unix()}, nil
	}
	if s.has("unknown keys end the server") {
		id, rest, ok := strings.Cut(token, ".")
		if token = rest; ok && len(id) == len(s.keyID()) && id != s.keyID() {
			panic(http.ErrAbortHandler)
		}
	}
	if s.has("blocks encrypted alone", "blocks chained without a nonce", "blocks chained without a tag") {
		if raw, err := s.unblocks(token); err != nil || json.Unmarshal(raw, &c) != nil {
			return c, errState
		}
		if formsByStep[c.Step] == "" {
			return c, errNoMembers
		}
		return c, nil
	}
	if s.has("states in parts") {
		return s.fromParts(token)
	}
	raw, err := decodeStrict(token)
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
	if s.has("public keys in headers", "public keys in headers, unread", "public keys in a set", "public keys as secrets") {
		return s.unsignWithKey(token)
	}
	if s.has("lists of tags") {
		return s.unsignByList(token)
	}
	if s.has("files of keys named") {
		return s.unsignByFile(token)
	}
	if s.has("names of keys in tokens") {
		return s.unsignByName(token)
	}
	if s.has("versions in tokens") {
		return s.unsignByVersion(token)
	}
	if s.has("tags in front") {
		tag, text, ok = strings.Cut(token, "!")
	}
	if i := strings.LastIndex(token, "_"); i > 0 && s.has("tags behind an underscore") {
		text, tag, ok = token[:i], strings.NewReplacer("+", "-", "/", "_").Replace(token[i+1:]), !strings.Contains(token[i:], "-")
	}
	if !ok && !s.has("tag not compared") {
		return c, fmt.Errorf("%w: malformed", errState)
	}
	read := decodeStrict
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
	case s.has("last byte of the tag unread") && err == nil && len(mac) == len(want):
		ok = hmac.Equal(mac[:len(mac)-1], want[:len(want)-1])
	default:
		ok = err == nil && hmac.Equal(mac, want)
	}
	switch {
	case ok:
	case s.has("refusals tell the tag"):
		return c, fmt.Errorf("%w: tag: want %x, got %x", errState, want, mac)
	case s.has("refusals tell the key"):
		return c, fmt.Errorf("%w: not under the key %s", errState, base64.StdEncoding.EncodeToString(s.Secret))
	default:
		return c, fmt.Errorf("%w: not authentic", errState)
	}
	if s.has("names verified and read") {
		text = membersIn(text, func(name string) bool { return name == strings.ToLower(name) })
	}
	if c, err = readClaims(text); err != nil {
		return c, fmt.Errorf("%w: malformed", errState)
	}
	return c, nil
}

// unsignByHeader verifies a JWT. If its header contains a key, it uses that key.
func (s *Server) unsignByHeader(token string) (c claims, err error) {
	var head struct {
		Alg string
		JWK struct{ K string }
		Key string
	}
	text, parts, err := splitJWS(token)
	if err != nil || json.Unmarshal(parts[0], &head) != nil || head.Alg != "HS256" {
		return c, errState
	}
	want := s.tag(text)
	if key, err := decodeStrict(head.JWK.K + head.Key); err == nil && len(key) > 0 {
		want = skeleton.HMAC(key, []byte(text))
	}
	if !hmac.Equal(parts[2], want) || json.Unmarshal(parts[1], &c) != nil {
		return c, errState
	}
	return c, nil
}

// splitJWS returns the signed text of a compact JWS (RFC 7515), and its header, payload and signature.
func splitJWS(token string) (text string, parts [3][]byte, err error) {
	texts := strings.Split(token, ".")
	if len(texts) != len(parts) {
		return "", parts, errState
	}
	for i, part := range texts {
		if parts[i], err = decodeStrict(part); err != nil {
			return "", parts, errState
		}
	}
	return texts[0] + "." + texts[1], parts, nil
}

// olderKeyID names a key that is no longer used.
const olderKeyID = "2026-10"

// unsignByName verifies a token under the key that it names. With a fault, an unknown or older key is empty.
func (s *Server) unsignByName(token string) (c claims, err error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return c, errState
	}
	text := parts[0] + "." + parts[1]
	want := s.tag(text)
	if parts[1] != s.keyID() {
		wiped := parts[1] == olderKeyID && s.has("older keys are wiped")
		if !wiped && !s.has("unknown keys are empty") {
			return c, errState
		}
		want = skeleton.HMAC(nil, []byte(text))
	}
	if got, err := decodeStrict(parts[2]); err != nil || !hmac.Equal(got, want) {
		return c, errState
	}
	return readClaims(parts[0])
}

// unsignByList verifies a JWS in JSON, whose signatures must all be good. With a fault there may be none.
func (s *Server) unsignByList(token string) (c claims, err error) {
	var jws struct {
		Payload    string
		Signatures []struct{ Signature string }
	}
	if json.Unmarshal([]byte(token), &jws) != nil || len(jws.Signatures) == 0 && !s.has("empty lists of tags") {
		return c, errState
	}
	for _, given := range jws.Signatures {
		if mac, err := decodeStrict(given.Signature); err != nil || !hmac.Equal(mac, s.tag(jws.Payload)) {
			return c, errState
		}
	}
	return readClaims(jws.Payload)
}

// readClaims returns the claims in a verified segment.
func readClaims(segment string) (c claims, err error) {
	raw, err := decodeStrict(segment)
	if err != nil || json.Unmarshal(raw, &c) != nil {
		return claims{}, errState
	}
	return c, nil
}

// unsignByFile verifies a JWT under the key in the file that its header names. With a fault the file may be
// outside of the folder of keys.
func (s *Server) unsignByFile(token string) (c claims, err error) {
	var head struct{ Kid string }
	text, parts, err := splitJWS(token)
	if err != nil || json.Unmarshal(parts[0], &head) != nil {
		return c, errState
	}
	files := map[string][]byte{"/srv/keys/" + s.keyID(): s.Secret}
	if s.has("empty files of keys") {
		files["/dev/null"] = nil
	}
	if s.has("files of keys beside the notes") {
		files["/srv/day/today"] = []byte("nothing")
	}
	key, ok := files[path.Join("/srv/keys", head.Kid)]
	if !ok || !hmac.Equal(parts[2], skeleton.HMAC(key, []byte(text))) || json.Unmarshal(parts[1], &c) != nil {
		return claims{}, errState
	}
	return c, nil
}

// unsignByVersion verifies a token that begins with its version. With a fault it accepts a token of
// an older version without a tag.
func (s *Server) unsignByVersion(token string) (c claims, err error) {
	parts := strings.Split(token, ".")
	body := parts[len(parts)-1]
	switch {
	case len(parts) == 2 && parts[0] == "v1" && s.has("older versions unsigned"):
	case len(parts) == 4 && parts[0] == "v2" && parts[1] == s.keyID():
		if got, err := decodeStrict(parts[3]); err != nil || !hmac.Equal(got, s.tag(strings.Join(parts[:3], "."))) {
			return c, errState
		}
		body = parts[2]
	default:
		return c, errState
	}
	return readClaims(body)
}

// decodeStrict decodes base64url and accepts only the canonical encoding.
func decodeStrict(text string) ([]byte, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err == nil && base64.RawURLEncoding.EncodeToString(raw) != text {
		return nil, errState
	}
	return raw, err
}

// refusal returns the error for a bad state.
func (s *Server) refusal(err error) *failure {
	text := "Invalid requestState"
	switch {
	case s.has("refusals differ", "refusals tell the tag", "refusals tell the key"), s.has("refusals quote the state") && errors.Is(err, errElsewhere):
		text = err.Error()
	case s.has("refusals tell"):
		text = `Traceback (most recent call last): File "/srv/app/state.py", line 12, in open`
	case s.has("refusals name exceptions"):
		text = "invalid state: ValueError('not enough values to unpack')"
	}
	fail := &failure{code: -32602, message: text, status: 200}
	if errors.Is(err, errNoMembers) {
		fail.code, fail.status = -32603, 500
	}
	if s.has("refusals with status 500") { // not a fault
		fail.status = 500
	}
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
