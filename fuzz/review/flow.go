package review

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// maxFlows is the number of flows after which the search stops.
const maxFlows = 8

// find looks for flows that give tokens, group by group. Once a group has given one, groups that
// are a last resort are not called.
func (r *Review) find(ctx context.Context) {
	if len(r.Options.Flows) > 0 {
		for _, f := range r.Options.Flows {
			f.Offer, f.Named = r.Report.Server.Offer(f), true
			r.Flows = append(r.Flows, f)
			first := f
			first.Rounds, first.Last = nil, nil
			if a := r.Client.Call(ctx, f.Call(client.FirstUser)); a.Kind == client.Asked {
				r.Asking = append(r.Asking, a)
				r.declineFirst(ctx, first, a)
			}
		}
		return
	}
	for _, g := range r.Candidates() {
		if g.last && len(r.Flows) > 0 {
			for _, f := range g.Flows {
				r.uncalled = append(r.uncalled, f.Target)
			}
			continue
		}
		for _, f := range g.Flows {
			switch {
			case len(r.Flows) == maxFlows:
				r.uncalled = append(r.uncalled, f.Target)
			case ctx.Err() == nil:
				r.explore(ctx, f)
			}
		}
	}
}

// Offer returns the tool, prompt or resource that a flow calls.
func (s Server) Offer(f client.Flow) client.Offer {
	for _, o := range slices.Concat(s.Tools, s.Prompts, s.Resources) {
		if o.Name == f.Target || o.URI == f.Target {
			return o
		}
	}
	return client.Offer{}
}

// A Group is a set of calls that are tried together. A group marked last is a last resort.
type Group struct {
	Flows []client.Flow
	last  bool
}

// Candidates returns the calls that a review may make, in groups. First come tools that the user
// names, tools with one-time tokens, and tools whose texts say that they ask first. Prompts and
// resources follow. The last resort is tools that sound as if they might ask, tools without a
// hint, and those that may end the rights of the user. Without effects, tools that claim to be destructive or are unlikely to ask are left out.
func (r *Review) Candidates() []Group {
	var named, once, asks, changes, rest, ends []client.Flow
	for _, t := range r.Report.Server.Tools {
		f := r.FlowOf(t)
		f.Other = jsondoc.OtherArguments(f.Arguments, t.Input)
		given, ok := r.Options.Tools[t.Name]
		switch n := score(t); {
		case EndsRights(t) && (ok || r.Options.Tools == nil && r.Options.Effects):
			ends = append(ends, f)
		case ok:
			named = append(named, given.over(f))
		case r.Options.Tools != nil, !r.Options.Effects && (t.IsDestructive() || n < 0 && !t.IsReadOnly()):
			r.uncalled = append(r.uncalled, t.Name)
		case r.OneTime(f):
			once = append(once, f)
		case client.Mentions(t.Name+" "+t.Description, AskingWords):
			asks = append(asks, f)
		case n > 0:
			changes = append(changes, f)
		default:
			rest = append(rest, f)
		}
	}
	sparing := !r.Options.Effects
	return []Group{{Flows: named}, {Flows: once}, {Flows: asks}, {Flows: r.Reads()}, {changes, sparing || named != nil}, {rest, sparing || named != nil}, {ends, true}}
}

// Reads returns the prompts and resources, some of the latter by templates. The protocol only reads these.
func (r *Review) Reads() []client.Flow {
	var all []client.Flow
	for _, p := range r.Report.Server.Prompts {
		f := client.Flow{Method: "prompts/get", Target: p.Name, Offer: p}
		f.Arguments, f.Other = r.PromptArguments(p)
		all = append(all, f)
	}
	for _, s := range r.Report.Server.Resources {
		all = append(all, client.Flow{Method: "resources/read", Target: s.URI, Offer: s})
	}
	return append(all, r.filledReads...)
}

// score rates how likely a tool asks before it acts.
func score(t client.Offer) int {
	n := 0
	if client.Mentions(t.Name+" "+t.Description, AskingWords) {
		n += 4
	}
	if client.Mentions(t.Name, client.Changing) {
		n += 2
	}
	if client.Mentions(t.Name, quietNames) {
		n -= 3
	}
	if t.IsReadOnly() {
		n--
	}
	return n
}

// A Given is the part of a flow that the user specifies.
type Given struct{ Arguments, Other json.RawMessage }

