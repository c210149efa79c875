// Package rawjson reads JSON (RFC 8259) without loss: numbers stay literals,
// strings keep lone surrogates, repeated names stay in their order. The SDKs
// digest and compare the values of their own parsers, and decoding to Go values
// would lose these details.
//
// Text is UTF-8 in which surrogates may occur, encoded in three bytes like any
// other code point ("generalized UTF-8", surrogatepass in Python). An escaped
// surrogate pair becomes its character. A text is WTF-8 if it contains no pair
// encoded as two surrogates.
//
// A Dialect lists the extensions to the RFC that a parser accepts. Parsing is
// linear in time and memory, and its recursion is bounded by MaxDepth.
//
// On amd64 with AVX-512 VBMI2 strings are escaped and unescaped in blocks. The
// build tag purego selects Go code. TestBlocksAsBytes compares both with a loop
// over bytes.
//
// The package does not check that documents are UTF-8. Callers have different
// rules, so they call utf8.Valid or [Valid] first.
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

// A Value is one JSON value. Besides Raw, only the fields of its kind are set.
// Raw shares memory with the document; Text may share it.
type Value struct {
	Kind    Kind
	Raw     []byte   // the text of the value in the document
	Text    []byte   // String: its characters, unescaped. Number: its literal.
	Items   []Value  // Array
	Members []Member // Object: every member in order, including repeated names
}

// A Member is a name and value in an object.
type Member struct {
	Name  []byte
	Value Value
}

// Lookup returns the value of the last member called name, or nil. All parsers
// that the SDKs use take the last member.
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

// IsUTF8 reports whether the strings and names in v contain no lone surrogate.
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

// Float returns the float nearest to a Number, an infinity if it is out of
// range, or NaN for the literal NaN.
func (v *Value) Float() float64 { return ParseFloat(v.Text) }

// exactDigits is a number of decimal digits that a float always holds exactly.
const exactDigits = 15

// ParseFloat returns the float nearest to the literal of a number, an infinity
// if it is out of range, or 0 if it is not in the syntax of package strconv.
func ParseFloat(literal []byte) float64 {
	if len(literal) <= exactDigits {
		if n, ok := parseDigits(literal); ok {
			return float64(n)
		}
	}
	f, _ := strconv.ParseFloat(string(literal), 64) // out of range gives an infinity
	return f
}

// parseDigits returns the value of a literal that consists of digits alone.
func parseDigits(literal []byte) (n int64, ok bool) {
	for _, c := range literal {
		if c -= '0'; c > 9 {
			return 0, false
		}
		n = 10*n + int64(c)
	}
	return n, true
}

// DefaultMaxDepth bounds nesting if a Dialect does not.
const DefaultMaxDepth = 10_000

// A Dialect lists the extensions to RFC 8259 that a parser accepts. The zero
// value is the RFC without extensions.
type Dialect struct {
	NonFinite bool // the literals NaN, Infinity and -Infinity are numbers
	Controls  bool // strings may contain unescaped control characters
	Comments  bool // /* */ and // to the end of line are white space
	AnyEscape bool // a backslash before any other character but a control stands for that character
	Trailing  bool // a comma may follow the last element of a list
	BarePoint bool // the point of a number need not be followed by a digit
	AnyPair   bool // an escaped high surrogate needs a low one, but any character may replace the backslash between them
	Halves    bool // an escaped high surrogate is read as Ruby's json 2.6 does: see half
	MaxDepth  int  // maximum nesting of arrays and objects; 0: DefaultMaxDepth
}

// Ruby is the dialect of JSON.parse of Ruby's json 2.6.
var Ruby = Dialect{Comments: true, AnyEscape: true, Halves: true, MaxDepth: 100}

// PHP is the dialect of PHP's json_decode with its default depth, 512.
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

// Parse parses a whole document of RFC 8259 without extensions.
func Parse(doc []byte) (Value, error) { return Dialect{}.Parse(doc) }
