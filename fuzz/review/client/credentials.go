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

// A Target is the server that is reviewed: a URL, or the words of a command.
type Target struct {
	URL     string
	Command []string
	Headers []rawmcp.Header // credentials of the first user
	Second  []rawmcp.Header // credentials of the second
	Foreign []rawmcp.Header // credentials that were issued for another server
	Also    string          // URL of a second instance

	environment []rawmcp.Header // variables of a command that may be secrets
}

// hostHeaders are the headers of every request: the host, and who asks.
func (c *Client) hostHeaders(as User) []rawmcp.Header {
	h := []rawmcp.Header{{Name: "Host", Value: c.HTTP.Host()}, {Name: "User-Agent", Value: "sealab-review"}, {Name: "Connection", Value: "close"}}
	return append(h, c.Target.credentials(as)...)
}

// credentials are the headers of a user.
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

// UnknownCredential is one that no server knows.
const UnknownCredential = "sealab-nobody-has-this-credential"

// MadeUpCredential replaces a credential and keeps its scheme.
func MadeUpCredential(value string) string {
	if scheme, _, ok := strings.Cut(value, " "); ok {
		return scheme + " " + UnknownCredential
	}
	return UnknownCredential
}

// Masked returns a text with the name of its flag in the place of each
// credential.
func (t Target) Masked(text []byte) []byte {
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

// WithEnvironment returns the target with the variables of its environment that may be
// secrets: they are masked as credentials are.
func (t Target) WithEnvironment(environment []string) Target {
	t.environment = secretsOf(environment, t.Command)
	return t
}

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

// commonNames are names of users that texts may hold for other reasons.
var commonNames = []string{"admin", "user", "root", "test", "tester", "guest", "demo", "service", "client", "owner", "token", "none", "default", "system"}

// NameOf is the name of a user, as the credential tells it: the subject of a JWT, or a
// credential that is a word; "" if it does not.
func NameOf(target Target, as User) string {
	target.Headers = target.credentials(as)
	_, secret := target.Authorization()
	name := secret
	if parts := strings.Split(secret, "."); len(parts) == 3 {
		claims, _ := base64.RawURLEncoding.DecodeString(parts[1])
		name = ""
		_ = json.Unmarshal(jsondoc.Members(claims)["sub"], &name) // no subject: ""
	}
	if len(name) < 3 || len(name) > 20 || strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz") != "" || slices.Contains(commonNames, strings.ToLower(name)) {
		return ""
	}
	return name
}

// Authorization is the Authorization header: its scheme, and the credential.
func (t Target) Authorization() (scheme, secret string) {
	for _, h := range t.Headers {
		if before, after, ok := strings.Cut(h.Value, " "); ok && strings.EqualFold(h.Name, "Authorization") {
			return before, after
		}
	}
	return "", ""
}

// minSecret is the length of the shortest credential with digits in it that is looked for:
// a shorter one may be the name of a user.
const minSecret = 12

// UsersCredential describes the credential of the user.
const UsersCredential = "the credential of the user"

// RepeatedIn reports whether a text has a credential of the first user.
func (t Target) RepeatedIn(text string) bool {
	_, secret := t.Authorization()
	for _, h := range t.Headers {
		values := []string{h.Value}
		if len(secret) >= tokens.MinCoded || len(secret) >= minSecret && strings.ContainsAny(secret, "0123456789") {
			values = append(values, secret)
		}
		for _, v := range values {
			for _, form := range []string{v, hex.EncodeToString([]byte(v)), base64.StdEncoding.EncodeToString([]byte(v))} {
				if strings.EqualFold(h.Name, "Authorization") && strings.Contains(v, " ") && strings.Contains(text, form) || v == secret && strings.Contains(text, form) {
					return true
				}
			}
		}
	}
	return false
}

// A Claim are members of every request that name a user.
type Claim struct {
	Place string // _meta, params or query
	Value string
	Names []string
}

// body adds the members to a request.
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

// path adds the members to the path of a request.
func (x *Claim) path(path string) string {
	if x == nil || x.Place != "query" {
		return path
	}
	query := url.Values{}
	for _, name := range x.Names {
		query.Set(name, x.Value)
	}
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	return path + separator + query.Encode()
}
