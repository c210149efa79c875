package offers

import (
	"encoding/json"
	"maps"
	"regexp"
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
