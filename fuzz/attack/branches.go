package attack

import (
	"fmt"
	"strings"
	"time"

	"sealab/codecs"
	"sealab/internal/verdict"
)

// structural are arguments that differ in structure or type. Members in another
// order, and 1 and 1.0, are not among them: sound readers take those for one.
var structural = []twin{
	{`{"v":[1,2]}`, `{"v":[2,1]}`, "the order of a list"}, {`{"v":[1,1]}`, `{"v":[1]}`, "a list and a set"}, {`{"v":["a,b"]}`, `{"v":["a","b"]}`, "a list joined by commas"},
	{`{"v":[1]}`, `{"v":1}`, "a list of one"}, {`{"v":[]}`, `{}`, "an empty list and nothing"}, {`{"v":{}}`, `{}`, "an empty object and nothing"}, {`{"v":{}}`, `{"v":[]}`, "an object and a list"},
	{`{"v":{"w":1}}`, `{"v":{"w":2}}`, "a value inside"}, {`{"v":{"w":1}}`, `{"v":{"x":1}}`, "a name inside"}, {`{"v":{"w":1}}`, `{"v.w":1}`, "names joined by a full stop"},
	{`{"v":[{"w":1}]}`, `{"v":[{"w":2}]}`, "a value inside a list"}, {`{"v":{"w":{"x":{"y":1}}}}`, `{"v":{"w":{"x":{"y":2}}}}`, "a value deep inside"},
	{`{"v":1}`, `{"v":"1"}`, "a number and its text"}, {`{"v":true}`, `{"v":"true"}`, "a truth and its text"}, {`{"v":true}`, `{"v":1}`, "a truth and a number"},
	{`{"v":false}`, `{"v":0}`, "a truth and a number"}, {`{"v":null}`, `{"v":"null"}`, "null and its text"}, {`{"v":null}`, `{"v":false}`, "null and a truth"}, {`{"v":null}`, `{"v":""}`, "null and an empty text"},
	{`{"v":null}`, `{}`, "null and nothing"}, {`{"v":""}`, `{}`, "an empty text and nothing"}, {`{"v":false}`, `{}`, "a falsehood and nothing"}, {`{"v":1}`, `{"v":-1}`, "a sign"}, {`{"v":1}`, `{"v":1.5}`, "a fraction"},
	{`{"v":1}`, `{"V":1}`, "the case of a name"}, {`{"v":1}`, `{"v":1,"w":2}`, "a member more"}, {`{"v":1,"w":2}`, `{"v":2,"w":1}`, "values exchanged"},
	{`{"v":{"$ref":"a"}}`, `{"v":{"$ref":"b"}}`, "a member that schemas hide"}, {`{"_meta":{"v":1}}`, `{"_meta":{"v":2}}`, "a member that the protocol reserves"}, {`{"__proto__":{"v":1}}`, `{"__proto__":{"v":2}}`, "a member that a language reserves"}, {`{"v":[1]}`, `{"v":{"0":1}}`, "a list and an object of places"},
	{nested(12, "1"), nested(12, "2"), "a value twelve objects deep"}, {manyMembers(40, "1"), manyMembers(40, "2"), "the last of forty members"},
	{`{"v":[` + strings.Repeat("0,", 300) + `1]}`, `{"v":[` + strings.Repeat("0,", 300) + `2]}`, "the last of 301 values"}, {`{"v":["a","b"]}`, `{"v":["c","d"]}`, "lists of one length"},
}

// nested is value within so many objects.
func nested(deep int, value string) string {
	return strings.Repeat(`{"v":`, deep) + value + strings.Repeat("}", deep)
}

// manyMembers is an object of n members, of which the last has the value.
func manyMembers(n int, value string) string {
	var b strings.Builder
	for i := range n - 1 {
		fmt.Fprintf(&b, `"m%03d":0,`, i)
	}
	return "{" + b.String() + `"z":` + value + "}"
}

func structures(t *Trial) {
	p, tok, ok := t.scheme()
	if !ok {
		return
	}
	f := fields[2]
	if tok.Under.Arguments == nil || !t.binds(p, tok, f) {
		t.skip("the subject does not bind arguments")
		return
	}
	for _, w := range structural {
		t.across(p, tok.Under, f, w.a, w.b, w.how)
	}
}

// fewerFields mints without one or more of the fields that may be absent, and
// presents other values of what is left.
func fewerFields(t *Trial) {
	p, tok, ok := t.scheme()
	if !ok {
		return
	}
	for _, c := range poorest(tok.Under) {
		fewer, ok := p.mint(t.state(8), c)
		if !ok {
			continue
		}
		for _, f := range fields {
			t.otherValuesOf(p, fewer, f)
		}
	}
	if len(t.trials) == 0 {
		t.skip("the subject mints with every field only")
	}
}

// poorest are the contexts of c without one, two and all three of the fields that
// may be absent.
func poorest(c verdict.Context) []verdict.Context {
	var all []verdict.Context
	for absent := 1; absent < 8; absent++ {
		less := c
		for i, f := range fields[2:] {
			if absent&(1<<i) != 0 {
				less = f.without(less)
			}
		}
		all = append(all, less)
	}
	return all
}

// otherValuesOf presents tok with other values of one field, also where it had none.
func (t *Trial) otherValuesOf(p *Party, tok *Token, f field) {
	from, present := f.get(&tok.Under)
	for _, v := range f.unrelated()[:2] {
		t.try(f.property)
		if call, ok := p.accepts(tok.Text, f.put(tok.Under, v)); ok {
			was := "no " + f.name
			if present {
				was = fmt.Sprintf("%s %q", f.name, from)
			}
			t.refute(f.property, fmt.Sprintf("a token minted for %s is accepted for %q, in the context %s", was, v, written(tok.Under)), tok.Sealed, call)
		}
	}
}

// otherInBatch presents several honest tokens at once in contexts and at times
// that are not theirs.
func otherInBatch(t *Trial) {
	p, tok, ok := t.scheme()
	if !ok {
		return
	}
	if _, err := p.unsealBatch([][]byte{tok.Text}, tok.Under); err != nil {
		t.skip("the subject judges one token at a time")
		return
	}
	for _, f := range fields {
		if _, present := f.get(&tok.Under); present {
			t.inBatch(p, f.property, f.put(tok.Under, f.unrelated()[0]), tok.Under, "another "+f.name)
		}
	}
	if !t.Subject.OwnClock {
		late := later(tok.Under, 400*24*time.Hour)
		t.inBatch(p, codecs.Expiry, late, tok.Under, "400 days later")
	}
}

// inBatch mints tokens in one context and presents them in another, all at once.
func (t *Trial) inBatch(p *Party, property codecs.Property, to, from verdict.Context, how string) {
	var texts [][]byte
	var sealed []verdict.Call
	for range 12 {
		call := p.seal(t.state(8), from)
		texts, sealed = append(texts, call.Answer.Out), append(sealed, call)
	}
	vs, err := p.unsealBatch(texts, to)
	if err != nil {
		return
	}
	t.try(property)
	for i, v := range vs {
		if v.Err == nil {
			t.refute(property, fmt.Sprintf("in a batch of %d, token %d is accepted with %s", len(texts), i+1, how), sealed[i])
		}
	}
}