// over returns a flow with the parts that the user specified.
func (g Given) over(f client.Flow) client.Flow {
	f.Named = true
	if g.Arguments != nil {
		f.Arguments = g.Arguments
		f.Other = jsondoc.OtherArguments(f.Arguments, f.Offer.Input)
	}
	if g.Other != nil {
		f.Other = g.Other
	}
	return f
}

// explore calls a target and keeps the flow if it gives a token. With effects it answers the
// questions, breadth first, for up to three rounds. If the server accepts no answer, it keeps the
// first question. Without effects it answers only prompts and resources, until they give a first
// token.
func (r *Review) explore(ctx context.Context, f client.Flow) {
	a := r.Client.Call(ctx, f.Call(client.FirstUser))
	if a.Kind != client.Asked {
		return
	}
	r.Asking = append(r.Asking, a)
	f.Carrier = a.Carrier
	has := a.HasState()
	switch {
	case has && !r.Options.Effects:
		r.Flows = append(r.Flows, f)
	case !r.Options.Effects && f.Method == "tools/call":
		r.unanswered = append(r.unanswered, f.Target)
	default:
		if r.declineFirst(ctx, f, a) {
			f.Last = AnswersTo(a.Questions)[0]
			r.Flows = append(r.Flows, f)
			return
		}
		specific := r.specificCalls(ctx, f)
		spares := r.beginSpares(ctx, f, a)
		best, result := r.deepest(ctx, f, a)
		if best != nil {
			r.noteRemembered(ctx, *best, result, specific)
			r.noteSpare(ctx, *best, result, spares)
		}
		if best == nil && has {
			best = &f // the server accepted no answer
		}
		if best != nil {
			r.Flows = append(r.Flows, *best)
		}
	}
}

const (
	maxRounds = 3
	maxCalls  = 20 // answers that are tried for one target
)

// deepest returns the longest flow that starts at a first question and whose last answer the server
// accepts, and the answer to it. It returns nil if no round gives a token.
func (r *Review) deepest(ctx context.Context, f client.Flow, a client.Answer) (*client.Flow, client.Answer) {
	type node struct {
		flow   client.Flow
		answer client.Answer
	}
	var best *client.Flow
	var result client.Answer
	queue := []node{{f, a}}
	for calls := 0; len(queue) > 0; {
		n := queue[0]
		queue = queue[1:]
		gone := false
		if !r.Options.Effects && n.answer.HasState() {
			return &n.flow, n.answer
		}
		for _, answers := range AnswersTo(n.answer.Questions) {
			if calls++; calls > maxCalls {
				return best, result
			}
			found := n.flow.WithLast(answers)
			next, _ := r.Client.Walk(ctx, found, client.FirstUser)
			if next.Kind == client.Asked {
				r.Asking = append(r.Asking, next)
			}
			goes := next.GoesOn(n.answer)
			if goes && !gone && n.answer.HasState() && (best == nil || len(n.flow.Rounds) >= len(best.Rounds)) {
				best, result, gone = &found, next, true
			}
			if next.Kind == client.Asked && goes && len(n.flow.Rounds)+1 < maxRounds {
				deeper := n.flow
				deeper.Rounds = found.Answers()
				queue = append(queue, node{deeper, next})
			}
		}
	}
	return best, result
}

// OneTime reports whether the user says that tokens of the flow must be accepted only once.
func (r *Review) OneTime(f client.Flow) bool { return slices.Contains(r.Options.OneTime, f.Target) }

// FlowOf returns the call of a tool with sample arguments.
func (r *Review) FlowOf(tool client.Offer) client.Flow {
	return client.Flow{Method: "tools/call", Target: tool.Name, Arguments: r.Sample(tool), Offer: tool}
}

// Wordy returns the calls that take a text and have no effect: flows, prompts and, with effects,
// read-only tools.
func (t *T) Wordy() []client.Flow {
	all := slices.Clone(t.Flows)
	for _, tool := range t.Readers() {
		all = append(all, t.FlowOf(tool))
	}
	for _, f := range t.Reads() {
		if f.Method == "prompts/get" {
			all = append(all, f)
		}
	}
	slices.SortStableFunc(all, func(a, b client.Flow) int { return strings.Compare(a.String(), b.String()) })
	all = slices.CompactFunc(all, func(a, b client.Flow) bool { return a.String() == b.String() })
	return slices.DeleteFunc(all, func(f client.Flow) bool { return !TakesText(f) })
}

