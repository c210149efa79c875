package answers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
)

// An insertPlace is a place at which to add members to the answers of a round.
type insertPlace struct {
	name string
	add  func(answers, more jsondoc.Arguments) jsondoc.Arguments
}

// insertPlaces are the places from which a careless server copies members into its state. They are
// the content of a form, the answer around it, objects in both, and the answers themselves, bare or
// as forms.
var insertPlaces = []insertPlace{
	{"arguments among the answers", mergeContents},
	{"arguments beside the content of answers", func(answers, more jsondoc.Arguments) jsondoc.Arguments {
		return mapMembers(answers, func(form jsondoc.Arguments) jsondoc.Arguments { return mergeObjects(form, more) })
	}},
	{"arguments in the place of answers", mergeObjects},
	{"arguments as answers", func(answers, more jsondoc.Arguments) jsondoc.Arguments {
		return mergeObjects(answers, mapMembers(more, func(jsondoc.Arguments) jsondoc.Arguments {
			return jsondoc.Arguments{"action": jsondoc.Quote("accept"), "content": jsondoc.Object(more)}
		}))
	}},
	{"arguments in objects beside the content of answers", func(answers, more jsondoc.Arguments) jsondoc.Arguments {
		return mapMembers(answers, func(form jsondoc.Arguments) jsondoc.Arguments { return mergeObjects(form, wrapInContainers(more)) })
	}},
	{"arguments in objects among the answers", func(answers, more jsondoc.Arguments) jsondoc.Arguments {
		return mergeContents(answers, wrapInContainers(more))
	}},
}

// mergeContents adds members to the content of every form among answers.
func mergeContents(answers, more jsondoc.Arguments) jsondoc.Arguments {
	return mapMembers(answers, func(form jsondoc.Arguments) jsondoc.Arguments {
		if jsondoc.Members(form["content"]) == nil {
			return form
		}
		return jsondoc.With(form, "content", jsondoc.Object(mergeObjects(jsondoc.Members(form["content"]), more)))
	})
}

// containerNames are names of objects from which servers copy members.
var containerNames = []string{"args", "arguments", "context", "data", "params", "payload", "state", "values"}

// wrapInContainers returns objects with the given members under each of those names.
func wrapInContainers(more jsondoc.Arguments) jsondoc.Arguments {
	all := jsondoc.Arguments{}
	for _, name := range containerNames {
		all[name] = jsondoc.Object(more)
	}
	return all
}

// mapMembers applies change to every member of an object.
func mapMembers(all jsondoc.Arguments, change func(jsondoc.Arguments) jsondoc.Arguments) jsondoc.Arguments {
	next := jsondoc.Arguments{}
	for name, raw := range all {
		next[name] = jsondoc.Object(change(jsondoc.Members(raw)))
	}
	return next
}

// mergeObjects merges two objects. A member of the first takes precedence.
func mergeObjects(one, two jsondoc.Arguments) jsondoc.Arguments {
	all := maps.Clone(two)
	maps.Copy(all, one)
	return all
}

// overrideMembers adds members to the answers of every round. Their names are those of arguments
// and of readable members of the token. It records a finding if a later text shows their value, and
// members of other names have no such effect.
func overrideMembers(t *review.T) {
	if t.Oracle.Flow.Last == nil || len(t.Findings) > 0 {
		return
	}
	for _, more := range overridingMembers(t) {
		var marks []string
		for _, raw := range more {
			marks = append(marks, leafTexts(raw)...)
		}
		if len(more) == 0 || containsAny(honestTexts(t), marks) {
			continue
		}
		for _, place := range insertPlaces {
			if t.Selected(place.name) && overridesCall(t, place, more, marks) {
				return
			}
		}
	}
}

// leafTexts returns the texts of all values in a value.
func leafTexts(raw json.RawMessage) []string {
	m := jsondoc.Members(raw)
	if m == nil {
		return []string{strings.Trim(string(raw), `"`)}
	}
	var all []string
	for _, inner := range m {
		all = append(all, leafTexts(inner)...)
	}
	return all
}

