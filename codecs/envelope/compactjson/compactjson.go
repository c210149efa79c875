// Package compactjson writes JSON as the Python SDK's compact_json does, byte
// for byte: json.dumps(value, separators=(",", ":")) of CPython 3, with or
// without sort_keys, of the value that json.loads makes of a document. The SDK
// digests arguments and frames claims in this form.
//
// The form, which is ASCII:
//
//	strings   " and \ and every character outside space..~ escaped: \n \r \t \f
//	          \b, else \uXXXX in lower case, characters beyond U+FFFF as a pair
//	          of surrogates, lone surrogates as they are
//	integers  their digits, of any number; -0 is 0
//	floats    (a literal with a point or an exponent) Python's repr
//	objects   a repeated name keeps its first place and its last value; sorted,
//	          members stand in the order of the code points of their names
//
// It works on documents and never on decoded Go values, which have lost the
// difference between 1 and 1.0, big integers and lone surrogates.
//
// Limits: nesting of rawjson.DefaultMaxDepth. It does not reproduce Python's
// limit of 4300 digits for an integer, except where [Loads] reads claims.
package compactjson

import (
	"bytes"
	"fmt"
	"slices"

	"sealab/codecs/rawjson"
)

// arguments is what json.loads takes: RFC 8259, NaN and the infinities.
var arguments = rawjson.Dialect{NonFinite: true}

// AppendSorted appends the compact form of a document, members sorted.
func AppendSorted(dst, doc []byte) ([]byte, error) { return appendDocument(dst, doc, byName) }

// Append appends the compact form of a document, members in their order.
func Append(dst, doc []byte) ([]byte, error) { return appendDocument(dst, doc, byPlace) }

func appendDocument(dst, doc []byte, order ordering) ([]byte, error) {
	v, err := Parse(doc)
	if err != nil {
		return dst, err
	}
	return appendValue(dst, &v, order), nil
}

// Parse parses a UTF-8 document, in which lone surrogates may occur, as
// json.loads does.
func Parse(doc []byte) (rawjson.Value, error) {
	if !rawjson.Valid(doc) {
		return rawjson.Value{}, fmt.Errorf("sealab: not JSON: the document is not UTF-8")
	}
	return arguments.Parse(doc)
}

// AppendSortedValue appends the compact form of a value, members sorted.
func AppendSortedValue(dst []byte, v *rawjson.Value) []byte { return appendValue(dst, v, byName) }

// ordering returns the members of an object that are written, in order.
type ordering func([]rawjson.Member) []rawjson.Member

func appendValue(dst []byte, v *rawjson.Value, order ordering) []byte {
	switch v.Kind {
	case rawjson.True:
		return append(dst, "true"...)
	case rawjson.False:
		return append(dst, "false"...)
	case rawjson.Number:
		return appendNumber(dst, v.Text)
	case rawjson.String:
		return AppendString(dst, v.Text)
	case rawjson.Array:
		return appendArray(dst, v.Items, order)
	case rawjson.Object:
		return appendObject(dst, order(v.Members), order)
	default:
		return append(dst, "null"...)
	}
}

func appendArray(dst []byte, items []rawjson.Value, order ordering) []byte {
	dst = append(dst, '[')
	for i := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendValue(dst, &items[i], order)
	}
	return append(dst, ']')
}

func appendObject(dst []byte, members []rawjson.Member, order ordering) []byte {
	dst = append(dst, '{')
	for i := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(AppendString(dst, members[i].Name), ':')
		dst = appendValue(dst, &members[i].Value, order)
	}
	return append(dst, '}')
}

// byPlace gives each name its first place and its last value.
func byPlace(members []rawjson.Member) []rawjson.Member {
	if len(members) < 2 {
		return members
	}
	place := make(map[string]int, len(members))
	out := make([]rawjson.Member, 0, len(members))
	for _, m := range members {
		if i, seen := place[string(m.Name)]; seen {
			out[i] = m
			continue
		}
		place[string(m.Name)] = len(out)
		out = append(out, m)
	}
	return out
}

// byName sorts the members, and gives each name its last value. Generalised
// UTF-8 sorts by bytes as its code points do.
func byName(members []rawjson.Member) []rawjson.Member {
	if len(members) < 2 {
		return members
	}
	sorted := slices.Clone(members)
	slices.SortStableFunc(sorted, func(a, b rawjson.Member) int { return bytes.Compare(a.Name, b.Name) })
	out := sorted[:0]
	for i, m := range sorted {
		if i+1 < len(sorted) && bytes.Equal(m.Name, sorted[i+1].Name) {
			continue
		}
		out = append(out, m)
	}
	return out
}
