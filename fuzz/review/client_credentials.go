package review

import (
	"bytes"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"sealab/internal/rawmcp"
)

// hostHeaders are the headers of every request: the host, and who asks.
func (c *client) hostHeaders(as user) []rawmcp.Header {
	h := []rawmcp.Header{{Name: "Host", Value: c.http.Host()}, {Name: "User-Agent", Value: "sealab-review"}, {Name: "Connection", Value: "close"}}
	return append(h, c.target.credentials(as)...)
}

// credentials are the headers of a user.
func (t Target) credentials(as user) []rawmcp.Header {
	switch as {
	case second:
		return t.Second
	case stranger:
		var h []rawmcp.Header
		for _, given := range t.Second {
			h = append(h, rawmcp.Header{Name: given.Name, Value: madeUp(given.Value)})
		}
		return h
	case nobody:
		return nil
	case foreigner:
		return t.Foreign
	default:
		return t.Headers
	}
}

// unknownCredential is one that no server knows.
const unknownCredential = "sealab-nobody-has-this-credential"

// madeUp replaces a credential and keeps its scheme.
func madeUp(value string) string {
	if scheme, _, ok := strings.Cut(value, " "); ok {
		return scheme + " " + unknownCredential
	}
	return unknownCredential
}

// masked returns a text with the name of its flag in the place of each
// credential.
func (t Target) masked(text []byte) []byte {
	for i, headers := range [][]rawmcp.Header{t.Headers, t.Second, t.Foreign} {
		for _, h := range headers {
			if h.Value == "" {
				continue
			}
			text = bytes.ReplaceAll(text, []byte(h.Value), []byte([]string{"<header A>", "<header B>", "<header C>"}[i]))
			if _, secret, ok := strings.Cut(h.Value, " "); ok && len(secret) >= 4 {
				text = bytes.ReplaceAll(text, []byte(secret), []byte("<credential>"))
				text = bytes.ReplaceAll(text, []byte(url.QueryEscape(secret)), []byte("<credential>"))
			}
		}
	}
	for _, v := range t.environment {
		text = bytes.ReplaceAll(text, []byte(v.Value), []byte("<environment "+v.Name+">"))
	}
	return text
}

// secretVariable is the name of a variable of the environment that may be a secret. The
// value of PATH shows in a list of all variables.
var secretVariable = regexp.MustCompile(`(?i)secret|passw|token|key|credential|^PATH$`)

// minVariable is the length of the shortest value of the environment that is looked for.
const minVariable = 8

// secretsOf are the variables of an environment, and those that a command gives, that may
// be secrets.
func secretsOf(environment, command []string) []rawmcp.Header {
	var all []rawmcp.Header
	for _, word := range slices.Concat(environment, command) {
		name, value, ok := strings.Cut(word, "=")
		if ok && secretVariable.MatchString(name) && len(value) >= minVariable && (name == "PATH" || !strings.HasPrefix(value, "/")) {
			all = append(all, rawmcp.Header{Name: name, Value: value})
		}
	}
	return all
}

// variableIn returns the name of the variable whose value stands in a text and not in the
// request; "" if none does.
func (t Target) variableIn(text, sent string) string {
	for _, v := range t.environment {
		if strings.Contains(text, v.Value) && !strings.Contains(sent, v.Value) {
			return v.Name
		}
	}
	return ""
}
