package attack

import (
	"encoding/json"
	"fmt"
	"strings"

	"sealab/codecs"
	"sealab/internal/verdict"
)

// onFields are the attacks that look for two different bindings which are read
// as the same.
var onFields = []Refuter{
	{ID: "CTX-04", Name: "borders between fields shifted", Refutes: glued, Layer: LayerContext,
		Gain: "a token for one pair of fields, used for another pair", Origin: "AWS signature version 1, Percival 2008", Run: shiftedFields},
	{ID: "CTX-08", Name: "fields exchanged, doubled and moved", Refutes: glued, Layer: LayerContext,
		Gain: "a token for one pair of fields, used for another pair", Origin: "digests of fields that are combined without order", Run: exchangedFields},
	{ID: "CTX-12", Name: "text in one field that writes another", Refutes: glued, Layer: LayerContext,
		Gain: "a value that says what another field holds", Origin: "bindings put together as text", Run: injectedFields},
}

var glued = []codecs.Property{codecs.Unambiguous}

// separators are what fields are known to be joined with.
var separators = []string{"", "\x00", ":", "|", "/", "\n", ",", ".", " ", "-", "_", "#", "&", "=", ";", "~", "\t", "\x1f", "\x00\x00", "::", "||", "\r\n", "\x1e", "+", "@", "!", "$", "^", "*", `","`, "\",\n\""}

// shared is what the search for ambiguity works on: what the subject binds.
type pairs struct {
	party *Party
	under verdict.Context
	bound []field
}

// pairsOf finds the fields that the subject binds; two are needed.
func (t *Trial) pairsOf() (pairs, bool) {
	var ps pairs
	t.boundFields(func(p *Party, under verdict.Context, f field) {
		ps.party, ps.under = p, under
		ps.bound = append(ps.bound, f)
	})
	if len(ps.bound) < 2 {
		if t.skipped == "" {
			t.skip("the subject binds fewer than two fields")
		}
		return ps, false
	}
	return ps, true
}

// each calls do for each ordered pair of bound fields.
func (ps pairs) each(do func(a, b field)) {
	for _, a := range ps.bound {
		for _, b := range ps.bound {
			if a.name != b.name {
				do(a, b)
			}
		}
	}
}

// read mints in one context and presents in another that is not the same.
func (t *Trial) read(p *Party, from, to verdict.Context, how string) {
	sealed := p.seal(t.state(8), from)
	if sealed.Answer.Outcome != verdict.Done {
		return
	}
	t.try(codecs.Unambiguous)
	if call, ok := p.accepts(sealed.Answer.Out, to); ok {
		t.refute(codecs.Unambiguous, fmt.Sprintf("two different bindings are taken for the same, %s: %s and %s", how, written(from), written(to)), sealed, call)
	}
}

// written is a binding for a person.
func written(c verdict.Context) string {
	show := func(s *string) string {
		if s == nil {
			return "none"
		}
		return fmt.Sprintf("%+.40q", *s)
	}
	return fmt.Sprintf("(method %+.40q, target %+.40q, arguments %+.40q, principal %s, audience %s)", c.Method, c.Target, c.Arguments, show(c.Principal), show(c.Audience))
}

// shiftedFields moves a part of one field over the border to another, for every
// separator that they may be joined with, and for lengths of one byte.
func shiftedFields(t *Trial) {
	ps, ok := t.pairsOf()
	if !ok {
		return
	}
	for _, f := range ps.bound {
		if f.property == codecs.BindsArguments {
			t.besideArguments(ps)
		}
	}
	ps.each(func(a, b field) {
		for _, sep := range separators {
			from := b.put(a.put(ps.under, a.value("xx"+sep+"yy")), b.value("zz"))
			to := b.put(a.put(ps.under, a.value("xx")), b.value("yy"+sep+"zz"))
			t.read(ps.party, from, to, fmt.Sprintf("%s and %s joined by %q", a.name, b.name, sep))
			t.throughArguments(ps, a, b, sep)
		}
		if a.property == codecs.BindsArguments || b.property == codecs.BindsArguments {
			return
		}
		long := strings.Repeat("p", 255)
		from := b.put(a.put(ps.under, "x\x01"+long), "c")
		to := b.put(a.put(ps.under, "x"), long+"\x01c")
		t.read(ps.party, from, to, "lengths of one byte")
		if b.unset != nil {
			t.read(ps.party, b.without(a.put(ps.under, "xxyy")), b.put(a.put(ps.under, "xx"), "yy"), "joined without a border to an absent field")
			t.read(ps.party, a.put(b.without(ps.under), "xx:yy"), b.put(a.put(ps.under, "xx"), "yy"), "joined by a colon to an absent field")
		}
	})
}

