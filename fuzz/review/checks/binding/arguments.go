package binding

import (
	"encoding/json"
	"fmt"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// argumentMoves returns moves of a token between arguments of one flow. They lead to other
// arguments, also in the first round, and to arguments that differ in one place. The latter start
// from the given arguments and from a full sample.
func argumentMoves(f client.Flow) []review.Move {
	if f.Other == nil {
		return nil
	}
	all := []review.Move{{Source: f, Target: f.With(f.Other)}}
	if len(f.Rounds) > 0 {
		first := f.Stages()[1]
		all = append(all, review.Move{Source: first, Target: first.With(f.Other)})
	}
	input := f.Offer.InputSchema()
	for i, source := range []json.RawMessage{f.Arguments, jsondoc.FullSample(input, 0)} {
		if i > 0 && jsondoc.Same(source, f.Arguments) || jsondoc.Members(source) == nil {
			continue
		}
		changed := jsondoc.ChangedLeaves(input, source, 0)
		for _, target := range changed[:min(len(changed), maxCloseArguments)] {
			all = append(all, review.Move{Source: f.With(source), Target: f.With(target)})
		}
	}
	return all
}

// maxCloseArguments is the number of arguments that differ in one place.
const maxCloseArguments = 8

// refusedOrUnminted makes a first attempt without controls. It reports whether the token is refused
// or not minted.
func refusedOrUnminted(t *review.T, o *review.Oracle, m review.Move) bool {
	token, _, err := t.Client.Mint(t.Context, m.Source, m.SourceUser)
	if err != nil {
		return true // the server refuses these arguments
	}
	a := t.Tried(t.Client.Present(t.Context, m.Target, jsondoc.Quote(m.Changed(token)), m.TargetUser))
	return !a.Conclusive() || o.Verdict(a) == review.Refused
}

// testDuplicateArguments presents tokens with a duplicate argument. It records a finding if the
// question or the result uses one value and the token is bound to the other.
func testDuplicateArguments(t *review.T) {
	for _, o := range t.Oracles {
		own, other := jsondoc.Members(o.Flow.Arguments), jsondoc.Members(o.Flow.Other)
		for _, name := range jsondoc.SortedKeys(own) {
			one, _ := jsondoc.Text(own[name])
			two, _ := jsondoc.Text(other[name])
			if one == two || one == "" || two == "" {
				continue
			}
			if testDuplicateArgument(t, o, name, [2]string{one, two}) {
				return
			}
			break
		}
	}
}

// withDuplicateArgument returns the arguments of a flow with one of them given under two names.
func withDuplicateArgument(f client.Flow, names, values [2]string) json.RawMessage {
	rest := strings.TrimPrefix(string(jsondoc.Object(jsondoc.Without(jsondoc.Members(f.Arguments), names[0]))), "{")
	text := fmt.Sprintf("{%s:%s,%s:%s", jsondoc.Quote(names[0]), jsondoc.Quote(values[0]), jsondoc.Quote(names[1]), jsondoc.Quote(values[1]))
	if rest != "}" {
		text += ","
	}
	return json.RawMessage(text + rest)
}

// testDuplicateArgument gives one argument of a flow two values, in either order. The second may
// have its name in another case.
func testDuplicateArgument(t *review.T, o *review.Oracle, name string, values [2]string) bool {
	title := strings.ToUpper(name[:1]) + name[1:]
	for i, names := range [][2]string{{name, name}, {name, name}, {name, title}, {name, title}} {
		if names[1] == name && i > 1 {
			continue
		}
		one, two := values[i%2], values[1-i%2]
		label := fmt.Sprintf("the argument %s twice, %d", name, i)
		if !t.Selected(label) {
			continue
		}
		both := o.Flow.With(withDuplicateArgument(o.Flow, names, [2]string{one, two}))
		done, bound := two, one // the value that is used, and the other
		switch read := t.ArgumentTexts(both, o.User); {
		case strings.Contains(read, one) == strings.Contains(read, two):
			continue
		case strings.Contains(read, one):
			done, bound = one, two
		}
		source := o.Flow.WithArgument(name, jsondoc.Quote(bound))
		if alone := t.ArgumentTexts(source, o.User); !strings.Contains(alone, bound) || strings.Contains(alone, done) {
			continue // the texts contain the value anyway, or in another form
		}
		if evidence, is, _ := t.Moved(review.Move{Source: source, Target: both, SourceUser: o.User, TargetUser: o.User, Strict: true}); is {
			refuteArguments(t, label, evidence, o.Flow)
			return true
		}
	}
	return false
}
