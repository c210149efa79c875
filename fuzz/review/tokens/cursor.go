package tokens

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"sealab/fuzz/review/jsondoc"
)

// A codedText is a readable part of a cursor and a function that writes the part again.
type codedText struct {
	text  string
	write func(text string) string // returns the whole cursor
}

// codedTexts returns the readable parts of a cursor: the whole cursor, and each part between full
// stops that is the base64 of a text. A part may be shorter than [MinCoded].
func codedTexts(cursor string) []codedText {
	whole := codedText{cursor, func(text string) string { return text }}
	if len(jsondoc.Members(json.RawMessage(cursor))) > 0 {
		return []codedText{whole}
	}
	var all []codedText
	parts := strings.Split(cursor, ".")
	for i, part := range parts {
		for _, code := range cursorCodings {
			raw, err := code.DecodeString(part)
			if err != nil || len(raw) < 3 && !isNumber(string(raw)) || !isPrintable(raw) {
				continue
			}
			all = append(all, codedText{string(raw), func(text string) string {
				changed := slices.Clone(parts)
				changed[i] = code.EncodeToString([]byte(text))
				return strings.Join(changed, ".")
			}})
			break
		}
	}
	if len(all) == 0 || len(parts) == 1 {
		all = append(all, whole)
	}
	return all
}

// hexCoding is the hexadecimal coding in lower case.
type hexCoding struct{}

func (hexCoding) DecodeString(text string) ([]byte, error) { return hex.DecodeString(text) }
func (hexCoding) EncodeToString(raw []byte) string         { return hex.EncodeToString(raw) }

// cursorCodings are the encodings that are tried on a part of a cursor.
var cursorCodings = []interface {
	DecodeString(text string) ([]byte, error)
	EncodeToString(raw []byte) string
}{hexCoding{}, base64.RawURLEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.StdEncoding}

// isNumber reports whether a text consists of digits.
func isNumber(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

func isPrintable(raw []byte) bool {
	return utf8.Valid(raw) && strings.IndexFunc(string(raw), func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}

// wordPattern matches a part of a text that may be a name.
var wordPattern = regexp.MustCompile(`[\pL\pN@_-]+`)

// partialNumber matches a number that may be a part of a word, as in after-4.
var partialNumber = regexp.MustCompile(`\b\d{1,9}\b`)

// Words returns the words that can be read in a cursor, without names of members and without encoded
// bytes: a sealed cursor has none.
func Words(cursor string) []string {
	var all []string
	for _, c := range codedTexts(cursor) {
		object := jsondoc.Members(json.RawMessage(c.text))
		for _, name := range jsondoc.SortedKeys(object) {
			if text, ok := jsondoc.Text(object[name]); ok && text != "" {
				all = append(all, text)
			}
		}
		if len(object) == 0 {
			all = append(all, slices.DeleteFunc(wordPattern.FindAllString(c.text, -1), func(word string) bool {
				return c.text == cursor && segmentOf(word).coded
			})...)
		}
	}
	return all
}

// usualWords are words that may select more than the list of one user.
var usualWords = []string{"admin", "root", "all", "*", "%", "", "private", "internal", "hidden", "1"}

// Altered returns cursors with one readable value changed: to a nearby number, a usual word, or one
// of words.
func Altered(cursor string, words []string) []Variant {
	words = slices.Concat(words, usualWords)
	var all []Variant
	seen := map[string]bool{cursor: true, "": true}
	for _, c := range codedTexts(cursor) {
		add := func(name, text string) {
			if whole := c.write(text); !seen[whole] {
				seen[whole] = true
				all = append(all, Variant{Name: name, Text: whole})
			}
		}
		if object := jsondoc.Members(json.RawMessage(c.text)); len(object) > 0 {
			alterMembers(object, words, func(name string, m map[string]json.RawMessage) { add(name, string(jsondoc.Object(m))) })
			continue
		}
		for _, at := range slices.Concat(wordPattern.FindAllStringIndex(c.text, -1), partialNumber.FindAllStringIndex(c.text, -1)) {
			for _, other := range otherValues(c.text[at[0]:at[1]], words) {
				add(fmt.Sprintf("%q as %q", c.text[at[0]:at[1]], other), c.text[:at[0]]+other+c.text[at[1]:])
			}
		}
	}
	return all
}

// alterMembers calls add with copies of an object in which one member has another value or is
// absent.
func alterMembers(object map[string]json.RawMessage, words []string, add func(name string, m map[string]json.RawMessage)) {
	for _, name := range jsondoc.SortedKeys(object) {
		var text string
		set := func(raw string) {
			add(fmt.Sprintf("%q as %s", name, raw), jsondoc.With(object, name, json.RawMessage(raw)))
		}
		switch raw := string(object[name]); {
		case raw == "true":
			set("false")
		case raw == "false":
			set("true")
		case json.Unmarshal(object[name], &text) == nil:
			for _, other := range otherValues(text, words) {
				set(string(jsondoc.Quote(other)))
			}
		case wordPattern.FindString(raw) == raw || strings.HasPrefix(raw, "-"):
			for _, other := range otherValues(raw, nil) {
				if json.Valid([]byte(other)) {
					set(other)
				}
			}
		}
		add(fmt.Sprintf("no %q", name), jsondoc.Without(object, name))
	}
}

// otherValues returns values to replace value.
func otherValues(value string, words []string) []string {
	if n, err := strconv.ParseInt(value, 10, 64); err == nil {
		return []string{strconv.FormatInt(n+1, 10), strconv.FormatInt(n-1, 10), "0", "-1", "-2", "-3", "1000", "1e1", "+" + value}
	}
	return words
}
