package client

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
	"sealab/internal/rawmcp"
)

// A Target is the server under review: a URL, or a command.
type Target struct {
	URL     string
	Command []string
	Headers []rawmcp.Header // credentials of the first user
	Second  []rawmcp.Header // credentials of the second user
	Foreign []rawmcp.Header // credentials that were issued for another server
	Also    string          // URL of a second instance

	environment []rawmcp.Header // environment variables that may be secrets
}

// postHeaders returns the headers of every POST: the host, the credentials of a user, and the types of the
// bodies.
func (c *Client) postHeaders(as User) []rawmcp.Header {
	h := []rawmcp.Header{{Name: "Host", Value: c.HTTP.Host()}, {Name: "User-Agent", Value: "sealab-review"}, {Name: "Connection", Value: "close"}}
	return append(append(h, c.Target.credentials(as)...),
		rawmcp.Header{Name: "Content-Type", Value: "application/json"}, rawmcp.Header{Name: "Accept", Value: "application/json, text/event-stream"})
}

// credentials returns the credentials of a user.
func (t Target) credentials(as User) []rawmcp.Header {
	switch as {
	case SecondUser:
		return t.Second
	case Stranger:
		var h []rawmcp.Header
		for _, given := range t.Second {
			h = append(h, rawmcp.Header{Name: given.Name, Value: MadeUpCredential(given.Value)})
		}
		return h
	case Nobody:
		return nil
	case Foreigner:
		return t.Foreign
	default:
		return t.Headers
	}
}

// UnknownCredential is a made-up credential.
const UnknownCredential = "sealab-nobody-has-this-credential"

// MadeUpCredential replaces a credential and keeps its authentication scheme.
func MadeUpCredential(value string) string {
	if scheme, _, ok := strings.Cut(value, " "); ok {
		return scheme + " " + UnknownCredential
	}
	return UnknownCredential
}

// maskedCredential and maskedHeader replace the credentials of the first user.
const (
	maskedCredential = "<credential>"
	maskedHeader     = "<header A>"
)

// Masked returns a text with each credential replaced by the name of its flag.
func (t Target) Masked(text []byte) []byte {
	for i, headers := range [][]rawmcp.Header{t.Headers, t.Second, t.Foreign} {
		for _, h := range headers {
			if h.Value == "" {
				continue
			}
			text = bytes.ReplaceAll(text, []byte(h.Value), []byte([]string{maskedHeader, "<header B>", "<header C>"}[i]))
			if _, secret, ok := strings.Cut(h.Value, " "); ok && len(secret) >= 4 {
				text = bytes.ReplaceAll(text, []byte(secret), []byte(maskedCredential))
				text = bytes.ReplaceAll(text, []byte(url.QueryEscape(secret)), []byte(maskedCredential))
			}
		}
	}
	for _, v := range t.environment {
		text = bytes.ReplaceAll(text, []byte(v.Value), []byte("<environment "+v.Name+">"))
	}
	return text
}

// secretVariable matches the names of environment variables that may be secrets. PATH is included
// because it shows that an error lists all variables.
var secretVariable = regexp.MustCompile(`(?i)secret|passw|token|key|credential|^PATH$`)

// minVariable is the length of the shortest environment value that is masked, in bytes.
const minVariable = 8

// WithEnvironment returns the target with the secrets of an environment, which Masked replaces as
// well.
func (t Target) WithEnvironment(environment []string) Target {
	t.environment = secretsOf(environment, t.Command)
	return t
}

// secretsOf returns the variables of an environment, and assignments in a command, that may be
// secrets.
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

// variableIn returns the name of a variable whose value occurs in a text but not in the request, or
// "".
func (t Target) variableIn(text, sent string) string {
	for _, v := range t.environment {
		if strings.Contains(text, v.Value) && !strings.Contains(sent, v.Value) {
			return v.Name
		}
	}
	return ""
}

// commonNames are words of credentials that name no user, or that occur in texts for other reasons.
var commonNames = []string{"admin", "user", "root", "test", "tester", "guest", "demo", "service", "client", "owner", "token", "tok", "key", "api", "bearer",
	"secret", "dev", "none", "default", "system"}

// NameOf returns the name of a user according to the credential: the subject of a JWT, or the only word of a
// credential such as alice-token that is not a common one. It returns "" if the credential has no such name.
func NameOf(target Target, as User) string {
	target.Headers = target.credentials(as)
	_, name := target.Authorization()
	if parts := strings.Split(name, "."); len(parts) == 3 {
		claims, _ := base64.RawURLEncoding.DecodeString(parts[1])
		name = ""
		_ = json.Unmarshal(jsondoc.Members(claims)["sub"], &name) // "" if there is no subject
	}
	words := slices.DeleteFunc(strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' || r == ':' }), func(w string) bool {
		return slices.Contains(commonNames, strings.ToLower(w))
	})
	if len(words) != 1 || len(words[0]) < 3 || len(words[0]) > 20 || strings.Trim(strings.ToLower(words[0]), "abcdefghijklmnopqrstuvwxyz") != "" {
		return ""
	}
	return words[0]
}

// Authorization returns the scheme and the credential of the Authorization header.
func (t Target) Authorization() (scheme, secret string) {
	for _, h := range t.Headers {
		if before, after, ok := strings.Cut(h.Value, " "); ok && strings.EqualFold(h.Name, "Authorization") {
			return before, after
		}
	}
	return "", ""
}

// minSecret is the length of the shortest credential with digits that RepeatedIn looks for. A
// shorter one may be the name of a user.
const minSecret = 12

// UsersCredential describes the credential of the user.
const UsersCredential = "the credential of the user"

// RepeatedIn reports whether a text contains the credential in the Authorization header of the first user.
func (t Target) RepeatedIn(text string) bool {
	scheme, secret := t.Authorization()
	values := []string{scheme + " " + secret}
	if len(secret) >= tokens.MinCoded || len(secret) >= minSecret && strings.ContainsAny(secret, "0123456789") {
		values = append(values, secret)
	}
	return secret != "" && slices.ContainsFunc(values, func(v string) bool {
		forms := []string{v, hex.EncodeToString([]byte(v)), base64.RawStdEncoding.EncodeToString([]byte(v)), base64.RawURLEncoding.EncodeToString([]byte(v))}
		return slices.ContainsFunc(forms, func(form string) bool { return strings.Contains(text, form) })
	})
}

// A Claim is a set of members that name a user and are added to every request.
type Claim struct {
	Place string // _meta, params or query
	Value string
	Names []string
}

// body returns a request body with the members of the claim.
func (x *Claim) body(body []byte) []byte {
	if x == nil || x.Place == "query" {
		return body
	}
	var all strings.Builder
	for _, name := range x.Names {
		fmt.Fprintf(&all, "%s:%s,", jsondoc.Quote(name), jsondoc.Quote(x.Value))
	}
	begin := `"` + x.Place + `":{`
	return []byte(strings.Replace(string(body), begin, begin+all.String(), 1))
}

// path returns a path with the members of the claim as query parameters.
func (x *Claim) path(path string) string {
	if x == nil || x.Place != "query" {
		return path
	}
	query := url.Values{}
	for _, name := range x.Names {
		query.Set(name, x.Value)
	}
	return withQuery(path, query.Encode())
}
