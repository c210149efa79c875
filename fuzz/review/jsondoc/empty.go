package jsondoc

import (
	"encoding/json"
	"slices"
	"strconv"
)

// empty returns the value of a schema that careless code treats as absent, or nil.
func (s Schema) empty() json.RawMessage {
	switch kind := s.TypeOf(); {
	case s.Const != nil || len(s.Enum) > 0:
		return nil
	case s.AnyText() && s.MinLength == 0:
		return Quote("")
	case (kind == "integer" || kind == "number") && s.Allows(0):
		return json.RawMessage("0")
	case kind == "boolean":
		return json.RawMessage("false")
	case kind == "array" && s.MinItems == 0:
		return json.RawMessage("[]")
	case s.isFree() && s.MinMembers == 0:
		return json.RawMessage("{}")
	}
	return nil
}

// filled returns a value that code never treats as absent and that is unlikely to be a default, or
// nil.
func (s Schema) filled(given json.RawMessage) json.RawMessage {
	switch kind := s.TypeOf(); {
	case s.AnyText():
		return Quote(s.text("probe"))
	case kind == "integer" || kind == "number":
		for _, v := range []float64{7, -7, 70} {
			if s.Allows(v) && len(s.Enum) == 0 {
				return json.RawMessage(strconv.Itoa(int(v)))
			}
		}
	case kind == "array":
		return given
	case s.isFree():
		return s.freely("probe", "a")
	}
	return nil
}

// isFree reports whether the schema allows objects with any members.
func (s Schema) isFree() bool {
	return s.TypeOf() == "object" && len(s.Properties) == 0 && string(s.More) != "false"
}

// freely returns an object of one member for a schema that isFree.
func (s Schema) freely(name, text string) json.RawMessage {
	value := Quote(text)
	switch p := ParseSchema(s.More); p.TypeOf() {
	case "integer", "number":
		value = json.RawMessage(strconv.Itoa(int(text[0])))
	case "boolean":
		value = json.RawMessage(strconv.FormatBool(text == "a"))
	case "object":
		value = p.freely(name, text)
	}
	return Object(Arguments{name: value})
}

// empties adds pairs in which one value is empty or absent. A server may bind only values that are
// present, or compare them only if they are given.
func (n *nearPairs) empties() {
	for _, name := range SortedKeys(n.given) {
		p := n.properties[name]
		empty, full := p.empty(), p.filled(n.given[name])
		if p.TypeOf() == "boolean" && empty != nil {
			n.either(name, empty, json.RawMessage("true"))
		}
		if full == nil {
			continue
		}
		if empty != nil {
			n.either(name, empty, full)
		}
		if !slices.Contains(n.required, name) && string(p.Default) != string(full) {
			n.either(name, nil, full)
		}
	}
	n.all = n.all[:min(len(n.all), maxEmpty)]
}

// either adds two values of an argument in both orders.
func (n *nearPairs) either(name string, one, two json.RawMessage) {
	if string(one) != string(two) {
		n.add(Arguments{name: one}, Arguments{name: two})
		n.add(Arguments{name: two}, Arguments{name: one})
	}
}

// maxEmpty is the number of pairs with an empty value.
const maxEmpty = 24

// free adds pairs that differ in a member that no schema names: in its value, its name, and a
// nested value. A careless digest covers only the members that a schema names.
func (n *nearPairs) free() {
	for _, name := range SortedKeys(n.given) {
		p := n.properties[name]
		wrap := func(v json.RawMessage) json.RawMessage { return v }
		if items := ParseSchema(p.Items); p.TypeOf() == "array" && items.isFree() {
			p, wrap = items, func(v json.RawMessage) json.RawMessage { return json.RawMessage("[" + string(v) + "]") }
		}
		if !p.isFree() {
			continue
		}
		pairs := [][2]json.RawMessage{{p.freely("probe", "a"), p.freely("probe", "b")}, {p.freely("probe", "a"), p.freely("sample", "a")}}
		if deep := ParseSchema(p.More); deep.TypeOf() == "" {
			pairs = append(pairs, [2]json.RawMessage{json.RawMessage(`{"probe":{"deep":{"text":"a"}}}`), json.RawMessage(`{"probe":{"deep":{"text":"b"}}}`)},
				[2]json.RawMessage{json.RawMessage(`{"probe":["a",{"text":"a"}]}`), json.RawMessage(`{"probe":["a",{"text":"b"}]}`)})
		}
		for _, v := range pairs {
			n.add(Arguments{name: wrap(v[0])}, Arguments{name: wrap(v[1])})
		}
	}
}
