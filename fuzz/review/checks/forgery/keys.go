package forgery

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
)

// presentConfusions presents states whose tag is an HMAC under a public key that the server shows.
func presentConfusions(t *review.T) {
	signs := func(o *review.Oracle) bool {
		return slices.ContainsFunc(tokens.Views(o.Token), func(v tokens.View) bool { return v.Object["alg"] != nil })
	}
	if len(t.Findings) > 0 || !slices.ContainsFunc(t.Oracles, signs) {
		return
	}
	keys := shownKeys(t)
	t.ForEachFlow(func(o *review.Oracle) {
		if len(keys) > 0 && signs(o) && !o.Presence {
			presentVariants(t, review.Critical, "a state under a public key of the server", func(token string) []tokens.Variant { return tokens.Confusions(token, keys) })
		}
	})
}

// maxShownKeys is the number of spellings of public keys that are tried.
const maxShownKeys = 24

// shownKeys returns spellings of the public keys in tokens, lists, prompts, resources, results of
// tools that read, and documents at well-known addresses.
func shownKeys(t *review.T) []tokens.PublicKey {
	var all []tokens.PublicKey
	look := func(text []byte) {
		for _, key := range tokens.PublicKeysIn(string(text)) {
			if !slices.ContainsFunc(all, func(k tokens.PublicKey) bool { return bytes.Equal(k.Text, key.Text) }) && len(all) < maxShownKeys {
				all = append(all, key)
			}
		}
	}
	for _, v := range tokens.Views(t.Oracle.Token) {
		look(jsondoc.Object(v.Object))
	}
	for _, document := range keyDocuments(t) {
		look(document)
	}
	for _, call := range append(t.ReadingCalls(), client.Call{Method: "server/discover"}) {
		look(t.Call(call).Result)
	}
	return all
}

// keyPaths are paths of sets of keys, and of metadata that names one (RFC 8414, RFC 9728).
var keyPaths = []string{"/.well-known/jwks.json", "/jwks.json", "/.well-known/jwks", "/jwks", "/.well-known/oauth-authorization-server",
	"/.well-known/openid-configuration", "/.well-known/oauth-protected-resource"}

// keyDocuments returns the documents of the server at keyPaths, and the sets of keys that they name.
func keyDocuments(t *review.T) [][]byte {
	if t.Client.HTTP == nil {
		return nil
	}
	var all [][]byte
	own, _, _ := strings.Cut(t.Client.HTTP.Path(), "?")
	paths := slices.Clone(keyPaths)
	for _, path := range keyPaths {
		paths = append(paths, strings.TrimSuffix(own, "/")+path, path+strings.TrimSuffix(own, "/"))
	}
	for _, path := range paths {
		document := documentAt(t, path)
		all = append(all, document)
		set, _ := jsondoc.Text(jsondoc.Members(document)["jwks_uri"]) // the member is optional
		if u, err := url.Parse(set); err == nil && u.Host == t.Client.HTTP.Host() && len(all) <= 2*len(paths) {
			all = append(all, documentAt(t, u.RequestURI()))
		}
	}
	return all
}

// documentAt returns the document at a path, or nil.
func documentAt(t *review.T, path string) []byte {
	e := t.Document(path, "*/*")
	if e.Status != 200 {
		return nil
	}
	return e.Body
}

// presentFileKeys presents states whose key ID is the path of a file that the server shows as a
// resource, signed under the text of that file.
func presentFileKeys(t *review.T) {
	namesKey := func(o *review.Oracle) bool {
		return len(tokens.UnderKeys(o.Token, map[string][]string{"sealab": {""}})) > 0
	}
	if len(t.Findings) > 0 || !slices.ContainsFunc(t.Oracles, namesKey) {
		return
	}
	files := shownFiles(t)
	t.ForEachFlow(func(o *review.Oracle) {
		if len(files) > 0 && namesKey(o) && !o.Presence {
			presentVariants(t, review.Critical, "a state under a file that the server shows", func(token string) []tokens.Variant { return tokens.UnderKeys(token, files) })
		}
	})
}

// shownFiles returns the texts of resources, by the paths that their files may have from a folder of
// keys.
func shownFiles(t *review.T) map[string][]string {
	files := map[string][]string{}
	all := t.Report.Server.Resources
	for _, resource := range all[:min(len(all), review.MaxTestedCalls)] {
		a := t.Call(client.ReadResource(resource.URI))
		for _, text := range contentsOf(a.Result) {
			for _, id := range pathsFromKeys(resource) {
				files[id] = append(files[id], text)
				if trimmed := strings.TrimSpace(text); trimmed != text {
					files[id] = append(files[id], trimmed)
				}
			}
		}
	}
	return files
}

