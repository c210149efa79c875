package inputs

import (
	"encoding/json"
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

// maxNew is the number of resources, listed only after a call, that are read after it.
const maxNew = 4

// A View is a text that a client can read after a call, the call that gives it, and the answer.
type View struct {
	Call   client.Call
	About  string // the texts about what it shows
	Text   string
	Answer client.Answer
}

// A Writing is a text in the arguments of a call that is carried out. Send sends the text and returns the texts
// that the client can read afterwards: those of the result, of resources, also of those that are listed only
// then, and of the calls that may show what is stored. It returns none if the call is refused.
type Writing struct {
	Input
	Send func(text string) []View
}

// Writings returns the texts in arguments of tools that are carried out and do not claim to be read-only.
func Writings(t *review.T) []Writing {
	var all []Writing
	known := knownResources(t)
	add := func(f client.Flow, x Input) {
		send, reading := x.Send, readingAfter(t, f)
		all = append(all, Writing{x, func(text string) []View {
			a := send(text)
			if a.Refused() || a.Kind != client.Completed {
				return nil
			}
			views := viewsOf(f.Call(client.FirstUser), f.Offer, a)
			for _, other := range append(newResources(t, known), reading...) {
				call := other.Sharing(f.With(x.with(text))).Call(client.FirstUser)
				views = append(views, viewsOf(call, other.Offer, t.Call(call))...)
			}
			return views
		}})
	}
	writers := slices.DeleteFunc(t.Changers(), func(tool client.Offer) bool { return t.Asks(tool) || review.Ends(tool) })
	for _, tool := range writers[:min(len(writers), maxWriters)] {
		f := wholeCall(t, tool)
		for _, x := range textsOf(t, f) {
			add(f, x)
		}
	}
	for _, x := range Carried(t) {
		add(*x.Flow, x)
	}
	return all[:min(len(all), Max)]
}

// readingAfter returns the resources and the calls, other than those of f, that may show a stored text.
func readingAfter(t *review.T, f client.Flow) []client.Flow {
	isResource := func(f client.Flow) bool { return f.Method == "resources/read" }
	resources := slices.DeleteFunc(t.Reads(), func(f client.Flow) bool { return !isResource(f) })
	return append(resources[:min(len(resources), maxShowing)], slices.DeleteFunc(showing(t, f), isResource)...)
}

// knownResources returns the URIs of the resources that the server listed at first.
func knownResources(t *review.T) map[string]bool {
	known := map[string]bool{}
	for _, o := range t.Report.Server.Resources {
		known[o.URI] = true
	}
	return known
}

// newResources returns the readings of resources that the list did not have before, the last ones first, and
// adds them to the known ones.
func newResources(t *review.T, known map[string]bool) []client.Flow {
	if !t.Report.Server.Has("resources") {
		return nil
	}
	var all []client.Flow
	listed, _ := client.OffersIn(t.Call(client.Call{Method: "resources/list"}), "resources")
	for _, o := range slices.Backward(listed) {
		if !known[o.URI] {
			all = append(all, client.Flow{Method: "resources/read", Target: o.URI, Offer: o})
		}
		known[o.URI] = true
	}
	return all[:min(len(all), maxNew)]
}

// viewsOf returns the texts in the result of a call, also those inside of texts of JSON.
func viewsOf(call client.Call, offer client.Offer, a client.Answer) []View {
	var all []View
	_, path, _ := strings.Cut(offer.URI, ":")
	for _, text := range textsWithin(a.Result, 0) {
		all = append(all, View{call, offer.About() + " " + path, text, a})
	}
	return all
}

// textsWithin returns the strings in a value and, if a string is JSON itself, those in it.
func textsWithin(raw json.RawMessage, depth int) []string {
	if depth > 2*maxPlaceDepth {
		return nil
	}
	if text, ok := jsondoc.Text(raw); ok {
		all := []string{text}
		if s := strings.TrimSpace(text); strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[") {
			all = append(all, textsWithin(json.RawMessage(s), depth+1)...)
		}
		return all
	}
	var all []string
	var list []json.RawMessage
	_ = json.Unmarshal(raw, &list) // empty if it is no array
	for _, v := range jsondoc.InOrder(jsondoc.Members(raw)) {
		list = append(list, v)
	}
	for _, v := range list {
		all = append(all, textsWithin(v, depth+1)...)
	}
	return all
}
