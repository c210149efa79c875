package review

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// An overriding adds members to the answers of a round.
type overriding struct {
	name string
	add  func(answers, more arguments) arguments
}

// overridings are the places from which a careless server copies members into its state:
// the content of a form, the answer around it, objects in both, and the answers themselves,
// bare or as forms.
var overridings = []overriding{
	{"arguments among the answers", func(answers, more arguments) arguments {
		return each(answers, func(form arguments) arguments {
			if members(form["content"]) == nil {
				return form
			}
			return with(form, "content", object(joined(members(form["content"]), more)))
		})
	}},
	{"arguments beside the content of answers", func(answers, more arguments) arguments {
		return each(answers, func(form arguments) arguments { return joined(form, more) })
	}},
	{"arguments in the place of answers", joined},
	{"arguments as answers", func(answers, more arguments) arguments {
		return joined(answers, each(more, func(arguments) arguments {
			return arguments{"action": quote("accept"), "content": object(more)}
		}))
	}},
	{"arguments in objects beside the content of answers", func(answers, more arguments) arguments {
		return each(answers, func(form arguments) arguments { return joined(form, contained(more)) })
	}},
	{"arguments in objects among the answers", func(answers, more arguments) arguments {
		return each(answers, func(form arguments) arguments {
			if members(form["content"]) == nil {
				return form
			}
			return with(form, "content", object(joined(members(form["content"]), contained(more))))
		})
	}},
}

// containers are names of objects that servers copy their members from.
var containers = []string{"args", "arguments", "context", "data", "params", "payload", "state", "values"}

// contained are objects of the same members under each of those names.
func contained(more arguments) arguments {
	all := arguments{}
	for _, name := range containers {
		all[name] = object(more)
	}
	return all
}

// each changes every member of an object.
func each(all arguments, change func(arguments) arguments) arguments {
	next := arguments{}
	for name, raw := range all {
		next[name] = object(change(members(raw)))
	}
	return next
}

// joined are the members of two objects; those of the first count.
func joined(one, two arguments) arguments {
	all := maps.Clone(two)
	maps.Copy(all, one)
	return all
}

// overridden answers every round with more members, named as the arguments and as what can
// be read in the token. It refutes if their value shows in a later text, and that of a
// member with another name does not.
func (t *T) overridden() {
	if t.o.flow.Last == nil || len(t.findings) > 0 {
		return
	}
	for _, more := range t.overriding() {
		var marks []string
		for _, raw := range more {
			marks = append(marks, leaves(raw)...)
		}
		if len(more) == 0 || t.plainly(marks) {
			continue
		}
		for _, place := range overridings {
			if (t.only == "" || t.only == place.name) && t.overrides(place, more, marks) {
				return
			}
		}
	}
}

// leaves are the texts of the values in a value.
func leaves(raw json.RawMessage) []string {
	m := members(raw)
	if m == nil {
		return []string{strings.Trim(string(raw), `"`)}
	}
	var all []string
	for _, inner := range m {
		all = append(all, leaves(inner)...)
	}
	return all
}

// reworded is a value whose texts are a word, one whose value is no object if it has no texts.
func reworded(given, word json.RawMessage) json.RawMessage {
	m := maps.Clone(members(given))
	for name, inner := range m {
		if inner[0] != '"' && inner[0] != '{' {
			delete(m, name)
			continue
		}
		m[name] = reworded(inner, word)
	}
	if m == nil {
		return word
	}
	return object(m)
}

// overriddenFully does so in a call that has every argument, if one of them is an object.
func (t *T) overriddenFully() {
	own := t.o
	defer func() { t.o = own }()
	full := fullSample(own.flow.offer.input(), 0)
	if !slices.ContainsFunc(slices.Collect(maps.Values(members(full))), func(raw json.RawMessage) bool { return len(members(raw)) > 0 }) || sameJSON(full, own.flow.Arguments) {
		return
	}
	if o, reason := t.r.control(t.ctx, own.flow.with(full), own.user); reason == "" {
		t.o = o
		t.overridden()
	}
}

// overrides adds members at one place.
func (t *T) overrides(place overriding, more arguments, marks []string) bool {
	text, a := t.answeredWith(place, more)
	if !containsAny(text, marks) {
		return false
	}
	other := arguments{}
	for i, name := range sortedKeys(more) {
		other[fmt.Sprintf("sealab_member%d", i)] = more[name]
	}
	if plain, _ := t.answeredWith(place, other); plain == "" || containsAny(plain, marks) {
		return false
	}
	t.refute(Finding{Case: place.name, Severity: Critical, Issue: "a member that no form has changes the call", Evidence: fmt.Sprintf("%s: %s -> %v", place.name, object(more), a), Want: "ignored", Got: "carried out", Flow: &t.o.flow})
	return true
}

// farNumbers are values of arguments that a text shows.
var farNumbers = []float64{48151, 4815, 97}

// overriding are members under the names of a state that no form asks for: with one word
// for all, and with numbers and choices that the arguments allow.
func (t *T) overriding() [2]arguments {
	words, typed := arguments{}, arguments{}
	word := quote(t.word())
	for _, v := range views(t.o.token) {
		for name := range v.object {
			words[name] = word
		}
	}
	properties := parseSchema(t.o.flow.offer.input()).Properties
	for name, given := range members(t.o.flow.Arguments) {
		words[name] = reworded(given, word)
		p := parseSchema(properties[name])
		for _, v := range farNumbers {
			if kind := p.typeOf(); (kind == "integer" || kind == "number") && len(p.Enum) == 0 && p.allows(v) && typed[name] == nil {
				typed[name] = json.RawMessage(strconv.Itoa(int(v)))
			}
		}
		for _, v := range p.Enum {
			if len(v) > 4 && v[0] == '"' && string(v) != string(given) {
				typed[name] = v
			}
		}
	}
	for _, a := range t.r.asking {
		for key, q := range a.Questions {
			for name := range parseSchema(q.Params.Schema).Properties {
				delete(words, name)
				delete(typed, name)
			}
			delete(words, key)
			delete(typed, key)
		}
	}
	return [2]arguments{words, typed}
}

// plainly reports whether the texts of the flow show a mark anyway.
func (t *T) plainly(marks []string) bool {
	return containsAny(t.carried(t.o.flow, t.o.user)+string(t.o.good.Text), marks)
}

func containsAny(text string, marks []string) bool {
	return slices.ContainsFunc(marks, func(mark string) bool { return strings.Contains(text, mark) })
}

// answeredWith walks the flow with more members at a place, and returns the texts from
// the first answer on; "" if the flow does not go on.
func (t *T) answeredWith(place overriding, more arguments) (string, Answer) {
	changed := func(answers json.RawMessage) json.RawMessage { return object(place.add(members(answers), more)) }
	f := t.o.flow
	f.Rounds, f.Last = nil, changed(t.o.flow.Last)
	for _, answers := range t.o.flow.Rounds {
		f.Rounds = append(f.Rounds, changed(answers))
	}
	token, question, err := t.r.client.mint(t.ctx, f, t.o.user)
	if err != nil {
		return "", question
	}
	a := t.r.client.present(t.ctx, f, quote(token), t.o.user)
	t.seen(variant{name: place.name}, a)
	return question.questionTexts() + a.questionTexts() + a.Text, a
}
