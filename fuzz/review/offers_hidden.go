package review

import (
	"encoding/json"
	"maps"
	"regexp"
	"strings"
)

// flags are emoji that are written with tag characters (Unicode TR 51).
var flags = regexp.MustCompile(`\x{1F3F4}[\x{E0061}-\x{E007A}]{3,6}\x{E007F}`)

// hidden are characters of texts that nobody sees: tags, and overrides of the direction.
var hidden = regexp.MustCompile(`[\x{E0000}-\x{E007F}]+|[\x{202D}\x{202E}]`)

// knownKeys are keys whose form tells whose they are, and private keys.
var knownKeys = regexp.MustCompile(`\bsk-(?:live|proj|ant)-[A-Za-z0-9_-]{16,}|\b(?:ghp|gho|ghs)_[A-Za-z0-9]{36}\b|\bAKIA[0-9A-Z]{16}\b|\bxox[bp]-[0-9A-Za-z-]{20,}|-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----`)

// running are URLs of icons that run a script.
var running = regexp.MustCompile(`(?i)^\s*(?:javascript|vbscript):`)

func hiddenTexts(t *T) {
	lists := maps.Clone(t.r.Report.Server.lists)
	if t.r.modern() {
		lists["server/discover"] = t.r.client.call(t.ctx, Call{Method: "server/discover"})
	}
	for _, method := range sortedKeys(lists) {
		var v any
		if lists[method].Kind != completed || json.Unmarshal(lists[method].Result, &v) != nil {
			continue
		}
		t.trials++
		if issue, text := hiddenIn(v); issue != "" {
			t.form(method, Warning, issue+": "+short(text, 80), lists[method])
		}
	}
	if t.trials == 0 {
		t.skip("no list was read")
	}
}

// hiddenIn returns the first text in a value with a part that nobody sees; "" if there is
// none.
func hiddenIn(v any) (issue, text string) {
	switch v := v.(type) {
	case string:
		if found := hidden.FindString(flags.ReplaceAllString(v, "")); found != "" {
			return "a text has characters that nobody sees", inASCII(found)
		}
		if found := knownKeys.FindString(v); found != "" && digits.MatchString(found) {
			return "a text shows a key to every client", found[:8] + "..."
		}
	case []any:
		for _, x := range v {
			if issue, text = hiddenIn(x); issue != "" {
				return issue, text
			}
		}
	case map[string]any:
		if source, _ := v["src"].(string); running.MatchString(source) {
			return "an icon runs a script", source
		}
		for _, name := range sortedKeys(v) {
			if issue, text = hiddenIn(v[name]); issue != "" {
				return issue, text
			}
		}
	}
	return "", ""
}

// inASCII writes tag characters as the ASCII that they stand for.
func inASCII(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 0xE0020 && r <= 0xE007E {
			return r - 0xE0000
		}
		return r
	}, text)
}
