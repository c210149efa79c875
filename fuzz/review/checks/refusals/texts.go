package refusals

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
)

// internalsText matches texts about the implementation that are of no use to a client.
var internalsText = regexp.MustCompile(`(?i:key|secret)=[0-9a-fA-F]{12}|(/[\w.-]+){2,}\.(go|py|js|mjs|ts|rb|rs|php|java)\b|` +
	`invalid character '.' |Unexpected token|is not valid JSON|JSON at position|Expecting value: line|JSONDecodeError|JSON\.parse|` +
	`illegal base64 data|message authentication failed|InvalidTag|Incorrect padding|` +
	`\b(?:\w+\.)+[A-Z]\w*Exception\b|\b(Value|Type|Key|Index|Attribute|Syntax|Range|Reference|UnicodeDecode|binascii\.)Error\b`)

func checkRefusalTexts(t *review.T) {
	if refusalShowsSecret(t) || refusalShowsState(t) || refusalShowsInternals(t) || refusalQuotesState(t) || refusalDumpsState(t) {
		return
	}
	classes, reason := refusalsOf(t, func(int) ([]tokens.Variant, string) { return mintBadStates(t) })
	if t.SkipFor(reason) {
		return
	}
	for _, class := range jsondoc.SortedKeys(classes) {
		for _, a := range classes[class] {
			found := cmp.Or(internalsIn(a.answer), echoedPart(a))
			if found == "" {
				continue
			}
			t.Refute(review.Finding{Case: a.name, Severity: review.Warning, Issue: "a refusal reveals internals of the server",
				Evidence: fmt.Sprintf("%s -> %v, with %s", a.name, a.answer, client.Short(found, 80)), Want: "one text without a cause", Got: "internals"})
			return
		}
	}
}

// longText matches a text that may be a key.
var longText = regexp.MustCompile(`[A-Za-z0-9+/_=-]{16,}`)

// refusalShowsSecret presents a token with a changed tag. It records a finding if the refusal
// reveals the correct tag or the key of the tag.
func refusalShowsSecret(t *review.T) bool {
	token, reason := t.Mint()
	at := strings.LastIndexAny(token, ".:~|,;!*$") + 1
	if reason != "" || at == 0 || len(token)-at < 12 {
		return false
	}
	tag := token[at:]
	end := len(tag) - 1
	a := t.Tried(t.PresentText(token[:at] + tag[1:end] + tag[:1] + tag[end:]))
	if !a.Refused() {
		return false
	}
	text := errorText(a)
	told := ""
	for _, spelling := range tagEncodings(tag) {
		if strings.Contains(text, spelling) {
			told = "the tag that the server expects"
		}
	}
	for _, word := range longText.FindAllString(text, 20) {
		if t.KeyOfStates(word) {
			told = "the key of the tag"
		}
	}
	if told != "" {
		t.Refute(review.Finding{Case: "another tag", Severity: review.Critical, Issue: "a refusal reveals " + told,
			Evidence: fmt.Sprintf("a token with another tag -> %v", a), Want: "one text without a cause", Got: told})
	}
	return told != ""
}

// tagEncodings returns encodings in which a refusal may reveal a tag.
func tagEncodings(tag string) []string {
	all := []string{tag}
	for _, raw := range tokens.LastParts(tag) {
		if len(raw) >= 8 {
			all = append(all, fmt.Sprintf("%x", raw), fmt.Sprintf("%X", raw), base64.RawStdEncoding.EncodeToString([]byte(raw)))
		}
	}
	return all
}

// changedCharacters is the approximate number of characters of a token that refusalShowsState
// changes.
const changedCharacters = 60

// refusalShowsState changes characters of a token that holds a marker. It records a finding if a
// refusal repeats the marker and the refusal of garbage does not. The server then decrypts the
// state before it verifies it.
func refusalShowsState(t *review.T) bool {
	own := t.Oracle
	defer func() { t.Oracle = own }()
	t.Prefer(review.TakesText)
	f := t.Oracle.Flow
	args := f.ArgumentsWith(strings.Repeat(review.MarkerA, 5))
	if args == nil || !t.Selected("a marker") {
		return false
	}
	f = f.With(args)
	told := func(a client.Answer) bool {
		return a.Refused() && strings.Contains(a.Message+string(a.Data)+a.Text, review.MarkerA[:12])
	}
	token, _, err := t.Client.Mint(t.Context, f, t.Oracle.User)
	if err != nil || told(t.PresentIn(f, jsondoc.Quote(review.GarbageState))) {
		return false
	}
	for _, v := range tokens.FlipsAt(token, func(d int) bool { return d%max(1, len(token)/changedCharacters) == 0 }) {
		a := t.Tried(t.PresentIn(f, v.State()))
		if !told(a) || !told(t.PresentIn(f, v.State())) || told(t.PresentIn(f, jsondoc.Quote(review.GarbageState))) {
			continue
		}
		t.Refute(review.Finding{Case: "a marker", Severity: review.Critical, Issue: "a refusal reveals a part of the state",
			Evidence: fmt.Sprintf("a token of %d times A, %s changed -> %s", 5*len(review.MarkerA), v.Name, client.Short(string(a.Data)+a.Message, 200)),
			Want:     "one text without a cause", Got: "a part of the state"})
		return true
	}
	return false
}

// oddStates are texts on which careless parsers fail with an unhandled error.
var oddStates = []string{"%zz", "%E0%A4%A", "%ff", "%00", "\x00", "{", "[]", "null", "{}", "{\"a\":", "__proto__", "constructor", "a.b.c", "a.b.c.d.e", "....", "\U0001f511", "="}

// refusalShowsInternals presents each odd text alone and appended to a token.
func refusalShowsInternals(t *review.T) bool {
	token, reason := t.Mint()
	if reason != "" || t.Only != "" && !strings.HasPrefix(t.Only, "the text ") {
		return false
	}
	for _, odd := range oddStates {
		for _, text := range []string{odd, token + odd} {
			a := t.Tried(t.PresentText(text))
			if found := internalsIn(a); a.Refused() && found != "" {
				t.Refute(review.Finding{Case: fmt.Sprintf("the text %q", odd), Severity: review.Warning, Issue: "a refusal reveals internals of the server",
					Evidence: fmt.Sprintf("%s -> %v, with %s", client.Short(text, 160), a, client.Short(found, 80)), Want: "one text without a cause", Got: "internals"})
				return true
			}
		}
	}
	return false
}

// errorText returns the text of an error.
func errorText(a client.Answer) string { return a.Message + "\n" + string(a.Data) }

// internalsIn returns the first text about the implementation in an error, or "".
func internalsIn(a client.Answer) string {
	return cmp.Or(client.StackTrace(errorText(a)), internalsText.FindString(errorText(a)))
}

// echoedPart returns a part of the presented state that a refusal repeats, or "".
func echoedPart(a namedAnswer) string {
	state := sentState(a.answer)
	if len(state) < 16 {
		return ""
	}
	for i := 0; i+12 <= len(state); i += 4 {
		if part := state[i : i+12]; strings.Contains(errorText(a.answer), part) {
			return part
		}
	}
	return ""
}
