package worker

import (
	"bytes"
	"fmt"
	"strconv"

	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/rawjson"
)

// A reader reads the one JSON value (RFC 8259) of a line, member by member, and
// skips the members that the caller does not read. It accepts the lines that
// encoding/json accepts: the case of letters in names does not matter, and a member
// that is null counts as absent. Of members with one name the last counts.
//
// Package rawjson reads the values of SDKs without loss, as a tree or into a digest, and
// takes a name twice or in another case for two names. A line has known members and goes
// into the fields of a struct without a tree, which is faster. Strings with escapes are
// read by rawjson here too.
//
// It keeps the first fault. After that it is at the end of the line, and its reads
// return zero values.
type reader struct {
	src   []byte
	at    int
	depth int // of the arrays and objects that it is in
	// verdictsLeft is the number of verdicts of a response that are still read.
	verdictsLeft int
	err          error
}

// fail keeps the fault that something else should stand here.
func (r *reader) fail(want string) {
	if r.err == nil {
		r.stop(fmt.Errorf("byte %d: want %s", r.at, want))
	}
}

// stop keeps a fault and goes to the end of the line.
func (r *reader) stop(err error) {
	if r.err == nil {
		r.err = err
	}
	r.at = len(r.src)
}

// end returns the first fault. That something follows the value is one.
func (r *reader) end() error {
	if r.peek(); r.at < len(r.src) {
		r.fail("the end of the line")
	}
	return r.err
}

// peek skips white space and returns the byte behind it, 0 at the end.
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

// take reads the byte c, if it is the next behind white space.
func (r *reader) take(c byte) bool {
	if r.peek() != c {
		return false
	}
	r.at++
	return true
}

// list reads an array or object, whose brackets are given; element reads one
// element of it.
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

// another reads the text after an element, and reports whether one more comes.
func (r *reader) another(closing byte) bool {
	if r.take(',') {
		return true
	}
	if !r.take(closing) {
		r.fail("a comma or the closing bracket")
	}
	return false
}

// object reads an object, or null, which is an empty one. The function member reads
// the value of the member with that name. It reports false, and reads no byte, if
// the protocol does not have that member.
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

// skip passes over any value.
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

// raw reads any value as it stands in the line, with which it shares memory.
func (r *reader) raw() []byte {
	r.peek()
	start := r.at
	r.skip()
	return r.src[start:r.at:r.at]
}

// null reads null, if null comes next.
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

// string reads a string, which is not nil. Lone surrogates are read as in package
// rawjson. Without an escape the string shares memory with the line.
func (r *reader) string() []byte {
	if r.peek() != '"' {
		r.fail("a string")
		return nil
	}
	start, escaped := r.at, false
	for r.at++; r.at < len(r.src); r.at++ {
		if r.at += run(r.src[r.at:]); r.at == len(r.src) {
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

// octets reads a string of base64url. The result is not nil.
func (r *reader) octets() []byte {
	text := r.string()
	out, ok := base64url.AppendDecode([]byte{}, text)
	if !ok {
		r.stop(fmt.Errorf("%d characters are not canonical base64url without padding", len(text)))
	}
	return out
}

// integer reads a number without a fraction and an exponent.
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

// decimal reads the literal of a number, which may stand in a string.
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

// numberLen returns the length of the number at the start of s, 0 if s starts with other text.
func numberLen(s []byte) int {
	at := 0
	if len(s) > 0 && s[0] == '-' {
		at++
	}
	n := digits(s[at:])
	if n == 0 || n > 1 && s[at] == '0' {
		return 0
	}
	at += n
	if at < len(s) && s[at] == '.' {
		if n = digits(s[at+1:]); n == 0 {
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
	if n = digits(s[at:]); n == 0 {
		return 0
	}
	return at + n
}

// digits is the number of digits that s begins with.
func digits(s []byte) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}
