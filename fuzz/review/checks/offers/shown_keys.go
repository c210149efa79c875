package offers

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// givesKeys matches the names and texts of offers that are meant to show keys, or to look for them in the
// texts of others.
var givesKeys = regexp.MustCompile(`(?i)secret|credential|api.?key|private.?key|vault|keychain|leak|scan|detect|examples?\b|tutorial|\b(?:returns?|shows?|gives?|reveals?|gets?|reads?|fetch(?:es)?) (?:the |an? |your )?(?:\w+ )?(?:keys?|tokens?)\b`)

// keptSecrets matches texts that promise to show no keys.
var keptSecrets = regexp.MustCompile(`(?i)\b(?:secrets?|keys?|credentials?|passwords?)\b.{0,20}\b(?:hidden|masked|redacted|removed|left out)\b|\b(?:without|never|no)\b.{0,20}\b(?:secrets?|keys?|credentials?|passwords?)\b`)

// findShownKeys records a finding if a resource, a prompt or a read-only tool shows the same key twice. Tools
// that read files of their user are left out.
func findShownKeys(t *review.T) {
	readers, reads := t.Readers(), t.Reads()
	all := slices.Clone(reads[:min(len(reads), 2*review.MaxTestedCalls)])
	for _, tool := range readers[:min(len(readers), 2*review.MaxTestedCalls)] {
		if f := t.FlowOf(tool); len(fileArguments(f)) == 0 {
			all = append(all, f)
		}
	}
	for _, f := range slices.DeleteFunc(all, func(f client.Flow) bool { return !t.Selected(f.Target) || meantForKeys(f.Offer) }) {
		a := t.Call(f.Call(client.FirstUser))
		if a.Kind != client.Completed {
			continue
		}
		t.Trials++
		if name := secretBesideText(a.Result); name != "" && secretBesideText(t.Call(f.Call(client.FirstUser)).Result) == name {
			t.Form(f.Target, review.Warning, "structuredContent has "+client.Short(name, 60)+", which the text leaves out", a)
			return
		}
		found := client.UsedKey(string(a.Result))
		if found == "" || bytes.Contains(a.Exchange.Sent, []byte(found)) {
			continue
		}
		if again := t.Call(f.Call(client.FirstUser)); again.Kind == client.Completed && client.UsedKey(string(again.Result)) == found {
			t.Form(f.Target, review.Warning, "the contents show a key: "+found[:8]+"...", again)
		}
	}
}

// secretMember matches members of JSON that hold a secret by their names, and its text.
var secretMember = regexp.MustCompile(`"(\w*?(?i:secret|password|passphrase|(?:private|recovery|api|signing|encryption)_?key|(?:access|refresh)_?token))"\s*:\s*"([^"\\]{8,})"`)

// secretBesideText returns the name of a member of structuredContent that holds a secret by its name, if the
// result has a text that shows neither the name nor the value, as after a filter of the text alone. It returns ""
// without one. A masked value has no digit.
func secretBesideText(result json.RawMessage) string {
	whole := jsondoc.Members(result)
	text := string(whole["content"])
	for _, m := range secretMember.FindAllStringSubmatch(string(whole["structuredContent"]), -1) {
		if client.Digits.MatchString(m[2]) && len(text) > len("[]") && !strings.Contains(text, m[1]) && !strings.Contains(text, m[2]) {
			return m[1]
		}
	}
	return ""
}

// meantForKeys reports whether an offer shows keys by its texts.
func meantForKeys(o client.Offer) bool {
	about := o.Description
	if keptSecrets.MatchString(about) {
		about = ""
	}
	return givesKeys.MatchString(o.Name + " " + o.URI + " " + about)
}
