// Package compactjson writes JSON exactly as the Python SDK's compact_json
// does: json.dumps(value, separators=(",", ":")) of CPython 3, with or without
// sort_keys, of the value that json.loads returns for a document. The SDK
// digests arguments and writes claims in this form.
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
// The parser is that of [rawjson] with the dialect of json.loads. The printer
// is also that of rawjson, with a table for this form.
//
// It works on documents, never on decoded Go values, which lose the difference
// between 1 and 1.0, big integers and lone surrogates.
//
// Limits: nesting of rawjson.DefaultMaxDepth. Only [Loads] and [LoadsText] reproduce
// Python's limit of 4300 digits for an integer.
package compactjson

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"sealab/codecs/internal/rawjson"
)

// arguments is the dialect of json.loads: RFC 8259, NaN and the infinities.
var arguments = rawjson.Dialect{NonFinite: true}

// The two ASCII printers, which differ only in the order of members.
var (
	sorted  = printer(rawjson.ByName)
	ordered = printer(rawjson.FirstPlaces)
)

func printer(members func([]rawjson.Member) []rawjson.Member) *rawjson.Printer {
	return &rawjson.Printer{Quoting: quoting, Number: AppendNumber, Members: members}
}

// Unicode prints values as json.dumps does with ensure_ascii=False, members in
// their order. Python cannot encode such texts if they contain lone surrogates.
var Unicode = &rawjson.Printer{Quoting: unicode, Number: AppendNumber, Members: rawjson.FirstPlaces}

// AppendSorted appends the compact form of a document, members sorted.
func AppendSorted(dst, doc []byte) ([]byte, error) { return appendDocument(dst, doc, sorted) }

// Append appends the compact form of a document, members in their order.
func Append(dst, doc []byte) ([]byte, error) { return appendDocument(dst, doc, ordered) }

func appendDocument(dst, doc []byte, p *rawjson.Printer) ([]byte, error) {
	v, err := Parse(doc)
	//mutant:equivalent no design calls it: sources of fuzz targets do, on documents of their own
	if err != nil {
		return dst, err
	}
	return p.AppendValue(dst, &v), nil
}

var errNotUTF8 = errors.New("not JSON: the document is not UTF-8")

// Parse parses a UTF-8 document as json.loads does. The document may contain
// lone surrogates.
func Parse(doc []byte) (rawjson.Value, error) {
	//mutant:equivalent a vector's context cannot hold the bytes, and in claims a second check finds them
	if !rawjson.Valid(doc) {
		return rawjson.Value{}, errNotUTF8
	}
	return arguments.Parse(doc)
}

// AppendValue appends the compact form of a value, members in their order.
func AppendValue(dst []byte, v *rawjson.Value) []byte { return ordered.AppendValue(dst, v) }

// StreamSorted writes the output of AppendSorted to out without building a
// tree. It ignores errors of out. If it fails, it has written nothing.
func StreamSorted(out io.Writer, doc []byte) error {
	//mutant:equivalent a vector's context cannot hold the bytes
	if !rawjson.Valid(doc) {
		return errNotUTF8
	}
	return sorted.StreamSorted(out, arguments, doc)
}

// AppendPlain appends the output of AppendSorted if doc is in the usual form;
// see [rawjson.Quoting.AppendPlain]. It reports false for other documents.
func AppendPlain(dst, doc []byte) ([]byte, bool) { return quoting.AppendPlain(dst, doc) }

// AppendExact appends a UTF-8 document of RFC 8259 in the sorted form, but with
// numbers as they are spelled, so that documents with different values have
// different forms. Of members with one name the last counts. The form is not
// Python's.
func AppendExact(dst, doc []byte) ([]byte, error) {
	if out, ok := AppendPlain(dst, doc); ok {
		return out, nil
	}
	//mutant:equivalent a vector's context cannot hold the bytes
	if !utf8.Valid(doc) {
		return dst, errNotUTF8
	}
	out := bytes.NewBuffer(dst)
	if err := exact.StreamSorted(out, rawjson.Dialect{}, doc); err != nil {
		return dst, err
	}
	return out.Bytes(), nil
}

var exact = &rawjson.Printer{Quoting: quoting, Number: appendLiteral, Members: rawjson.ByName}

func appendLiteral(dst, literal []byte) []byte { return append(dst, literal...) }

// AppendString appends text, in generalized UTF-8 (see package rawjson), as a
// quoted string. Other bytes become U+FFFD, so callers that must not lose any
// check with rawjson.Valid first.
func AppendString(dst, text []byte) []byte { return quoting.Append(dst, text) }

// AppendWTF8 appends text as AppendString does. It reports whether text is
// WTF-8, so that it can be read back as the same bytes.
func AppendWTF8(dst, text []byte) ([]byte, bool) { return quoting.AppendWTF8(dst, text) }

// AppendText appends a Go string as AppendWTF8 does.
func AppendText(dst []byte, text string) ([]byte, bool) {
	plain := len(dst) + len(text) + len(`""`) // every escape is longer than its character
	dst = quoting.AppendText(dst, text)
	//mutant:equivalent a vector's context cannot hold the bytes
	return dst, len(dst) == plain || rawjson.ValidWTF8([]byte(text))
}

// CutString parses quoted, in the form of AppendString, and appends its text to
// dst: see [rawjson.Quoting.CutWhole].
func CutString(dst, quoted []byte) (text []byte, ok bool) { return quoting.CutWhole(dst, quoted) }

// quoting is for ASCII. It also escapes 0x7f.
var quoting = rawjson.NewQuoting(true, 0x7f, `""\\`+"\nn\rr\tt\ff\bb", rawjson.EscapeRune)

// unicode leaves characters beyond ASCII unescaped.
var unicode = rawjson.NewQuoting(false, '"', `""\\`+"\nn\rr\tt\ff\bb", rawjson.EscapeRune)
