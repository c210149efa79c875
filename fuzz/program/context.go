package program

import (
	"bytes"
	"encoding/json"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"sealab/codecs"
)

// Context is the context of targets that do not vary it.
var Context = codecs.Context{
	Method: "tools/call", Target: "deploy", Arguments: json.RawMessage(`{"env":"prod"}`),
	Principal: new("alice"), Audience: new("srv"),
	Now: time.Unix(1_795_132_800, 0),
}

// Values of a context. Any two arguments differ in value for every reader.
var (
	methodValues   = []string{"tools/call", "prompts/get", "Tools/Call", "tools/call\x00", "tools"}
	argumentValues = []string{`{"env":"prod"}`, `{"env":"dev"}`, `{"env":"prod","at":[1,2,{"b":null}]}`, `{"ENV":"prod"}`,
		`{"env":"prod","note":"` + string(bytes.Repeat([]byte("long "), 40)) + `1"}`,
		`{"env":"prod","note":"` + string(bytes.Repeat([]byte("long "), 40)) + `2"}`}
)

// readResource is a method whose requests have no arguments, so formats do not bind them.
// Programs reach it as a literal of the source.
const readResource = "resources/read"

// A contextField is the place of a value in a context, counted from 0 to Places-1.
type contextField byte

const (
	inMethod contextField = iota
	inTarget
	inArguments
	inPrincipal
	inAudience
	Places = 5
)

// Promises are the properties that bind each place.
var Promises = [Places]codecs.Property{codecs.BindsMethod, codecs.BindsTarget, codecs.BindsArguments, codecs.BindsPrincipal, codecs.BindsAudience}

// ChangeContext changes one field of the context as the program chooses.
func ChangeContext(p *Program, c codecs.Context) codecs.Context {
	where, how := contextField(p.Pick(Places)), p.Byte()
	switch where {
	case inMethod:
		c.Method = methodValues[int(how)%len(methodValues)]
		if how >= 128 {
			c.Method = rewriteText(p, c.Method, how)
		}
	case inTarget:
		c.Target = rewriteText(p, c.Target, how)
	case inArguments:
		c.Arguments = json.RawMessage(argumentValues[int(how)%len(argumentValues)])
		if how >= 128 {
			c.Arguments = json.RawMessage(`{"env":"` + Letters(Payload(p, nil)) + `"}`)
		}
	case inPrincipal:
		c.Principal = rewriteOptional(p, c.Principal, how)
	default:
		c.Audience = rewriteOptional(p, c.Audience, how)
	}
	if c.Method == readResource {
		c.Arguments = nil
	}
	return c
}

// rewriteOptional is rewriteText for a value that may be absent.
func rewriteOptional(p *Program, s *string, how byte) *string {
	if how%8 == 7 {
		return nil
	}
	if how%16 == 8 || s == nil {
		return new("")
	}
	return new(rewriteText(p, *s, how))
}

// rewriteText changes a text into one that a careless comparison confuses with it, or into another
// text.
func rewriteText(p *Program, s string, how byte) string {
	if how >= 128 {
		return rewriteAt(p, s)
	}
	switch how % 7 {
	case 0:
		return toASCII(p.Bytes(32))
	case 1:
		return s + "\x00"
	case 2:
		return s + toASCII(p.Bytes(8))
	case 3:
		return string(bytes.ToUpper([]byte(s)))
	case 4:
		return s[:len(s)/2]
	case 5:
		return s + " "
	default:
		return ""
	}
}

// rewriteAt changes one character of a text, or replaces the text by a long one or a literal of
// the source.
func rewriteAt(p *Program, s string) string {
	kind, at := p.Pick(7), 0
	if len(s) > 0 {
		at = p.Uint16() % len(s)
	}
	switch {
	case kind == 0:
		return toASCII(Literal(p))
	case kind == 1:
		return toASCII(Payload(p, nil))
	case kind == 2:
		return s[:at] + toASCII(Literal(p)) + s[at:]
	case kind == 3 || s == "":
		return s + toASCII([]byte{p.Byte()})
	case kind == 4: // remove a character
		return s[:at] + s[at+1:]
	case kind == 5: // change a character
		return s[:at] + toASCII([]byte{s[at] ^ (p.Byte()%127 + 1)}) + s[at+1:]
	default: // change the last character
		return s[:len(s)-1] + toASCII([]byte{s[len(s)-1] ^ (p.Byte()%127 + 1)})
	}
}

// Letters maps bytes to letters, which need no escape in JSON.
func Letters(b []byte) string {
	b = bytes.Clone(b)
	for i := range b {
		b[i] = 'a' + b[i]%26
	}
	return string(b)
}

// toASCII maps bytes to ASCII, which every format can carry.
func toASCII(b []byte) string {
	b = bytes.Clone(b)
	for i := range b {
		b[i] &= 0x7f
	}
	return string(b)
}

// Differs reports for each place whether two contexts differ there.
func Differs(a, b *codecs.Context) [Places]bool {
	return [Places]bool{
		a.Method != b.Method,
		a.Target != b.Target,
		!bytes.Equal(a.Arguments, b.Arguments),
		!sameOptional(a.Principal, b.Principal),
		!sameOptional(a.Audience, b.Audience),
	}
}

// Nowhere is the result of Differs for equal contexts.
var Nowhere [Places]bool

func sameOptional(a, b *string) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// A ring maps 16-bit numbers to things by consistent hashing. All things are about equally
// likely, and most numbers keep their thing if others are added or removed. Each thing has
// several points on a circle, which depend only on its name. A number selects the thing of the
// next point.
type ring[T any] struct {
	things []T
	next   []uint16 // for each number, the index of its thing plus one
}

// pointsPerThing is the number of points per thing. With 32 points, the weights of hundreds of
// things deviate from their mean by less than two thirds.
const pointsPerThing = 32

// newRing returns the ring of things with the given names. If two points coincide, the earlier
// thing keeps it.
func newRing[T any](names []string, things []T) ring[T] {
	r := ring[T]{things, make([]uint16, 1<<16)}
	for i, name := range names {
		h := fnv.New64a()
		h.Write([]byte(name)) //nolint:errcheck // documented never to fail
		g := rand.NewPCG(h.Sum64(), pointsPerThing)
		for range pointsPerThing {
			if at := &r.next[uint16(g.Uint64())]; *at == 0 {
				*at = uint16(i + 1)
			}
		}
	}
	r.fill()
	return r
}

// fill assigns the numbers between two points to the second point. It walks around the circle
// twice, because the last numbers belong to the first point.
func (r ring[T]) fill() {
	var next uint16
	for i := 2*len(r.next) - 1; i >= 0; i-- {
		at := &r.next[i%len(r.next)]
		if *at == 0 {
			*at = next
		}
		next = *at
	}
}

// at returns the thing for n, which is from 0 to 65535.
func (r ring[T]) at(n int) T { return r.things[r.next[n]-1] }
