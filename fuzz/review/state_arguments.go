package review

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
)

// argumentMoves are moves of a token between arguments of one flow: the other ones, also in
// the first round, those that are close, and those that are close if every optional
// argument is given.
func argumentMoves(f Flow) []move {
	if f.Other == nil {
		return nil
	}
	all := []move{{source: f, target: f.with(f.Other)}}
	if len(f.Rounds) > 0 {
		first := f.stages()[1]
		all = append(all, move{source: first, target: first.with(f.Other)})
	}
	input := f.offer.input()
	for i, source := range []json.RawMessage{f.Arguments, fullSample(input, 0)} {
		if i > 0 && sameJSON(source, f.Arguments) || members(source) == nil {
			continue
		}
		close := changedLeaves(input, source, 0)
		for _, target := range close[:min(len(close), maxClose)] {
			all = append(all, move{source: f.with(source), target: f.with(target)})
		}
	}
	return all
}

// maxClose is the number of close arguments that a token is presented with.
const maxClose = 8

// turnedDown makes a first attempt without controls, and reports whether the token is
// refused, or not minted.
func (t *T) turnedDown(o *oracle, m move) bool {
	token, _, err := t.r.client.mint(t.ctx, m.source, m.sourceUser)
	if err != nil {
		return true // the server refuses such arguments
	}
	a := t.r.client.present(t.ctx, m.target, quote(token), m.targetUser)
	t.trials++
	return !a.conclusive() || o.verdict(a) == refused
}

// maxNear is the number of flows whose near arguments are tried.
const maxNear = 3

// nearMoves looks for pairs of near arguments that a token moves between.
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
		near = append(near, equalArguments(input, fullSample(input, 0))...)
		for i, pair := range near {
			m := move{source: o.flow.with(pair[0]), target: o.flow.with(pair[1]), sourceUser: o.user, targetUser: o.user, strict: true}
			if t.turnedDown(o, m) || i >= apart && !t.toldApart(m) {
				continue
			}
			if evidence, is, _ := t.moved(m); is {
				if t.refuteArguments(name, evidence, o.flow); i >= apart && len(t.findings) > 0 {
					f := &t.findings[len(t.findings)-1]
					f.Severity, f.Issue = Suggestion, f.Issue+", which differ in case, spaces, normal form or order alone: a fault unless the server means the same by both"
				}
				return
			}
		}
	}
}

// toldApart reports whether the texts of the server differ for the calls of a move.
func (t *T) toldApart(m move) bool {
	one, two := t.carried(m.source, m.sourceUser), t.carried(m.target, m.targetUser)
	return one != "" && two != "" && one != two
}

// doubledArgument presents tokens with an argument that stands twice. It refutes if the
// question, or the result, names one value and the token is bound to the other.
func (t *T) doubledArgument() {
	for _, o := range t.r.oracles {
		own, other := members(o.flow.Arguments), members(o.flow.Other)
		for _, name := range sortedKeys(own) {
			var one, two string
			if json.Unmarshal(own[name], &one) != nil || json.Unmarshal(other[name], &two) != nil || one == two || one == "" || two == "" {
				continue
			}
			if t.doubles(o, name, [2]string{one, two}) {
				return
			}
			break
		}
	}
}

// givenTwice are the arguments of a flow with one of them under two names.
func givenTwice(f Flow, names, values [2]string) json.RawMessage {
	rest := strings.TrimPrefix(string(object(without(members(f.Arguments), names[0]))), "{")
	text := fmt.Sprintf("{%s:%s,%s:%s", quote(names[0]), quote(values[0]), quote(names[1]), quote(values[1]))
	if rest != "}" {
		text += ","
	}
	return json.RawMessage(text + rest)
}

// doubles gives one argument of a flow two values: in either order, and the second under
// the name in another case.
func (t *T) doubles(o *oracle, name string, values [2]string) bool {
	title := strings.ToUpper(name[:1]) + name[1:]
	for i, names := range [][2]string{{name, name}, {name, name}, {name, title}, {name, title}} {
		if names[1] == name && i > 1 {
			continue
		}
		one, two := values[i%2], values[1-i%2]
		label := fmt.Sprintf("the argument %s twice, %d", name, i)
		if t.only != "" && t.only != label {
			continue
		}
		both := o.flow.with(givenTwice(o.flow, names, [2]string{one, two}))
		bound := one // the value that is not carried out
		switch read := t.carried(both, o.user); {
		case strings.Contains(read, one) == strings.Contains(read, two):
			continue
		case strings.Contains(read, one):
			bound = two
		}
		source := o.flow.with(object(with(members(o.flow.Arguments), name, quote(bound))))
		if evidence, is, _ := t.moved(move{source: source, target: both, sourceUser: o.user, targetUser: o.user, strict: true}); is {
			t.refuteArguments(label, evidence, o.flow)
			return true
		}
	}
	return false
}

func without(m map[string]json.RawMessage, name string) map[string]json.RawMessage {
	rest := maps.Clone(m)
	delete(rest, name)
	return rest
}

// carried are the texts by which a flow tells its arguments: of its first question, and
// with effects of its result.
func (t *T) carried(f Flow, as user) string {
	text := t.r.client.call(t.ctx, f.call(as)).questionTexts()
	if f.Last == nil {
		return text
	}
	token, _, err := t.r.client.mint(t.ctx, f, as)
	if err != nil {
		return text
	}
	return text + t.r.client.present(t.ctx, f, quote(token), as).Text
}
