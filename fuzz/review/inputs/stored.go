package inputs

import (
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// The numbers of tools that store texts, of calls that may show them, and of inputs of each kind that [Stored] returns.
const (
	maxWriters = 4
	maxShowing = 8
	maxStored  = 4
)

// SystemPrompts returns the instructions to the model in the questions of an answer, one per line.
func SystemPrompts(a client.Answer) string {
	var all []string
	for _, key := range jsondoc.SortedKeys(a.Questions) {
		if text, ok := jsondoc.Text(jsondoc.At(a.Result, "inputRequests", key, "params", "systemPrompt")); ok {
			all = append(all, text)
		}
	}
	return strings.Join(all, "\n")
}

// Stored returns the texts that one tool stores and another call shows, a tool, a prompt, a resource or a
// question, and those that another call puts into the instructions to the model of the client. Send stores the
// text and returns the answer of the other call.
func Stored(t *review.T) (shown, instructing []Input) {
	writers := slices.DeleteFunc(t.Changers(), func(tool client.Offer) bool { return t.Asks(tool) || review.Ends(tool) })
	for _, tool := range writers[:min(len(writers), maxWriters)] {
		f := wholeCall(t, tool)
		for _, x := range textsOf(t, f) {
			one, two := shownAfter(t, f, x)
			shown, instructing = append(shown, one...), append(instructing, two...)
		}
	}
	return shown[:min(len(shown), maxStored)], instructing[:min(len(instructing), maxStored)]
}

// shownAfter returns the inputs that store the text of x, an argument of the call f, and that another call shows
// or puts into instructions.
func shownAfter(t *review.T, f client.Flow, x Input) (shown, instructing []Input) {
	word := t.Word()
	if a := x.Send(word); a.Refused() || a.Kind != client.Completed {
		return nil, nil
	}
	for _, other := range showing(t, f) {
		show := func(text string) client.Answer {
			return t.Call(other.Sharing(f.With(x.with(text))).Call(client.FirstUser))
		}
		stored := x
		stored.Name += ", shown by " + other.Target
		stored.Send = func(text string) client.Answer {
			if a := x.Send(text); a.Refused() || a.Kind != client.Completed {
				return a
			}
			return show(text)
		}
		a := show(word)
		if strings.Contains(a.ShownTexts(), word) {
			shown = append(shown, stored)
		}
		if strings.Contains(SystemPrompts(a), word) {
			instructing = append(instructing, stored)
		}
	}
	return shown, instructing
}

// showing returns the calls, other than those of f, that may show a stored text.
func showing(t *review.T, f client.Flow) []client.Flow {
	all := slices.Clone(t.Flows)
	for _, tool := range slices.Concat(t.Readers(), t.Changers()) {
		_, named := t.Options.Tools[tool.Name]
		if !t.Asks(tool) && (named || tool.IsReadOnly() || tool.NamesReading()) {
			all = append(all, t.FlowOf(tool))
		}
	}
	all = slices.DeleteFunc(append(all, t.Reads()...), func(other client.Flow) bool { return other.Target == f.Target })
	return all[:min(len(all), maxShowing)]
}
