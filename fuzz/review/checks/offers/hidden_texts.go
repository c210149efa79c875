package offers

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// flagEmoji matches emoji that are written with tag characters (Unicode TR 51).
var flagEmoji = regexp.MustCompile(`\x{1F3F4}[\x{E0061}-\x{E007A}]{3,6}\x{E007F}`)

// invisibleText matches invisible characters: tags, direction overrides, and runs of four or more
// zero-width characters or variation selectors. Honest texts have shorter runs.
var invisibleText = regexp.MustCompile(`[\x{E0000}-\x{E007F}]+|[\x{202D}\x{202E}]|[\x{200B}-\x{200F}\x{2060}-\x{2064}\x{FEFF}\x{FE00}-\x{FE0F}\x{E0100}-\x{E01EF}]{4,}`)

// scriptURL matches URLs of icons that run a script.
var scriptURL = regexp.MustCompile(`(?i)^\s*(?:javascript|vbscript):`)

func checkHiddenTexts(t *review.T) {
	lists := maps.Clone(t.Report.Server.Lists)
	if t.Modern() {
		lists["server/discover"] = t.Call(client.Call{Method: "server/discover"})
	}
	for _, method := range jsondoc.SortedKeys(lists) {
		var v any
		if lists[method].Kind != client.Completed || json.Unmarshal(lists[method].Result, &v) != nil {
			continue
		}
		t.Trials++
		if issue, text := findHiddenText(v); issue != "" {
			t.Form(method, review.Warning, issue+": "+client.Short(text, 80), lists[method])
		}
	}
	findShownKeys(t)
	t.SkipUntried("no list was read")
}

// findHiddenText returns the first text in a value with an invisible part, a key or a script, or
// "".
func findHiddenText(v any) (issue, text string) {
	switch v := v.(type) {
	case string:
		if found := invisibleText.FindString(flagEmoji.ReplaceAllString(v, "")); found != "" {
			return "a text has characters that nobody sees", tagsToASCII(found)
		}
		if found := client.UsedKey(v); found != "" {
			return "a text shows a key to every client", found[:8] + "..."
		}
	case []any:
		for _, x := range v {
			if issue, text = findHiddenText(x); issue != "" {
				return issue, text
			}
		}
	case map[string]any:
		if source, _ := v["src"].(string); scriptURL.MatchString(source) {
			return "an icon runs a script", source
		}
		for _, name := range jsondoc.SortedKeys(v) {
			if issue, text = findHiddenText(v[name]); issue != "" {
				return issue, text
			}
		}
	}
	return "", ""
}

// tagsToASCII replaces tag characters by the ASCII characters that they represent.
func tagsToASCII(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 0xE0020 && r <= 0xE007E {
			return r - 0xE0000
		}
		return r
	}, text)
}

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
