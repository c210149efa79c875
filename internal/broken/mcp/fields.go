package mcp

import (
	"crypto/hmac"
	"encoding/base64"
	"encoding/json"
	"net/url"
)

// fieldChoices are the choices for readable states with a field for each argument. Under the first, the
// tag covers the values one behind the other, which is a fault; under the second, the text of the fields.
var fieldChoices = []string{"fields joined without borders", "fields joined with borders"}

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
	all, err := url.ParseQuery(token)
	if err != nil {
		return c, errState
	}
	told := places{all.Get("env"), all.Get("zone")}
	if !hmac.Equal([]byte(token), []byte(s.fields(told, all.Get("rest")))) {
		return c, errState
	}
	if raw, err := decodeStrict(all.Get("rest")); err != nil || json.Unmarshal(raw, &c) != nil {
		return claims{}, errState
	}
	if told != given {
		return c, errElsewhere
	}
	c.Env = told.Env
	return c, nil
}