// replaceStrings replaces all strings in a value by word. It returns word itself for a value that
// is not an object.
func replaceStrings(given, word json.RawMessage) json.RawMessage {
	m := maps.Clone(jsondoc.Members(given))
	for name, inner := range m {
		if inner[0] != '"' && inner[0] != '{' {
			delete(m, name)
			continue
		}
		m[name] = replaceStrings(inner, word)
	}
	if m == nil {
		return word
	}
	return jsondoc.Object(m)
}

// overrideFullCall does the same in a call with every argument, if one of them is an object.
func overrideFullCall(t *review.T) {
	own := t.Oracle
	defer func() { t.Oracle = own }()
	full := jsondoc.FullSample(own.Flow.Offer.InputSchema(), 0)
	if !slices.ContainsFunc(slices.Collect(maps.Values(jsondoc.Members(full))), func(raw json.RawMessage) bool { return len(jsondoc.Members(raw)) > 0 }) || jsondoc.Same(full, own.Flow.Arguments) {
		return
	}
	if o, reason := t.NewOracle(t.Context, own.Flow.With(full), own.User); reason == "" {
		t.Oracle = o
		overrideMembers(t)
	}
}

// overridesCall adds members in one place and reports whether they change the call.
func overridesCall(t *review.T, place insertPlace, more jsondoc.Arguments, marks []string) bool {
	other := jsondoc.Arguments{}
	for i, name := range jsondoc.SortedKeys(more) {
		other[fmt.Sprintf("sealab_member%d", i)] = more[name]
	}
	_, a, shown := showsUnderNames(t, place, more, other, marks)
	if !shown {
		return false
	}
	t.Refute(review.Finding{Case: place.name, Severity: review.Critical, Issue: "a member that no form has changes the call",
		Evidence: fmt.Sprintf("%s: %s -> %v", place.name, jsondoc.Object(more), a), Want: "ignored", Got: "carried out", Flow: &t.Oracle.Flow})
	return true
}

// showsUnderNames reports whether the flow shows a mark twice with more members in a place, and does not with
// the same values under other names: a server may show all that it gets. It returns the first texts and answer.
func showsUnderNames(t *review.T, place insertPlace, more, other jsondoc.Arguments, marks []string) (text string, a client.Answer, shown bool) {
	if text, a = walkWithMembers(t, place, more); !containsAny(text, marks) {
		return text, a, false
	}
	if plain, _ := walkWithMembers(t, place, other); plain == "" || containsAny(plain, marks) {
		return text, a, false
	}
	again, _ := walkWithMembers(t, place, more)
	return text, a, containsAny(again, marks)
}

// overridingMembers returns members that forms do not ask for but a state may have. The first set
// has one word as every value, the second numbers and enum values that the arguments allow.
func overridingMembers(t *review.T) [2]jsondoc.Arguments {
	words, typed := jsondoc.Arguments{}, jsondoc.Arguments{}
	word := jsondoc.Quote(t.Word())
	for _, v := range tokens.Views(t.Oracle.Token) {
		for name := range v.Object {
			words[name] = word
		}
	}
	properties := jsondoc.ParseSchema(t.Oracle.Flow.Offer.InputSchema()).Properties
	for name, given := range jsondoc.Members(t.Oracle.Flow.Arguments) {
		words[name] = replaceStrings(given, word)
		p := jsondoc.ParseSchema(properties[name])
		if v := p.FarNumber(); v != nil {
			typed[name] = v
		}
		for _, v := range p.Enum {
			if len(v) > 4 && v[0] == '"' && string(v) != string(given) {
				typed[name] = v
			}
		}
	}
	for _, a := range t.Asking {
		for key := range a.Questions {
			delete(words, key)
			delete(typed, key)
		}
	}
	for name := range formMembers(t) {
		delete(words, name)
		delete(typed, name)
	}
	return [2]jsondoc.Arguments{words, typed}
}

