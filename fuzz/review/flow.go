package review

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A Flow is the way to a token: the call, and the answers of the rounds before
// the one that gave it. It is a scheme without a key: mint walks the flow, and
// verify presents a token in the round after.
type Flow struct {
	Method    string          `json:"method"`
	Target    string          `json:"target"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Other     json.RawMessage `json:"other,omitempty"` // other arguments of the same call
	// Rounds are the answers of the rounds before the token, Last the answers
	// that are sent with it; nil if the flow stops at the token.
	Rounds []json.RawMessage `json:"rounds,omitempty"`
	Last   json.RawMessage   `json:"last,omitempty"`
	// Carrier is the member of _meta in which the server keeps the state; "" for requestState.
	Carrier string `json:"carrier,omitempty"`

	offer Offer
	named bool // by the user
}

// String names a flow.
func (f Flow) String() string { return strings.TrimSpace(f.Method + " " + f.Target) }

// call is the first call of a flow.
func (f Flow) call(as user) Call {
	return Call{Method: f.Method, Target: f.Target, Arguments: f.Arguments, Carrier: f.Carrier, as: as}
}

// with returns the flow under other arguments.
func (f Flow) with(arguments json.RawMessage) Flow {
	f.Arguments = arguments
	return f
}

// mint walks the flow and returns the token it ends with.
func (c *client) mint(ctx context.Context, f Flow, as user) (string, Answer, error) {
	call := f.call(as)
	a := c.call(ctx, call)
	for i, answers := range f.Rounds {
		if a.Kind != asked {
			return "", a, fmt.Errorf("round %d of %s: %v, want a question", i+1, f, a)
		}
		call.Answers, call.State = c.rekeyed(answers, a.Questions), nil
		if a.State != nil {
			call.State = quote(*a.State)
		}
		a = c.call(ctx, call)
	}
	switch {
	case a.Kind != asked:
		return "", a, fmt.Errorf("round %d of %s: %v, want a question", len(f.Rounds)+1, f, a)
	case a.State == nil || *a.State == "":
		return "", a, fmt.Errorf("round %d of %s: a question without a state", len(f.Rounds)+1, f)
	}
	c.minted[*a.State], c.newest = a.Questions, a.Questions
	return *a.State, a, nil
}

// rekeyed returns answers under the keys of questions, if their own were seen in one
// question and no other: the server draws keys anew for each.
func (c *client) rekeyed(answers json.RawMessage, questions map[string]Question) json.RawMessage {
	own := members(answers)
	if len(own) == 0 || len(own) != len(questions) {
		return answers
	}
	all, keys := map[string]json.RawMessage{}, sortedKeys(questions)
	for i, key := range sortedKeys(own) {
		if _, ok := questions[key]; ok || c.keys[key] != 1 {
			return answers
		}
		all[keys[i]] = own[key]
	}
	return object(all)
}

// present sends a token in the round after the flow.
func (c *client) present(ctx context.Context, f Flow, state json.RawMessage, as user) Answer {
	call := f.call(as)
	var token string
	_ = json.Unmarshal(state, &token) // of another type: ""
	questions, ok := c.minted[token]
	if !ok {
		questions = c.newest
	}
	call.State, call.Answers = state, f.Last
	if f.Last != nil {
		call.Answers = c.rekeyed(f.Last, questions)
	}
	return c.call(ctx, call)
}

// stages are the flow and those of its earlier rounds, each with the answers of the round.
func (f Flow) stages() []Flow {
	all := []Flow{f}
	for i := range f.Rounds {
		earlier := f
		earlier.Rounds, earlier.Last = f.Rounds[:i], f.Rounds[i]
		all = append(all, earlier)
	}
	return all
}

// maxFlows is the number of flows that are looked for.
const maxFlows = 8

// find looks for flows that give tokens, group by group: once a group has given
// one, the groups of tools that are less likely to ask are not called.
func (r *Review) find(ctx context.Context) {
	if len(r.opts.Flows) > 0 {
		for _, f := range r.opts.Flows {
			f.offer, f.named = r.Report.Server.offer(f), true
			r.flows = append(r.flows, f)
		}
		return
	}
	for _, g := range r.candidates() {
		if g.last && len(r.flows) > 0 {
			for _, f := range g.flows {
				r.uncalled = append(r.uncalled, f.Target)
			}
			continue
		}
		for _, f := range g.flows {
			switch {
			case len(r.flows) == maxFlows:
				r.uncalled = append(r.uncalled, f.Target)
			case ctx.Err() == nil:
				r.explore(ctx, f)
			}
		}
	}
}

// offer returns the tool, prompt or resource that a flow calls.
func (s Server) offer(f Flow) Offer {
	for _, o := range slices.Concat(s.Tools, s.Prompts, s.Resources) {
		if o.Name == f.Target || o.URI == f.Target {
			return o
		}
	}
	return Offer{}
}

// A group is calls that are tried together; last if only as a last resort.
type group struct {
	flows []Flow
	last  bool
}

// candidates returns the calls that a review may make: tools that are named, those for one
// use, or those whose texts say that they ask first; prompts and resources; and as a
// last resort tools that sound as if they might ask, and tools without a hint. Tools
// that claim to be destructive, or hardly ask, are not called without effects.
func (r *Review) candidates() []group {
	var named, once, asks, changes, rest []Flow
	for _, t := range r.Report.Server.Tools {
		f := Flow{Method: "tools/call", Target: t.Name, Arguments: samples(t.Input, 0)[0], offer: t}
		if members(f.Arguments) == nil {
			f.Arguments = json.RawMessage("{}")
		}
		f.Other = otherArguments(f.Arguments, t.Input)
		given, ok := r.opts.Tools[t.Name]
		switch n := score(t); {
		case ok:
			named = append(named, given.over(f))
		case r.opts.Tools != nil, !r.opts.Effects && (t.destructive() || n < 0 && !t.readOnly()):
			r.uncalled = append(r.uncalled, t.Name)
		case r.oneTime(f):
			once = append(once, f)
		case mentions(t.Name+" "+t.Description, asking):
			asks = append(asks, f)
		case n > 0:
			changes = append(changes, f)
		default:
			rest = append(rest, f)
		}
	}
	sparing := !r.opts.Effects
	return []group{{flows: named}, {flows: once}, {flows: asks}, {flows: r.reads()}, {changes, sparing || named != nil}, {rest, sparing || named != nil}}
}

// reads returns the prompts and resources, which the protocol reads only.
func (r *Review) reads() []Flow {
	var all []Flow
	for _, p := range r.Report.Server.Prompts {
		args := map[string]json.RawMessage{}
		other := map[string]json.RawMessage{}
		for _, a := range p.Arguments {
			if a.Required {
				args[a.Name], other[a.Name] = quote("probe"), quote("sample")
			}
		}
		f := Flow{Method: "prompts/get", Target: p.Name, offer: p}
		if len(args) > 0 {
			f.Arguments, f.Other = object(args), object(other)
		}
		all = append(all, f)
	}
	for _, s := range r.Report.Server.Resources {
		all = append(all, Flow{Method: "resources/read", Target: s.URI, offer: s})
	}
	return all
}

// score says how likely a tool asks before it acts.
func score(t Offer) int {
	n := 0
	if mentions(t.Name+" "+t.Description, asking) {
		n += 4
	}
	if mentions(t.Name, changing) {
		n += 2
	}
	if mentions(t.Name, pure) {
		n -= 3
	}
	if t.readOnly() {
		n--
	}
	return n
}

// A Given is the part of a flow that the user names.
type Given struct{ Arguments, Other json.RawMessage }

// over returns a flow with the parts that the user gave.
func (g Given) over(f Flow) Flow {
	f.named = true
	if g.Arguments != nil {
		f.Arguments = g.Arguments
		f.Other = otherArguments(f.Arguments, f.offer.Input)
	}
	if g.Other != nil {
		f.Other = g.Other
	}
	return f
}

// explore calls a target and keeps the flow if it gives a token. With effects
// it goes on over answers, breadth first, up to three rounds; without, answers
// are sent to prompts and resources alone, and to the first token.
func (r *Review) explore(ctx context.Context, f Flow) {
	a := r.client.call(ctx, f.call(first))
	if a.Kind != asked {
		return
	}
	r.asking = append(r.asking, a)
	f.Carrier = a.Carrier
	has := a.State != nil && *a.State != ""
	switch {
	case has && !r.opts.Effects:
		r.flows = append(r.flows, f)
	case !r.opts.Effects && f.Method == "tools/call":
		r.unanswered = append(r.unanswered, f.Target)
	default:
		if best := r.deepest(ctx, f, a); best != nil {
			r.flows = append(r.flows, *best)
		}
	}
}

const (
	maxRounds = 3
	maxCalls  = 20 // walks for one target
)

// deepest returns the longest flow from a first question whose last answer goes
// on, nil if no round gives a token.
func (r *Review) deepest(ctx context.Context, f Flow, a Answer) *Flow {
	type node struct {
		flow   Flow
		answer Answer
	}
	var best *Flow
	queue := []node{{f, a}}
	for calls := 0; len(queue) > 0; {
		n := queue[0]
		queue = queue[1:]
		gone := false
		if !r.opts.Effects && n.answer.State != nil && *n.answer.State != "" {
			return &n.flow
		}
		for _, answers := range answersTo(n.answer.Questions) {
			if calls++; calls > maxCalls {
				return best
			}
			next := r.step(ctx, n.flow, answers)
			if next.Kind == asked {
				r.asking = append(r.asking, next)
			}
			goes := next.Kind == completed || next.Kind == asked && next.going() != n.answer.going()
			if goes && !gone && n.answer.State != nil && *n.answer.State != "" && (best == nil || len(n.flow.Rounds) >= len(best.Rounds)) {
				found := n.flow
				found.Last = answers
				best, gone = &found, true
			}
			if next.Kind == asked && goes && len(n.flow.Rounds)+1 < maxRounds {
				deeper := n.flow
				deeper.Rounds = append(append([]json.RawMessage(nil), n.flow.Rounds...), answers)
				queue = append(queue, node{deeper, next})
			}
		}
	}
	return best
}

// step walks a flow anew and answers its last question.
func (r *Review) step(ctx context.Context, f Flow, answers json.RawMessage) Answer {
	call := f.call(first)
	a := r.client.call(ctx, call)
	for _, round := range append(append([]json.RawMessage(nil), f.Rounds...), answers) {
		if a.Kind != asked {
			return a
		}
		call.Answers, call.State = r.client.rekeyed(round, a.Questions), nil
		if a.State != nil {
			call.State = quote(*a.State)
		}
		a = r.client.call(ctx, call)
	}
	return a
}
