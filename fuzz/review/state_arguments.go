package review

import (
	"encoding/json"
	"strings"
)

// cutLengths are lengths beyond those at which careless servers cut a text.
var cutLengths = []int{300, 4000}

// joints are texts that join two arguments in careless digests.
func joints(next string) []string {
	return []string{"", "|", ",", ":", "/", ";", " ", "\n", "&" + next + "=", "," + next + "="}
}

// nearArguments are pairs of arguments that careless digests confuse: texts that differ
// far behind, behind NUL or in letters beyond ASCII, texts that move from one argument to
// the next, and numbers that a float64 or a sign does not tell apart.
func nearArguments(input, full json.RawMessage) [][2]json.RawMessage {
	m, s := members(full), parseSchema(input)
	var texts, integers []string
	for _, name := range sortedKeys(m) {
		switch p := parseSchema(s.Properties[name]); {
		case p.typeOf() == "integer" && len(p.Enum) == 0:
			integers = append(integers, name)
		case p.typeOf() == "string" && p.Const == nil && len(p.Enum) == 0 && p.Format == "" && p.Pattern == "":
			texts = append(texts, name)
		}
	}
	var all [][2]json.RawMessage
	pair := func(names []string, one, two []json.RawMessage) {
		a, b := m, m
		for i, name := range names {
			a, b = with(a, name, one[i]), with(b, name, two[i])
		}
		all = append(all, [2]json.RawMessage{object(a), object(b)})
	}
	single := func(name string, one, two json.RawMessage) {
		pair([]string{name}, []json.RawMessage{one}, []json.RawMessage{two})
	}
	for _, name := range integers {
		p := parseSchema(s.Properties[name])
		for _, n := range []struct {
			one, two string
			ends     [2]float64 // floats at or beyond both
		}{{"9007199254740992", "9007199254740993", [2]float64{1 << 53, 1<<53 + 2}}, {"7", "-7", [2]float64{7, -7}}} {
			if p.allows(n.ends[0]) && p.allows(n.ends[1]) {
				single(name, json.RawMessage(n.one), json.RawMessage(n.two))
			}
		}
	}
	if len(texts) == 0 {
		return all
	}
	p := parseSchema(s.Properties[texts[0]])
	for _, n := range cutLengths {
		if p.MaxLength == nil || *p.MaxLength > n {
			long := strings.Repeat("x", n)
			single(texts[0], quote(long+"a"), quote(long+"b"))
			single(texts[0], quote("a"+long), quote("b"+long))
		}
	}
	single(texts[0], quote("probe"), quote("boper"))
	single(texts[0], quote("prob\u00e9"), quote("probe"))
	single(texts[0], quote("prob\u00e9"), quote("prob"))
	single(texts[0], quote("probe\x00a"), quote("probe\x00b"))
	if len(texts) == 1 {
		return all
	}
	two := texts[:2]
	pair(two, []json.RawMessage{quote("probe"), quote("sample")}, []json.RawMessage{quote("sample"), quote("probe")})
	for _, joint := range joints(two[1]) {
		pair(two, []json.RawMessage{quote("a" + joint + "b"), quote("c")}, []json.RawMessage{quote("a"), quote("b" + joint + "c")})
	}
	return all
}

// equalArguments are pairs of arguments that some servers mean to be the same: texts that
// differ in case, and lists in another order.
func equalArguments(input, full json.RawMessage) [][2]json.RawMessage {
	m, s := members(full), parseSchema(input)
	var all [][2]json.RawMessage
	for _, name := range sortedKeys(m) {
		p := parseSchema(s.Properties[name])
		one, two := "", ""
		switch {
		case p.typeOf() == "string" && p.Const == nil && len(p.Enum) == 0 && p.Format == "" && p.Pattern == "":
			one, two = `"probe"`, `"PROBE"`
		case p.typeOf() == "array" && parseSchema(p.Items).typeOf() == "string" && len(parseSchema(p.Items).Enum) == 0:
			one, two = `["probe","sample"]`, `["sample","probe"]`
		}
		if one != "" {
			all = append(all, [2]json.RawMessage{object(with(m, name, json.RawMessage(one))), object(with(m, name, json.RawMessage(two)))})
		}
	}
	return all
}

// maxNear is the number of flows whose near arguments are tried.
const maxNear = 3

// nearMoves looks for pairs of near arguments that a token moves between. A first
// attempt without controls leaves most of them out.
func (t *T) nearMoves() {
	for i, o := range t.r.oracles {
		name := "near arguments of " + o.flow.Target
		if i == maxNear {
			return
		}
		if t.only != "" && t.only != name {
			continue
		}
		input := o.flow.offer.input()
		near := nearArguments(input, fullSample(input, 0))
		apart := len(near)
		for _, pair := range equalArguments(input, fullSample(input, 0)) {
			one, two := t.r.client.call(t.ctx, o.flow.with(pair[0]).call(o.user)), t.r.client.call(t.ctx, o.flow.with(pair[1]).call(o.user))
			if one.Kind == asked && two.Kind == asked && one.questionTexts() != two.questionTexts() {
				near = append(near, pair) // the server tells them apart
			}
		}
		for i, pair := range near {
			m := move{source: o.flow.with(pair[0]), target: o.flow.with(pair[1]), sourceUser: o.user, targetUser: o.user, strict: true}
			token, _, err := t.r.client.mint(t.ctx, m.source, m.sourceUser)
			if err != nil {
				continue // the server refuses such arguments
			}
			if a := t.r.client.present(t.ctx, m.target, quote(token), m.targetUser); !a.conclusive() || a.refused() {
				t.trials++
				continue
			}
			if evidence, is, _ := t.moved(m); is {
				if t.refuteArguments(name, evidence, o.flow); i >= apart && len(t.findings) > 0 {
					f := &t.findings[len(t.findings)-1]
					f.Severity, f.Issue = Suggestion, f.Issue+", which differ in case or order alone: a fault unless the server means the same by both"
				}
				return
			}
		}
	}
}