// Readers returns the tools that claim to be read-only and may be called: none without effects, and
// never the slow tool.
func (t *T) Readers() []client.Offer {
	var all []client.Offer
	for _, tool := range t.Report.Server.Tools {
		if tool.IsReadOnly() && t.Options.Effects && tool.Name != t.Options.Slow {
			all = append(all, tool)
		}
	}
	return all
}

// Lookups returns the tools of [T.Readers], and those of [T.Changers] whose names begin with a verb of reading
// and that do not ask. Many servers send no annotations.
func (t *T) Lookups() []client.Offer {
	all := t.Readers()
	for _, tool := range t.Changers() {
		if tool.NamesReading() && !t.Asks(tool) {
			all = append(all, tool)
		}
	}
	return all
}

// Asks reports whether a tool is known to ask before it completes.
func (t *T) Asks(tool client.Offer) bool {
	return slices.ContainsFunc(t.Flows, func(f client.Flow) bool { return f.Target == tool.Name })
}

// Changers returns the tools that do not claim to be read-only and may be called: none without
// effects, only named ones if the user names some, and never the slow tool. Tools that may end the
// rights of the user are left to [T.Enders].
func (t *T) Changers() []client.Offer {
	return t.changing(func(o client.Offer) bool { return !EndsRights(o) })
}

// Enders returns the tools that may be called, as those of [T.Changers], and may end the rights of
// the user.
func (t *T) Enders() []client.Offer { return t.changing(EndsRights) }

func (t *T) changing(fits func(client.Offer) bool) []client.Offer {
	var all []client.Offer
	for _, tool := range t.Report.Server.Tools {
		_, named := t.Options.Tools[tool.Name]
		if t.Options.Effects && (named || t.Options.Tools == nil && !tool.IsDestructive()) && !tool.IsReadOnly() && tool.Name != t.Options.Slow && fits(tool) {
			all = append(all, tool)
		}
	}
	return all
}

// endingText matches texts of tools that end a right, a request or a thing.
var endingText = regexp.MustCompile(`(?i)\b(revok|withdr|log(s|ged)? ?out|sign(s|ed)? ?out|off duty|resign|leav|quit|expir|void|invalidat|suspend|disabl|deactivat|forbid|locks?\b|delet|remov|destroy|discard|cancel|terminat|abort|clos|reset|ends?\b)`)

// Ends reports whether a tool, by its texts, ends a right, a request or a thing.
func Ends(o client.Offer) bool { return endingText.MatchString(o.About()) }

// EndsRights reports whether a tool that needs no arguments, and does not say that it asks, may end
// rights or requests of the user. It is called at the end of a review alone.
func EndsRights(o client.Offer) bool {
	return !o.IsReadOnly() && Ends(o) && len(jsondoc.ParseSchema(o.Input).Required) == 0 && !client.Mentions(o.Name+" "+o.Description, AskingWords)
}

// ReadingCalls returns calls of read-only tools, prompts and resources that return texts.
func (t *T) ReadingCalls() []client.Call {
	var all []client.Call
	readers, reads := t.Readers(), t.Reads()
	for _, tool := range readers[:min(len(readers), 2*MaxTestedCalls)] {
		all = append(all, t.FlowOf(tool).Call(client.FirstUser))
	}
	for _, f := range reads[:min(len(reads), 2*MaxTestedCalls)] {
		all = append(all, f.Call(client.FirstUser))
	}
	return all
}

// Word returns a text that earlier calls did not contain.
func (t *T) Word() string {
	t.Client.ID++
	n := uint64(t.Client.Clock.Now().UnixNano()) + uint64(t.Client.ID)
	b := []byte("sealab")
	for range 10 {
		b = append(b, byte('a'+n%26))
		n /= 26
	}
	return string(b)
}

// LongArgument is the length of an argument that makes a long token.
const LongArgument = 2000

// TakesText reports whether a flow has an argument that takes any text.
func TakesText(f client.Flow) bool {
	return f.ArgumentsWith(MarkerA) != nil
}

// Texts that a state contains only if a call supplies them.
const (
	MarkerA = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	MarkerB = "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"
)