// formMembers returns the members that forms ask for.
func formMembers(t *review.T) map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	for _, a := range t.Asking {
		for _, q := range a.Questions {
			maps.Copy(all, jsondoc.ParseSchema(q.Params.Schema).Properties)
		}
	}
	return all
}

// resultNames returns names that precede numbers in a result, and names in its structured content.
// A server may store values under these names.
func resultNames(t *review.T) []string {
	names := map[string]bool{}
	for _, m := range namedNumber.FindAllStringSubmatch(t.Oracle.Good.Text, -1) {
		names[m[1]] = true
	}
	for name := range jsondoc.Members(jsondoc.At(t.Oracle.Good.Result, "structuredContent")) {
		names[name] = true
	}
	for name := range formMembers(t) {
		delete(names, name)
	}
	all := jsondoc.SortedKeys(names)
	return all[:min(len(all), maxResultNames)]
}

var namedNumber = regexp.MustCompile(`([A-Za-z_]{3,24})"?[ :=]+[^\pL\pN]?[0-9]`)

// overrideResultNames adds one member to the answers of every round, under a name from the result.
// It records a finding if the result then shows the value of the member instead of its own. It must
// not show the value of a member of another name.
func overrideResultNames(t *review.T) {
	if !t.Oracle.Completes() || len(t.Findings) > 0 {
		return
	}
	value := jsondoc.Schema{Type: "integer"}.FarNumber()
	told := func(a client.Answer) bool { return bytes.Contains(a.Result, value) }
	for _, name := range resultNames(t) {
		for _, place := range insertPlaces[:maxResultPlaces] {
			label := name + " of the result, " + place.name
			if !t.Selected(label) {
				continue
			}
			_, a := walkWithMembers(t, place, jsondoc.Arguments{name: value})
			if a.Kind != client.Completed || !told(a) || told(t.Oracle.Good) || !t.Oracle.Alike(a) {
				continue
			}
			if _, other := walkWithMembers(t, place, jsondoc.Arguments{"sealab_member": value}); told(other) && t.Oracle.Alike(other) {
				continue // the server shows any value that it gets
			}
			t.Refute(review.Finding{Case: label, Severity: review.Critical, Issue: "a member that no form has changes " + client.Short(name, 40) + " in the result",
				Evidence: fmt.Sprintf("%s: {%q:%s} -> %v", place.name, name, value, a), Want: "ignored", Got: "carried out", Flow: &t.Oracle.Flow})
			return
		}
	}
}

// The number of names from results that are tested, and the number of places for each.
const maxResultNames, maxResultPlaces = 6, 4

// honestTexts returns the texts of the flow without more members.
func honestTexts(t *review.T) string {
	return t.ArgumentTexts(t.Oracle.Flow, t.Oracle.User) + t.Oracle.Good.Text
}

// containsAny reports whether a text has one of the marks as a word: a short number may also be a
// part of a random identifier.
func containsAny(text string, marks []string) bool {
	return slices.ContainsFunc(marks, func(mark string) bool { return client.HasWord(text, mark) })
}

// walkWithMembers walks the flow with more members in a place. It returns the texts from the first
// answer on, or "" if the flow does not go on.
func walkWithMembers(t *review.T, place insertPlace, more jsondoc.Arguments) (string, client.Answer) {
	changed := func(answers json.RawMessage) json.RawMessage {
		return jsondoc.Object(place.add(jsondoc.Members(answers), more))
	}
	f := t.Oracle.Flow
	f.Rounds, f.Last = nil, changed(t.Oracle.Flow.Last)
	for _, answers := range t.Oracle.Flow.Rounds {
		f.Rounds = append(f.Rounds, changed(answers))
	}
	token, question, err := t.Client.Mint(t.Context, f, t.Oracle.User)
	if err != nil {
		return "", question
	}
	a := t.Tried(t.PresentIn(f, jsondoc.Quote(token)))
	return textsOf(question) + textsOf(a), a
}

// textsOf returns the texts of an answer with their numbers: the questions, or the text of a result.
func textsOf(a client.Answer) string {
	if a.Kind == client.Asked {
		return a.ShownTexts()
	}
	return a.Text
}
