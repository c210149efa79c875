package worker

import (
	"bytes"
	"fmt"
	"strconv"

	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/rawjson"
)

// A reader parses one line of JSON (RFC 8259), member by member, and skips the
// members that its caller does not read. It accepts the lines that
// encoding/json accepts: names match in any case, a null member counts as
// absent, and the last of several members with one name counts.
//
// Package rawjson reads the values of SDKs without loss, as a tree or into a
// digest, and distinguishes repeated names and names in different case. A line
// has known members, so a reader stores them in the fields of a struct, which
// is faster. Strings with escapes are decoded by rawjson here too.
//
// It keeps the first error. After an error it is at the end of the line, and
// its methods return zero values.
type reader struct {
	src   []byte
	at    int
	depth int // nesting of the current array or object
	// verdictsLeft is the number of verdicts that are still read.
	verdictsLeft int
	err          error
}

// fail records that the input differs from want.
func (r *reader) fail(want string) {
	if r.err == nil {
		r.stop(fmt.Errorf("byte %d: want %s", r.at, want))
	}
}

// stop records an error and skips to the end of the line.
func (r *reader) stop(err error) {
	if r.err == nil {
		r.err = err
	}
	r.at = len(r.src)
}

// end returns the first error. Text after the value is an error.
func (r *reader) end() error {
	if r.peek(); r.at < len(r.src) {
		r.fail("the end of the line")
	}
	return r.err
}

// peek skips white space and returns the next byte, or 0 at the end.
func (r *reader) peek() byte {
	for ; r.at < len(r.src); r.at++ {
		switch c := r.src[r.at]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// take consumes the next byte after white space if it is c.
func (r *reader) take(c byte) bool {
	if r.peek() != c {
		return false
	}
	r.at++
	return true
}

// list reads an array or object, depending on brackets. element reads one
// element.
func (r *reader) list(brackets string, element func()) {
	opening, closing := brackets[0], brackets[1]
	if !r.take(opening) {
		r.fail("the bracket " + brackets[:1])
		return
	}
	if r.depth++; r.depth > rawjson.DefaultMaxDepth {
		r.fail("less nesting")
	}
	for more := !r.take(closing); more; more = r.another(closing) {
		element()
	}
	r.depth--
}

// another reads the text after an element and reports whether another element
// follows.
func (r *reader) another(closing byte) bool {
	if r.take(',') {
		return true
	}
	if !r.take(closing) {
		r.fail("a comma or the closing bracket")
	}
	return false
}

// object reads an object, or null as an empty one. member reads the value of
// the named member. It reports false, without reading, if the protocol has no
// such member.
func (r *reader) object(member func(name []byte) bool) {
	if r.null() {
		return
	}
	r.list("{}", func() {
		if name := r.name(); !r.null() && !member(name) && !member(bytes.ToLower(name)) {
			r.skip()
		}
	})
}

// name reads the name of a member and the colon.
func (r *reader) name() []byte {
	name := r.string()
	if !r.take(':') {
		r.fail("a colon")
	}
	return name
}

// skip reads any value and drops it.
func (r *reader) skip() {
	switch r.peek() {
	case '{':
		r.list("{}", func() {
			r.name()
			r.skip()
		})
	case '[':
		r.list("[]", r.skip)
	case '"':
		r.string()
	case 'n':
		r.null()
	case 't', 'f':
		r.bool()
	default:
		r.number()
	}
}

// raw reads any value and returns its text, which shares memory with the line.
func (r *reader) raw() []byte {
	r.peek()
	start := r.at
	r.skip()
	return r.src[start:r.at:r.at]
}

// null reads null and reports true if null comes next.
func (r *reader) null() bool {
	if r.peek() != 'n' {
		return false
	}
	r.word("null")
	return true
}

func (r *reader) bool() bool {
	is := r.peek() == 't'
	if !is && r.peek() != 'f' {
		r.fail("true or false")
		return false
	}
	r.word(strconv.FormatBool(is))
	return is
}

func (r *reader) word(word string) {
	if !bytes.HasPrefix(r.src[r.at:], []byte(word)) {
		r.fail(word)
		return
	}
	r.at += len(word)
}

// string reads a string; the result is never nil. Lone surrogates are read as
// in package rawjson. A string without escapes shares memory with the line.
func (r *reader) string() []byte {
	if r.peek() != '"' {
		r.fail("a string")
		return nil
	}
	start, escaped := r.at, false
	for r.at++; r.at < len(r.src); r.at++ {
		if r.at += plainPrefixLength(r.src[r.at:]); r.at == len(r.src) {
			break
		}
		switch c := r.src[r.at]; {
		case c == '"':
			r.at++
			return r.unquote(r.src[start:r.at], escaped)
		case c == '\\':
			escaped = true
			r.at++
		case c < ' ':
			r.fail("no control character in a string")
			return nil
		}
	}
	r.fail("the end of a string")
	return nil
}

func (r *reader) unquote(quoted []byte, escaped bool) []byte {
	if !escaped {
		return quoted[1 : len(quoted)-1 : len(quoted)-1]
	}
	v, err := rawjson.Parse(quoted)
	if err != nil {
		r.stop(err)
	}
	return v.Text
}

// octets reads a base64url string; the result is never nil.
func (r *reader) octets() []byte {
	text := r.string()
	out, ok := base64url.AppendDecode([]byte{}, text)
	if !ok {
		r.stop(fmt.Errorf("%d characters are not canonical base64url without padding", len(text)))
	}
	return out
}

// integer reads a number that has neither a fraction nor an exponent.
func (r *reader) integer() int64 {
	if c := r.peek(); c != '-' && (c < '0' || c > '9') {
		r.fail("an integer")
		return 0
	}
	n, err := strconv.ParseInt(string(r.number()), 10, 64)
	if err != nil {
		r.fail("an integer of 64 bits")
	}
	return n
}

// decimal reads the literal of a number, which may be quoted.
func (r *reader) decimal() []byte {
	if r.peek() != '"' {
		return r.number()
	}
	literal := r.string()
	if n := numberLen(literal); n == 0 || n < len(literal) {
		r.fail("a number")
	}
	return literal
}

// number reads the literal of a number.
func (r *reader) number() []byte {
	r.peek()
	start := r.at
	if r.at += numberLen(r.src[r.at:]); r.at == start {
		r.fail("a value")
	}
	return r.src[start:r.at]
}

// numberLen returns the length of the number at the start of s, or 0.
func numberLen(s []byte) int {
	at := 0
	if len(s) > 0 && s[0] == '-' {
		at++
	}
	n := digitCount(s[at:])
	if n == 0 || n > 1 && s[at] == '0' {
		return 0
	}
	at += n
	if at < len(s) && s[at] == '.' {
		if n = digitCount(s[at+1:]); n == 0 {
			return 0
		}
		at += 1 + n
	}
	if at == len(s) || s[at] != 'e' && s[at] != 'E' {
		return at
	}
	at++
	if at < len(s) && (s[at] == '+' || s[at] == '-') {
		at++
	}
	if n = digitCount(s[at:]); n == 0 {
		return 0
	}
	return at + n
}

// digitCount returns the number of leading digits of s.
func digitCount(s []byte) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}
