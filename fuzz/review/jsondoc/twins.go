package jsondoc

import (
	"encoding/json"
	"maps"
	"slices"
)

// maxRenamed is the number of pairs that RenamedArguments returns for two names.
const maxRenamed = 6

// RenamedArguments returns pairs of arguments with the same values in the same order under other names: two
// names are swapped, or three move on. A digest that joins the values of a document does not
// distinguish them.
func RenamedArguments(input, full json.RawMessage) [][2]json.RawMessage {
	given, properties := Members(full), ParseSchema(input).Properties
	var all [][2]json.RawMessage
	add := func(names ...string) {
		values := sharedValues(properties, names)
		if len(values) < len(names) {
			return
		}
		moved := append(slices.Clone(names[1:]), names[0])
		all = append(all, [2]json.RawMessage{inOrder(given, names, values), inOrder(given, moved, values)})
	}
	names := SortedKeys(given)
	for i, name := range names {
		for _, other := range names[i+1:] {
			add(name, other)
		}
	}
	all = all[:min(len(all), maxRenamed)]
	for i := range max(0, len(names)-2) {
		add(names[i : i+3]...)
	}
	return all[:min(len(all), maxRenamed+1)]
}

// sharedValues returns different values that the schemas of all names allow.
func sharedValues(properties map[string]json.RawMessage, names []string) []json.RawMessage {
	var all []json.RawMessage
	for _, name := range names {
		one := Samples(properties[name], 0)
		for _, v := range append(one, alternatives(properties[name], one[0])...) {
			known := slices.ContainsFunc(all, func(k json.RawMessage) bool { return alike(k, v) })
			fits := func(name string) bool { return Fits(properties[name], v) }
			if !known && !slices.ContainsFunc(names, func(name string) bool { return !fits(name) }) {
				all = append(all, v)
			}
		}
	}
	return all
}

// inOrder writes an object whose first members have the names and values in this order.
func inOrder(given Arguments, names []string, values []json.RawMessage) json.RawMessage {
	all := maps.Clone(given)
	for i, name := range names {
		all[name] = values[i]
	}
	rest := slices.DeleteFunc(SortedKeys(given), func(name string) bool { return slices.Contains(names, name) })
	return ordered(all, slices.Concat(names, rest))
}

// hashTwins are pairs of values with equal weak hashes. The hashes of numbers are those of Python, of
// Java and of 32 bits. Those of texts are that of Java, DJB2, Adler-32, CRC-32 and FNV-1a.
var hashTwins = [][2]string{{"-1", "-2"}, {"0", "2305843009213693951"}, {"0", "-1"}, {"1", "4294967297"},
	{`"AaAa"`, `"BBBB"`}, {`"azaz"`, `"bYbY"`}, {`"acaaca"`, `"babbab"`}, {`"plumless"`, `"buckeroo"`}, {`"costarring"`, `"liquid"`}}

// maxTwins is the number of arguments that get hashTwins.
const maxTwins = 4

// HashTwins returns pairs of arguments that differ in a value with an equal weak hash.
func HashTwins(input, full json.RawMessage) [][2]json.RawMessage {
	n, properties := newNearPairs(input, full), ParseSchema(input).Properties
	names := n.named(func(s Schema) bool { return slices.Contains([]string{"string", "integer", "number"}, s.TypeOf()) })
	for _, name := range names[:min(len(names), maxTwins)] {
		for _, twin := range hashTwins {
			one, two := json.RawMessage(twin[0]), json.RawMessage(twin[1])
			if Fits(properties[name], one) && Fits(properties[name], two) {
				n.add(Arguments{name: one}, Arguments{name: two})
			}
		}
	}
	return n.all
}
