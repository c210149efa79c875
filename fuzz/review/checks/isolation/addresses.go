package isolation

import (
	"fmt"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
)

// readsOtherSpelling reads a resource that a user may not read at other spellings of its URI. It
// records a finding if one gives the text of the resource, twice, while the URI itself is refused
// and one that is longer does not give that text.
func readsOtherSpelling(t *review.T, uri, text string, as client.User) bool {
	shows := func(spelled string) (client.Answer, bool) {
		a := t.Tried(t.Call(client.ReadResource(spelled).By(as)))
		return a, a.Kind == client.Completed && strings.ReplaceAll(a.Text, spelled, uri) == text
	}
	for _, spelled := range uriSpellings(uri) {
		if _, does := shows(spelled); !does {
			continue
		}
		if a, _ := shows(uri); !a.Refused() {
			return false
		}
		if _, any := shows(uri + "-" + t.Word()); any {
			return false
		}
		if a, again := shows(spelled); again {
			t.Fault(uri, review.Critical, "a user who is refused a resource reads it at "+client.Short(spelled, 100), a)
			return true
		}
	}
	return false
}

// uriSpellings returns spellings of a URI that a server may find under the same name.
func uriSpellings(uri string) []string {
	scheme, rest, ok := strings.Cut(strings.TrimRight(uri, "/"), "://")
	at := strings.LastIndexByte(rest, '/') + 1
	folder, name := scheme+"://"+rest[:at], rest[at:]
	if !ok || name == "" {
		return nil
	}
	encoded := ""
	for _, b := range []byte(name) {
		encoded += fmt.Sprintf("%%%02x", b)
	}
	return slices.DeleteFunc([]string{
		folder + strings.ToUpper(name[:1]) + name[1:], folder + strings.ToUpper(name), folder + strings.ToLower(name),
		strings.ToUpper(scheme) + "://" + rest, uri + "/", uri + "//", uri + "/.", folder + "/" + name, folder + "./" + name, folder + "sealab/../" + name,
		folder + "%2e/" + name, folder + encoded[:3] + name[1:], folder + encoded, scheme + "://" + strings.ReplaceAll(rest, "/", "%2F"),
		uri + "%20", uri + " ", uri + ".", uri + "?", uri + "?sealab", uri + "#", uri + ";sealab", uri + "%00",
	}, func(spelled string) bool { return spelled == uri })
}
