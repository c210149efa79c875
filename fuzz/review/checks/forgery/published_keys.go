package forgery

import (
	"bytes"
	"net/url"
	"slices"
	"strings"

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