// contentsOf returns the texts and decoded blobs in the result of resources/read.
func contentsOf(result json.RawMessage) []string {
	var all []string
	var contents []struct{ Text, Blob string }
	_ = json.Unmarshal(jsondoc.Members(result)["contents"], &contents) // empty if it is of another type
	for _, c := range contents {
		blob, _ := base64.StdEncoding.DecodeString(c.Blob) // empty if it is malformed
		if text := c.Text + string(blob); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// fileName matches names of resources that may be names of files.
var fileName = regexp.MustCompile(`^[\w.-]+$`)

// pathsFromKeys returns the paths that the file of a resource may have from a folder of keys: in it,
// beside it, and one level up.
func pathsFromKeys(resource client.Offer) []string {
	names := []string{resource.Name}
	u, err := url.Parse(resource.URI)
	if err == nil {
		place := strings.Trim(u.Host+u.Path, "/")
		names = append(names, path.Base(place), place)
	}
	var all []string
	for _, name := range names {
		if fileName.MatchString(path.Base(name)) {
			all = append(all, name, "../"+name, "../../"+name)
		}
	}
	if err == nil && u.Scheme == "file" {
		all = append(all, u.Path, tokens.AtRoot+strings.Trim(u.Path, "/"))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// presentEncrypted encrypts states for the public keys that the server shows, if its own states are
// encrypted in this way. It records a finding if one is accepted and the same content for another key is
// refused, twice.
func presentEncrypted(t *review.T) {
	for _, o := range t.Oracles {
		for _, stage := range slices.Backward(o.Flow.Stages()) {
			token, question, err := t.Client.Mint(t.Context, stage, o.User)
			header := tokens.PublicKeyHeader(token)
			if err != nil || header == nil || len(t.Findings) > 0 {
				continue
			}
			begin, reason := t.NewOracle(t.Context, stage, o.User)
			if reason != "" || !begin.Bad.Refused() || begin.Blind() {
				t.Skip("the state is encrypted for a public key, and nothing tells a good state of the first round: %s", reason)
				continue
			}
			presentEncryptedFor(t, begin, header, question)
		}
	}
}

// presentEncryptedFor presents states with likely contents for the keys that the server shows.
func presentEncryptedFor(t *review.T, o *review.Oracle, header map[string]json.RawMessage, question client.Answer) {
	for _, key := range shownKeys(t) {
		if key.Name != "DER" {
			continue
		}
		for _, claims := range likelyClaims(t, o, question) {
			present := func(der []byte) (string, client.Answer) {
				text := tokens.Encrypted(header, der, jsondoc.Object(claims))
				if text == "" {
					return "", client.Answer{}
				}
				return text, t.Tried(t.Client.Present(t.Context, o.Flow, jsondoc.Quote(text), o.User))
			}
			text, one := present(key.Text)
			if text == "" || o.Verdict(one) != review.Accepted {
				continue
			}
			_, other := present(tokens.OwnKeyLike(key.Text))
			_, two := present(key.Text)
			if o.Verdict(other) != review.Refused || o.Verdict(two) != review.Accepted {
				continue
			}
			t.Refute(review.Finding{Case: "encrypted for a shown key", Severity: review.Critical, Issue: "a state that a client encrypts for a public key of the server is accepted: nothing in it is signed",
				Evidence: fmt.Sprintf("content %s, %s -> %v; for another key -> %v", jsondoc.Object(claims), client.Short(text, 160), one, other), Want: "refused", Got: one.Class(), Flow: &o.Flow})
			return
		}
	}
}

// Claims that states usually have.
var usualClaims = []string{"sub", "user", "uid", "userId", "tool", "target", "name", "method", "exp", "expires", "iat", "step", "round", "args", "arguments"}

// Kinds of claims, by their names and by what documents say of them.
var (
	userClaim = regexp.MustCompile(`(?i)^(sub|uid|owner|principal|subject)$|user`)
	toolClaim = regexp.MustCompile(`(?i)tool|target|^name$|prompt|resource`)
	timeClaim = regexp.MustCompile(`(?i)^exp|expir|until|valid|seconds`)
)

// claimLife is the lifetime of a state that a client makes.
const claimLife = 5 * time.Minute

// likelyClaims returns contents of a state of the first round, one for each name that the user may have. They
// have the usual claims, the arguments, and the claims of documents whose meaning is clear.
func likelyClaims(t *review.T, o *review.Oracle, question client.Answer) []map[string]json.RawMessage {
	described := map[string]string{}
	for _, name := range usualClaims {
		described[name] = ""
	}
	for _, call := range t.ReadingCalls() {
		for name, text := range tokens.MembersIn(string(t.Call(call).Result)) {
			described[name] = text
		}
	}
	now := t.Client.Clock.Now()
	var all []map[string]json.RawMessage
	for _, user := range userNames(t) {
		claims := map[string]json.RawMessage{}
		for name, text := range described {
			switch {
			case userClaim.MatchString(name), userClaim.MatchString(text):
				claims[name] = jsondoc.Quote(user)
			case timeClaim.MatchString(name), timeClaim.MatchString(text):
				claims[name] = fmt.Append(nil, now.Add(claimLife).Unix())
			case toolClaim.MatchString(name), text == o.Flow.Target:
				claims[name] = jsondoc.Quote(o.Flow.Target)
			case name == "method":
				claims[name] = jsondoc.Quote(o.Flow.Method)
			case name == "iat":
				claims[name] = fmt.Append(nil, now.Unix())
			case name == "step":
				claims[name] = jsondoc.Quote(strings.Join(jsondoc.SortedKeys(question.Questions), ","))
			case name == "round":
				claims[name] = json.RawMessage("1")
			case name == "args", name == "arguments":
				claims[name] = o.Flow.Arguments
			}
		}
		for name, v := range jsondoc.Members(o.Flow.Arguments) {
			claims[name] = v
		}
		all = append(all, claims)
	}
	return all
}

// userNames returns names that the user of the review may have: the parts of the credential.
func userNames(t *review.T) []string {
	_, credential := t.Options.Target.Authorization()
	all := []string{credential}
	parts := strings.FieldsFunc(credential, func(r rune) bool { return strings.ContainsRune("-_.:/ ", r) })
	if len(parts) > 1 {
		slices.Reverse(parts)
		all = append(all, parts[:min(len(parts), 3)]...)
	}
	return all
}
