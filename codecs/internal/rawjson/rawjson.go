// Package rawjson reads JSON (RFC 8259) without loss: numbers stay literals,
// strings keep lone surrogates, repeated names stay in their order. The SDKs digest
// and compare the values of their own parsers; a decoded Go value has lost them.
//
// Text is UTF-8 in which surrogates may occur, encoded in three bytes like any
// other code point ("generalised UTF-8", surrogatepass in Python). An escaped
// surrogate pair becomes its character. A text is WTF-8 if it has no pair that is
// written as two surrogates.
//
// A Dialect lists the extensions to the RFC that a parser accepts. Parsing is
// linear in time and memory, and its recursion is bounded by MaxDepth.
//
// On amd64 with AVX-512 VBMI2 strings are escaped and unescaped in blocks; the build tag
// purego selects Go. TestBlocksAsBytes holds both to a loop over bytes.
//
// The package does not check that documents are UTF-8: callers differ in that,
// and use utf8.Valid or [Valid] first.
package rawjson

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// A Kind is one of the kinds of JSON value.
type Kind uint8

// The kinds.
const (
	Null Kind = iota + 1
	False
	True
	Number
	String
	Array
	Object
)

// A Value is one JSON value. Beside Raw, only the fields of its kind are set.
// Raw shares memory with the document, and Text may.
type Value struct {
	Kind    Kind
	Raw     []byte   // the value as it stands in the document
	Text    []byte   // String: its characters, unescaped. Number: its literal.
	Items   []Value  // Array
	Members []Member // Object: every member in order, repeated names included
}

// A Member is one name and value of an object.
type Member struct {
	Name  []byte
	Value Value
}

// Lookup returns the value of the last member called name, or nil: the rule of
// every parser that the SDKs use.
func (v *Value) Lookup(name string) *Value {
	for i := len(v.Members) - 1; i >= 0; i-- {
		if string(v.Members[i].Name) == name {
			return &v.Members[i].Value
		}
	}
	return nil
}

// IsString reports whether v is a string with exactly the characters of text. It
// is false for a nil Value.
func (v *Value) IsString(text string) bool {
	return v != nil && v.Kind == String && string(v.Text) == text
}

// IsUTF8 reports whether no string or name in v has a lone surrogate.
func (v *Value) IsUTF8() bool {
	if v.Kind == String && !utf8.Valid(v.Text) {
		return false
	}
	for i := range v.Items {
		if !v.Items[i].IsUTF8() {
			return false
		}
	}
	for i := range v.Members {
		if !utf8.Valid(v.Members[i].Name) || !v.Members[i].Value.IsUTF8() {
			return false
		}
	}
	return true
}

// Float returns the nearest float to a Number, an infinity if it is out of range,
// and NaN for the literal NaN.
func (v *Value) Float() float64 {
	f, _ := strconv.ParseFloat(string(v.Text), 64) // the parser has seen to the syntax; out of range is infinite
	return f
}

// DefaultMaxDepth bounds nesting if a Dialect does not.
const DefaultMaxDepth = 10_000

// A Dialect lists the extensions to RFC 8259 that a parser accepts. The zero value
// is the RFC alone.
type Dialect struct {
	NonFinite bool // the literals NaN, Infinity and -Infinity are numbers
	Controls  bool // control characters may stand in strings as they are
	Comments  bool // /* */ and // to the end of line are white space
	AnyEscape bool // a backslash before any other character but a control stands for that character
	Trailing  bool // a comma may follow the last element of a list
	BarePoint bool // no digit has to follow the point of a number
	AnyPair   bool // an escaped high surrogate needs a low one, but whatever character is taken for the backslash between them
	Halves    bool // an escaped high surrogate is read in the way of Ruby's json 2.6: see half
	MaxDepth  int  // deepest nesting of arrays and objects; 0: DefaultMaxDepth
}

// Ruby is the dialect of JSON.parse of Ruby's json 2.6.
var Ruby = Dialect{Comments: true, AnyEscape: true, Halves: true, MaxDepth: 100}

// PHP is the dialect of PHP's json_decode at its default depth, 512.
var PHP = Dialect{MaxDepth: 511}

// Parse parses a whole document.
func (d Dialect) Parse(doc []byte) (Value, error) {
	p := parser{Dialect: d, src: doc}
	if p.MaxDepth == 0 {
		p.MaxDepth = DefaultMaxDepth
	}
	v, ok := p.document()
	if !ok {
		return Value{}, fmt.Errorf("not JSON: %s at byte %d", p.fault, p.at)
	}
	return v, nil
}

// Parse parses a whole document of plain RFC 8259.
func Parse(doc []byte) (Value, error) { return Dialect{}.Parse(doc) }
