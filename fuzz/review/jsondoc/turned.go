package jsondoc

import (
	"encoding/json"
	"slices"
)

// TurnedLists returns pairs of values that differ in the order of one list, at any depth. A list of one
// item gets another one.
func TurnedLists(raw, given json.RawMessage, depth int) (all [][2]json.RawMessage) {
	s := ParseSchema(raw)
	var items []json.RawMessage
	m := Members(given)
	switch {
	case depth > MaxFull:
	case m != nil:
		for name, v := range InOrder(m) {
			for _, pair := range TurnedLists(s.Properties[name], v, depth+1) {
				all = append(all, [2]json.RawMessage{Object(With(m, name, pair[0])), Object(With(m, name, pair[1]))})
			}
		}
	case json.Unmarshal(given, &items) == nil && len(items) > 0:
		if len(items) == 1 {
			items = append(items, ChangedLeaves(s.Items, items[0], depth+1)...)
			items = items[:min(len(items), 2)]
		}
		turned := slices.Clone(items)
		slices.Reverse(turned)
		if pair := [2]json.RawMessage{list(items), list(turned)}; string(pair[0]) != string(pair[1]) && Fits(raw, pair[0]) && Fits(raw, pair[1]) {
			all = append(all, pair)
		}
		for _, pair := range TurnedLists(s.Items, items[0], depth+1) {
			all = append(all, [2]json.RawMessage{list(append([]json.RawMessage{pair[0]}, items[1:]...)), list(append([]json.RawMessage{pair[1]}, items[1:]...))})
		}
	}
	return all
}

// list returns a list of values.
func list(items []json.RawMessage) json.RawMessage {
	raw, _ := json.Marshal(items) // values that were read encode
	return raw
}