// throughArguments shifts the border between two fields that have the arguments
// between them, which are the same in both.
func (t *Trial) throughArguments(ps pairs, a, b field, sep string) {
	if a.property != codecs.BindsTarget || b.property == codecs.BindsArguments || b.property == codecs.BindsMethod {
		return
	}
	const middle = `{"a":1}`
	from := with(b.put(a.put(ps.under, "xx"+sep+middle), "zz"), func(c *verdict.Context) { c.Arguments = json.RawMessage(`{"b":2}`) })
	to := with(b.put(a.put(ps.under, "xx"), `{"b":2}`+sep+"zz"), func(c *verdict.Context) { c.Arguments = json.RawMessage(middle) })
	t.read(ps.party, from, to, fmt.Sprintf("%s, arguments and %s joined by %q", a.name, b.name, sep))
}

// besideArguments shifts the border between target and arguments, which are raw
// JSON texts: a number can be cut, and an object stand in the target.
func (t *Trial) besideArguments(ps pairs) {
	target, arguments := fields[1], fields[2]
	for _, sep := range []string{"", ".", ":", "|", "\n", " ", "\x00", "/"} {
		t.read(ps.party, arguments.without(target.put(ps.under, "xx"+sep+`{"a":1}`)), arguments.put(target.put(ps.under, "xx"), `{"a":1}`),
			fmt.Sprintf("target and arguments joined by %q", sep))
	}
	for _, sep := range []string{"", "."} {
		t.read(ps.party, arguments.put(target.put(ps.under, "xx"+sep+"1"), "2"), arguments.put(target.put(ps.under, "xx"), "1"+sep+"2"),
			fmt.Sprintf("target and arguments joined by %q", sep))
	}
}

// exchangedFields exchanges the values of two fields, and gives both of them one
// value and then another: what is combined without order does not see it.
func exchangedFields(t *Trial) {
	ps, ok := t.pairsOf()
	if !ok {
		return
	}
	ps.each(func(a, b field) {
		x, y := "xx-1", "yy-2"
		if a.property == codecs.BindsArguments || b.property == codecs.BindsArguments {
			x, y = `{"v":"xx"}`, `{"v":"yy"}`
		}
		t.read(ps.party, b.put(a.put(ps.under, x), y), b.put(a.put(ps.under, y), x), a.name+" and "+b.name+" exchanged")
		t.read(ps.party, b.put(a.put(ps.under, x), x), b.put(a.put(ps.under, y), y), a.name+" and "+b.name+" both changed alike")
		if a.unset != nil && b.unset != nil {
			t.read(ps.party, b.without(a.put(ps.under, x)), a.without(b.put(ps.under, x)), "a value moved from "+a.name+" to "+b.name)
		}
	})
}

// injectedFields writes into one field what text formats would write for another.
func injectedFields(t *Trial) {
	ps, ok := t.pairsOf()
	if !ok {
		return
	}
	ps.each(func(a, b field) {
		if a.property == codecs.BindsArguments || b.property == codecs.BindsArguments {
			return
		}
		for _, name := range []string{b.name, b.name[:1], strings.ToUpper(b.name[:1]) + b.name[1:]} {
			for _, form := range []struct{ open, middle string }{{`","`, `":"`}, {`", "`, `": "`}, {"&", "="}, {";", "="}, {",", "="}, {"\n", ":"}, {"\n", "="}, {" ", "="}, {"|", "="}} {
				from := b.put(a.put(ps.under, "xx"), "yy"+form.open+name+form.middle+"zz")
				to := b.put(a.put(ps.under, "xx"+form.open+name+form.middle+"yy"), "zz")
				t.read(ps.party, from, to, fmt.Sprintf("%s written into %s", b.name, a.name))
			}
		}
	})
}
