package mcp

import (
	"crypto/hmac"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
)

// fieldChoices are the choices for readable states with a field for each argument. Under the first, the
// tag covers the values one behind the other, which is a fault; under the others, the text of the fields.
// Under the last two, the tag may be followed by other fields, which count only with the fault.
var fieldChoices = []string{"fields joined without borders", "fields joined with borders", "fields behind the tag", "fields behind the tag unread"}

// trailed are the choices for fields behind the tag.
var trailed = fieldChoices[2:]

// places are the arguments that have a field in a state.
type places struct {
	Env  string `json:"env"`
	Zone string `json:"zone"`
}

// asFields returns a state with a field for each argument.
func (s *Server) asFields(raw []byte, p boundRequest) string {
	var given places
	_ = json.Unmarshal(p.arguments, &given) // validated before
	return s.fields(given, base64.RawURLEncoding.EncodeToString(raw))
}

// fields returns the text of a state with its tag.
func (s *Server) fields(given places, rest string) string {
	text := "env=" + url.QueryEscape(given.Env) + "&zone=" + url.QueryEscape(given.Zone) + "&rest=" + rest
	covered := text
	if s.has("fields joined without borders") {
		covered = given.Env + given.Zone + rest
	}
	return text + "&tag=" + base64.RawURLEncoding.EncodeToString(s.tag(covered))
}

// fromFields opens a state of [Server.asFields] for a request with the same arguments.
func (s *Server) fromFields(token string, p boundRequest) (c claims, err error) {
	var given places
	_ = json.Unmarshal(p.arguments, &given) // validated before
	covered, behind := s.cutBehindTag(token)
	all, err := url.ParseQuery(covered)
	if err != nil {
		return c, errState
	}
	told := places{all.Get("env"), all.Get("zone")}
	if !hmac.Equal([]byte(covered), []byte(s.fields(told, all.Get("rest")))) {
		return c, errState
	}
	if raw, err := decodeStrict(all.Get("rest")); err != nil || json.Unmarshal(raw, &c) != nil {
		return claims{}, errState
	}
	if told != given {
		return c, errElsewhere
	}
	c.Env = told.Env
	if last := behind["env"]; len(last) > 0 && s.has("fields behind the tag") {
		c.Env = last[len(last)-1]
	}
	return c, nil
}

// cutBehindTag returns the text of a state up to its tag, and the fields behind that.
func (s *Server) cutBehindTag(token string) (covered string, behind url.Values) {
	text, rest, _ := strings.Cut(token, "&tag=")
	tag, more, found := strings.Cut(rest, "&")
	if !found || !s.has(trailed...) {
		return token, nil
	}
	behind, _ = url.ParseQuery(more) // those that can be read
	return text + "&tag=" + tag, behind
}
