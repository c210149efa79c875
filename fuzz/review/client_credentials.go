package review

import (
	"bytes"
	"net/url"
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
	return text
}
