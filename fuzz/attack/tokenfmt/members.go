package tokenfmt

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// mostMembers is the number of members of an object that are altered, one by one or in pairs.
const mostMembers = 8

// otherTypes are values of every type, and numbers and texts that readers may not expect.
var otherTypes = []string{"null", "true", `""`, `"x"`, "[]", "[[]]", "{}", "0", "-1", "0.5", "1e400", "-1e400", "99999999999999999999",
	strings.Repeat("9", 400), "NaN", "Infinity", `"\ud800"`, `"\u0000"`, `"\u0661"`, `"\u00e9"`}

// OtherTypes gives members of JSON objects values of other types, and other names.
func OtherTypes(f Format, _ *Source, yield func(Alteration)) {
	for i, raw := range f.EncodedBytes() {
		for _, o := range jsonObjects(raw) {
			for _, m := range o.members[:min(len(o.members), mostMembers)] {
				name := raw[m.from:m.colon]
				value := bytes.TrimLeft(raw[m.colon:m.to], ": \t\r\n")
				at := m.to - len(value)
				for _, other := range otherTypes {
					yield(Alteration{f.With(i, slices.Concat(raw[:at], []byte(other), raw[m.to:])), fmt.Sprintf("in the JSON object of segment %d, %.40s for the value of %s", i, other, name)})
				}
				yield(Alteration{f.With(i, slices.Concat(raw[:m.from], []byte(`"x_other"`), raw[m.colon:])), fmt.Sprintf("in the JSON object of segment %d, another name for %s", i, name)})
			}
		}
	}
}

// MovedBetweenMembers moves text from the end of a member of a JSON object to the start of
// another, and back. A tag over values that are joined without separators does not change.
func MovedBetweenMembers(f Format, _ *Source, yield func(Alteration)) {
	inObjects(f, jsonObject.moved, yield)
}

// moved returns raw with text moved between the values of each pair of members.
func (o jsonObject) moved(raw []byte) (all []Alteration) {
	members := o.members[:min(len(o.members), mostMembers)]
	for a := range members {
		for b := range members {
			fromA, toA := scalarRange(raw, members[a])
			fromB, toB := scalarRange(raw, members[b])
			if a == b || toA == 0 || toB == 0 {
				continue
			}
			for _, n := range []int{1, 2, 3, 4, 8} {
				name := fmt.Sprintf("between the end of %s and the front of %s", raw[members[a].from:members[a].colon], raw[members[b].from:members[b].colon])
				if n < toA-fromA {
					tail := raw[toA-n : toA]
					all = append(all, Alteration{replaceRanges(raw, [2]int{toA - n, toA}, nil, [2]int{fromB, fromB}, tail), fmt.Sprintf("%d characters moved to the right %s", n, name)})
				}
				if n < toB-fromB {
					head := raw[fromB : fromB+n]
					all = append(all, Alteration{replaceRanges(raw, [2]int{toA, toA}, head, [2]int{fromB, fromB + n}, nil), fmt.Sprintf("%d characters moved to the left %s", n, name)})
				}
			}
		}
	}
	return all
}

// scalarRange returns the offsets of the characters of a string or number, or 0 and 0 for another
// type.
func scalarRange(raw []byte, m memberAt) (from, to int) {
	value := bytes.TrimLeft(raw[m.colon:m.to], ": \t\r\n")
	from, to = m.to-len(value), m.to
	switch {
	case len(value) > 1 && value[0] == '"':
		return from + 1, to - 1
	case isNumber(value):
		return from, to
	}
	return 0, 0
}

// replaceRanges returns raw with two ranges replaced. The ranges may be in either order.
func replaceRanges(raw []byte, one [2]int, with []byte, other [2]int, by []byte) []byte {
	if one[0] > other[0] {
		one, with, other, by = other, by, one, with
	}
	return slices.Concat(raw[:one[0]], with, raw[one[1]:other[0]], by, raw[other[1]:])
}
