package injections

import (
	"regexp"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/inputs"
)

// fenceMark matches words that may be a mark around a text.
var fenceMark = regexp.MustCompile(`[A-Za-z0-9_-]{8,}`)

// instructsModel reports whether a text that another call stores becomes a part of the instructions to the
// model of the client, with its line feeds and quotation marks, twice. A text in a string of JSON has neither,
// and one between marks that change with each question cannot end them.
func instructsModel(t *review.T, x inputs.Input) bool {
	var prompts []string
	a, shown := confirmedTwice(func(int) (client.Answer, bool) {
		text := t.Word() + "\n\n\"" + t.Word() + "\"\n" + t.Word()
		a := x.Send(text)
		before, after, found := strings.Cut(inputs.SystemPrompts(a), text)
		prompts = append(prompts, before, after)
		return a, found
	})
	if !shown || isFenced(prompts[0], prompts[1], prompts[2]) {
		return false
	}
	x.Refute(t, review.Warning, "a stored text becomes a part of the instructions to the model, with its lines", "instructions of another user", a)
	return true
}

// isFenced reports whether the line before a text has a mark that comes again behind the text, and is none of
// those before another text.
func isFenced(before, after, other string) bool {
	before = strings.TrimSpace(before)
	for _, mark := range fenceMark.FindAllString(before[strings.LastIndexByte(before, '\n')+1:], -1) {
		if strings.Contains(after, mark) && !strings.Contains(other, mark) {
			return true
		}
	}
	return false
}
