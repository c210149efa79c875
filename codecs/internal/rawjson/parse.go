package rawjson

import (
	"bytes"
	"slices"
)

// few is the number of members that claims have at most.
const few = 10

// parser is a recursive descent parser over src. Its methods report false after
// they have recorded a fault.
type parser struct {
	Dialect
	src   []byte
	at    int
	depth int
	// closing is the end of the current string, if half replaced a part of it.
	closing int
	fault   string
}

func (p *parser) fail(what string) bool {
	p.fault = what
	return false
}

// next returns the next byte, or 0 at the end.
func (p *parser) next() byte {
	if p.at < len(p.src) {
		return p.src[p.at]
	}
	return 0
}

func (p *parser) document() (v Value, ok bool) {
	var room [few]Member
	//mutant:equivalent no document goes on here, so the next step refuses
	if !p.space() || !p.value(&v, room[:0]) || !p.space() {
		return v, false
	}
	if p.at != len(p.src) {
		return v, p.fail("more follows the value")
	}
	return v, true
}

// space skips white space, and comments if the dialect has them. The fast path
// is no white space.
func (p *parser) space() bool {
	if c := p.next(); c > ' ' && c != '/' {
		return true
	}
	return p.spaces()
}

func (p *parser) spaces() bool {
	for {
		switch p.next() {
		case ' ', '\t', '\n', '\r':
			p.at++
		case '/':
			if !p.Comments {
				return true
			}
			if !p.comment() {
				return p.fail("an unfinished comment")
			}
		default:
			return true
		}
	}
}

// comment skips one comment. A line comment must end with its line.
func (p *parser) comment() bool {
	rest := p.src[p.at+1:]
	var end []byte
	switch {
	case bytes.HasPrefix(rest, []byte("*")):
		end = []byte("*/")
	case bytes.HasPrefix(rest, []byte("/")):
		end = []byte("\n")
	default:
		return false
	}
	n := bytes.Index(rest[1:], end)
	if n < 0 {
		return false
	}
	p.at += 2 + n + len(end)
	return true
}

// value reads a value. It uses the spare capacity of room for the members of
// objects.
func (p *parser) value(v *Value, room []Member) bool {
	start := p.at
	ok := p.anyKind(v, room)
	v.Raw = p.src[start:p.at]
	return ok
}

func (p *parser) anyKind(v *Value, room []Member) bool {
	switch p.next() {
	case '{':
		//mutant:equivalent no document goes on here, so the next step refuses
		return p.enter() && p.object(v, room) && p.leave()
	case '[':
		//mutant:equivalent no document goes on here, so the next step refuses
		return p.enter() && p.array(v, room) && p.leave()
	case '"':
		v.Kind = String
		return p.text(&v.Text)
	case 'n':
		return p.word(v, Null, "null")
	case 't':
		return p.word(v, True, "true")
	case 'f':
		return p.word(v, False, "false")
	default:
		return p.number(v)
	}
}

func (p *parser) enter() bool {
	p.at++
	if p.depth++; p.depth > p.MaxDepth {
		return p.fail("nesting too deep")
	}
	//mutant:equivalent no document goes on here, so the next step refuses
	return p.space()
}

func (p *parser) leave() bool {
	p.depth--
	return true
}

func (p *parser) word(v *Value, k Kind, word string) bool {
	if !bytes.HasPrefix(p.src[p.at:], []byte(word)) {
		return p.fail("no value")
	}
	p.at += len(word)
	v.Kind = k
	return true
}

func (p *parser) array(v *Value, room []Member) bool {
	v.Kind = Array
	if p.next() == ']' {
		p.at++
		return true
	}
	var item Value
	for {
		item = Value{}
		if !p.value(&item, room) {
			return false
		}
		v.Items = append(v.Items, item)
		if more, ok := p.another(']'); !more {
			return ok
		}
	}
}

func (p *parser) object(v *Value, room []Member) bool {
	v.Kind = Object
	if p.next() == '}' {
		p.at++
		return true
	}
	for {
		room = append(room, Member{})
		m := &room[len(room)-1]
		if !p.name(m) || !p.value(&m.Value, room[len(room):]) {
			return false
		}
		if more, ok := p.another('}'); !more {
			v.Members = slices.Clone(room)
			return ok
		}
	}
}

// name reads a member's name and the colon.
func (p *parser) name(m *Member) bool {
	if p.next() != '"' {
		return p.fail("no member name")
	}
	//mutant:equivalent no document goes on here, so the next step refuses
	if !p.text(&m.Name) || !p.space() {
		return false
	}
	if p.next() != ':' {
		return p.fail("no colon after a member name")
	}
	p.at++
	return p.space()
}

// another reads the text after an element: a comma, if more is true, or the
// closing bracket.
func (p *parser) another(closing byte) (more, ok bool) {
	if !p.space() {
		return false, false
	}
	switch p.next() {
	case ',':
		p.at++
		//mutant:equivalent no document goes on here, so the next step refuses
		if !p.space() {
			return false, false
		}
		if !p.Trailing || p.next() != closing {
			return true, true
		}
		p.at++
		return false, true
	case closing:
		p.at++
		return false, true
	default:
		return false, p.fail("neither a comma nor the end of the list")
	}
}

// number reads a number's literal.
func (p *parser) number(v *Value) bool {
	v.Kind = Number
	start := p.at
	if p.NonFinite && p.nonFinite() {
		v.Text = p.src[start:p.at]
		return true
	}
	if p.next() == '-' {
		p.at++
	}
	if p.next() == '0' {
		p.at++
	} else if !p.digits() {
		return p.fail("no value")
	}
	if p.next() == '.' {
		p.at++
		if !p.digits() && !p.BarePoint {
			return p.fail("no digit after the point")
		}
	}
	if c := p.next(); c == 'e' || c == 'E' {
		p.at++
		if c := p.next(); c == '+' || c == '-' {
			p.at++
		}
		if !p.digits() {
			return p.fail("no digit in the exponent")
		}
	}
	v.Text = p.src[start:p.at]
	return true
}

func (p *parser) nonFinite() bool {
	for _, word := range []string{"NaN", "Infinity", "-Infinity"} {
		if bytes.HasPrefix(p.src[p.at:], []byte(word)) {
			p.at += len(word)
			return true
		}
	}
	return false
}

// digits skips at least one digit.
func (p *parser) digits() bool {
	start := p.at
	for c := p.next(); '0' <= c && c <= '9'; c = p.next() {
		p.at++
	}
	return p.at > start
}
