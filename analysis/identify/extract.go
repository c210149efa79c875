package identify

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// A Found token is a text that may be a token, with the place where it was found.
type Found struct{ Token, From string }

// Extract returns the texts of an input that may be tokens. From a Cookie or Set-Cookie header it returns
// the cookies. From an HTTP archive (HAR 1.2) it returns the cookies, the bearer tokens and the
// requestState members of bodies. From any other JSON text it returns the requestState members. Otherwise
// it returns the input itself; see pastedToken.
func Extract(input []byte) ([]Found, error) {
	text := strings.TrimSpace(string(input))
	var har archive
	if strings.HasPrefix(text, "{") {
		if err := json.Unmarshal([]byte(text), &har); err != nil {
			return nil, fmt.Errorf("reading the HTTP archive: %w", err)
		}
		found := har.tokens()
		if len(har.Log.Entries) == 0 {
			found = requestStates(text) // a message of the Model Context Protocol
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("the JSON has no cookie, bearer token or requestState in %d entries of an HTTP archive", len(har.Log.Entries))
		}
		return found, nil
	}
	for _, header := range []string{"cookie:", "set-cookie:"} {
		if len(text) > len(header) && strings.EqualFold(text[:len(header)], header) {
			return headerCookies(text[len(header):]), nil
		}
	}
	text = pastedToken(text)
	if name, _, ok := strings.Cut(text, "="); ok && cookieName(name) && strings.Contains(text, "; ") {
		return headerCookies(text), nil
	}
	if text == "" {
		return nil, fmt.Errorf("the input is empty; want a token, a cookie header or an HTTP archive")
	}
	return []Found{{Token: text}}, nil
}

// pastedToken extracts the token from copied text: it removes an Authorization header and its scheme, quotes,
// line breaks and URL encoding.
func pastedToken(text string) string {
	for _, before := range []string{"authorization:", "bearer ", "dpop "} {
		if len(text) > len(before) && strings.EqualFold(text[:len(before)], before) {
			text = strings.TrimSpace(text[len(before):])
		}
	}
	for _, quote := range []string{`"`, "'", "`"} {
		if inner, ok := strings.CutPrefix(text, quote); ok && strings.HasSuffix(inner, quote) {
			text = strings.TrimSuffix(inner, quote)
		}
	}
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	text = strings.Join(lines, "")
	if plain, err := url.PathUnescape(text); err == nil && !strings.HasPrefix(text, "s%3A") {
		text = plain
	}
	return text
}

// minToken is the minimum length of a cookie's value to be considered.
const minToken = 20

func cookieName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r) })
}

// headerCookies returns the sufficiently long cookies of a header.
func headerCookies(header string) []Found {
	var found []Found
	for pair := range strings.SplitSeq(header, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		found = appendCookie(found, name, value)
	}
	return found
}

func appendCookie(found []Found, name, value string) []Found {
	value = strings.Trim(value, `"`)
	if plain, err := url.PathUnescape(value); err == nil {
		value = plain
	}
	if len(value) < minToken {
		return found
	}
	return append(found, Found{value, "cookie " + name})
}

// An archive is the part of HAR 1.2 that may contain tokens.
type archive struct {
	Log struct {
		Entries []struct {
			Request struct {
				message
				PostData struct{ Text string } `json:"postData"`
			} `json:"request"`
			Response struct {
				message
				Content struct{ Text string } `json:"content"`
			} `json:"response"`
		} `json:"entries"`
	} `json:"log"`
}

type message struct {
	Cookies []struct{ Name, Value string } `json:"cookies"`
	Headers []struct{ Name, Value string } `json:"headers"`
}

func (a *archive) tokens() []Found {
	var all []Found
	for _, e := range a.Log.Entries {
		all = append(all, e.Request.tokens()...)
		all = append(all, requestStates(e.Request.PostData.Text)...)
		all = append(all, e.Response.tokens()...)
		all = append(all, requestStates(e.Response.Content.Text)...)
	}
	seen := map[Found]bool{}
	return slices.DeleteFunc(all, func(f Found) bool {
		again := seen[f]
		seen[f] = true
		return again
	})
}

func (m *message) tokens() []Found {
	var found []Found
	for _, c := range m.Cookies {
		found = appendCookie(found, c.Name, c.Value)
	}
	for _, h := range m.Headers {
		scheme, value, _ := strings.Cut(h.Value, " ")
		if strings.EqualFold(h.Name, "authorization") && strings.EqualFold(scheme, "bearer") {
			found = append(found, Found{value, "header Authorization"})
		}
	}
	return found
}

// requestStates returns the values of requestState members of a JSON body, at any depth.
func requestStates(body string) []Found {
	var v any
	if json.Unmarshal([]byte(body), &v) != nil {
		return nil
	}
	return appendStates(nil, v)
}

func appendStates(found []Found, v any) []Found {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if text, ok := v[name].(string); ok && name == "requestState" {
				found = append(found, Found{text, "member requestState"})
				continue
			}
			found = appendStates(found, v[name])
		}
	case []any:
		for _, inner := range v {
			found = appendStates(found, inner)
		}
	}
	return found
}
