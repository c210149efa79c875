package binding

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/fields"
	"sealab/internal/verdict"
)

// A factor is one circumstance of minting and verifying, with its levels.
type factor struct {
	name   string
	levels []level
}

// A level is one value of a factor, which set applies to a combination.
type level struct {
	name string
	set  func(*combination)
}

// A combination is a context, together with the ring, the age and the state of a token.
type combination struct {
	context codecs.Context
	state   int  // letters in the state
	second  bool // verify under a ring whose second key sealed the token
	age     time.Duration
}

// contextFactors returns the circumstances that are combined in attacks on bindings. The covering
// array covers every triple of the method (the first factor) with two others, and thus every
// pair.
func contextFactors() []factor {
	inContext := func(name string, change func(*codecs.Context)) level {
		return level{name, func(s *combination) { change(&s.context) }}
	}
	text := func(v string) *string { return &v }
	var methods, targets, args, principals, audiences, states []level
	for _, m := range []string{"tools/call", "prompts/get", "resources/read", "completion/complete", "x/unknown"} {
		methods = append(methods, inContext("method "+m, func(c *codecs.Context) { c.Method = m }))
	}
	for _, v := range []string{"deploy", "file:///a/b?c=1", ""} {
		targets = append(targets, inContext(fmt.Sprintf("target %q", v), func(c *codecs.Context) { c.Target = v }))
	}
	args = append(args, inContext("no arguments", func(c *codecs.Context) { c.Arguments = nil }))
	for _, v := range []string{`{}`, `{"env":"staging","replicas":3}`, `["a",1]`, `7`} {
		args = append(args, inContext("arguments "+v, func(c *codecs.Context) { c.Arguments = []byte(v) }))
	}
	principals = append(principals, inContext("no principal", func(c *codecs.Context) { c.Principal = nil }))
	for _, v := range []string{"", "alice", "iss:alice@a.example"} {
		principals = append(principals, inContext(fmt.Sprintf("principal %q", v), func(c *codecs.Context) { c.Principal = text(v) }))
	}
	audiences = append(audiences, inContext("no audience", func(c *codecs.Context) { c.Audience = nil }))
	for _, v := range []string{"", "https://a.example/"} {
		audiences = append(audiences, inContext(fmt.Sprintf("audience %q", v), func(c *codecs.Context) { c.Audience = text(v) }))
	}
	for _, n := range []int{0, 24, 300, 5000} {
		states = append(states, level{fmt.Sprintf("a state of %d letters", n), func(s *combination) { s.state = n }})
	}
	return []factor{
		{"method", methods}, {"target", targets}, {"arguments", args}, {"principal", principals}, {"audience", audiences},
		{"ring", []level{{"one key", func(*combination) {}}, {"the second key", func(s *combination) { s.second = true }}}},
		{"age", []level{{"at once", func(*combination) {}}, {"after 20 seconds", func(s *combination) { s.age = 20 * time.Second }}}},
		{"state", states},
	}
}

// A triple is level m of the first factor with level a of factor f and level b of factor g.
type triple struct{ m, f, a, g, b int }

// coveringArray returns rows of levels that cover every triple of the first factor with two others,
// and so every pair. Each row starts from an uncovered triple. For every other factor it takes
// the level that covers the most uncovered triples.
func coveringArray(sizes []int) [][]int {
	open := map[triple]bool{}
	var order []triple
	for f := 1; f < len(sizes); f++ {
		for g := f + 1; g < len(sizes); g++ {
			for a := range sizes[f] {
				for b := range sizes[g] {
					for m := range sizes[0] {
						order = append(order, triple{m, f, a, g, b})
						open[order[len(order)-1]] = true
					}
				}
			}
		}
	}
	var rows [][]int
	for _, first := range order {
		if !open[first] {
			continue
		}
		row := slices.Repeat([]int{-1}, len(sizes))
		row[0], row[first.f], row[first.g] = first.m, first.a, first.b
		for f := 1; f < len(sizes); f++ {
			if row[f] < 0 {
				row[f] = mostOpen(open, row, f, sizes[f], len(rows))
			}
		}
		for f := 1; f < len(sizes); f++ {
			for g := f + 1; g < len(sizes); g++ {
				delete(open, triple{first.m, f, row[f], g, row[g]})
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// mostOpen returns the level of factor f that covers the most uncovered triples, given the
// levels already in the row. The shift rotates the choice among ties.
func mostOpen(open map[triple]bool, row []int, f, size, shift int) int {
	best, most := 0, -1
	for k := range size {
		a, n := (k+shift)%size, 0
		for g := 1; g < len(row); g++ {
			if row[g] >= 0 && (g < f && open[triple{row[0], g, row[g], f, a}] || g > f && open[triple{row[0], f, a, g, row[g]}]) {
				n++
			}
		}
		if n > most {
			best, most = a, n
		}
	}
	return best
}

// circumstances attacks every binding, and expiry, in each row of a covering array.
func (t trial) circumstances(in *attack.Instance, tok *attack.Token) {
	ring, err := t.Open(t.Secret(1), t.Secret(0))
	if err != nil {
		ring = nil
	}
	claimed := t.boundAnywhere(in, tok)
	t.boundAtEveryLength(in, tok.Under, claimed)
	t.boundBesideLong(in, tok.Under, claimed)
	t.boundBesideKinds(in, tok.Under, claimed)
	all := contextFactors()
	sizes := make([]int, len(all))
	for i, f := range all {
		sizes[i] = len(f.levels)
	}
	rows := coveringArray(sizes)
	for _, r := range t.Range(len(rows)) {
		s := combination{context: attack.Ordinary()}
		var how string
		for i, k := range rows[r] {
			all[i].levels[k].set(&s)
			how += ", " + all[i].levels[k].name
		}
		if s.second && ring == nil || t.Spent() {
			continue
		}
		t.inCombination(in, ring, s, how[2:], claimed)
	}
}

// boundBesideLong mints tokens with one long field and presents them with each other bound
// field changed. A reader may ignore fields behind a long one, or digest only the first bytes
// of all fields.
func (t trial) boundBesideLong(in *attack.Instance, under codecs.Context, bound map[string]bool) {
	for _, long := range fields.All {
		if _, present := long.Get(&under); !present {
			continue
		}
		for _, n := range []int{300, 1100, 5000, 70_000} {
			c := long.Put(under, long.Value(strings.Repeat("x", n)))
			tok, ok := in.Mint(t.State(8), c)
			if !ok {
				continue
			}
			var asked []presentation
			for _, f := range fields.All {
				if f.Name != long.Name && bound[f.Name] {
					asked = append(asked, t.otherThan(tok, f, c, fmt.Sprintf("a %s of %d letters", long.Name, n))...)
				}
			}
			t.presentIn(in, tok, asked)
		}
	}
}

// A fieldKind is a field with values of several kinds, for which a reader may make an exception.
type fieldKind struct {
	field  fields.Field
	values []string
}

// fieldKinds are methods and notifications of MCP and of others, and kinds of targets, arguments, callers
// and servers.
var fieldKinds = []fieldKind{
	{fields.Method, []string{"resources/subscribe", "resources/templates/list", "sampling/createMessage", "elicitation/create", "tasks/get", "tasks/result",
		"subscriptions/listen", "notifications/progress", "logging/setLevel", "server/discover", "tools/list", "ping", "initialize", "x/tools/call", "Tools/Call"}},
	{fields.Target, []string{"https://a.example/x", "urn:a:b", "ui://a/b", "data:,x", "/a/b", "../a", "a.b", "a:b", "list_users", "get_user", "delete_user", "_internal", "Deploy", "7", "d\u00e9ploie"}},
	{fields.Arguments, []string{`{"dry_run":true}`, `{"_meta":{"a":1}}`, `{"uri":"file:///a"}`}},
	{fields.Principal, []string{"admin", "root", "system", "service:ci", "anonymous", "guest", "test", "alice@a.example", "7"}},
	{fields.Audience, []string{"http://localhost:8080/", "https://127.0.0.1/mcp", "urn:a:b", "stdio", "default", "a.test"}},
}

// boundBesideKinds mints tokens for one value of each kind and presents them with each bound field
// changed. A reader may leave out a field for one kind of method, target or caller.
func (t trial) boundBesideKinds(in *attack.Instance, under codecs.Context, bound map[string]bool) {
	for _, kind := range fieldKinds {
		for _, v := range kind.values {
			if !bound[kind.field.Name] || t.Spent() {
				break
			}
			s := combination{context: kind.field.Put(under, v), state: 8}
			t.inCombination(in, nil, s, fmt.Sprintf("%s %+q", kind.field.Name, v), bound)
		}
	}
}

// boundAnywhere reports which fields an ordinary token is bound to. The plain attacks cover
// fields that are never bound.
func (t trial) boundAnywhere(in *attack.Instance, tok *attack.Token) map[string]bool {
	bound := map[string]bool{}
	for _, f := range fields.All {
		_, present := f.Get(&tok.Under)
		bound[f.Name] = present && f.Binds(in, tok)
	}
	return bound
}

// inCombination mints a token in one combination and presents it with each field changed. It
// returns without a trial if the design does not seal the state there, or refuses its own
// token.
func (t trial) inCombination(in, ring *attack.Instance, s combination, how string, bound map[string]bool) {
	tok, ok := in.Mint(t.State(s.state), s.context)
	if !ok {
		return
	}
	holder := in
	if s.second {
		holder = ring
	}
	present := tok.Under
	if s.age > 0 && !t.Design.OwnClock {
		present = attack.Later(present, s.age)
	}
	var asked []presentation
	for _, f := range fields.All {
		if bound[f.Name] {
			asked = append(asked, t.otherThan(tok, f, present, how)...)
		}
	}
	if !t.Design.OwnClock {
		asked = append(asked, presentation{attack.Later(tok.Under, 400*24*time.Hour), codecs.Expiry, t.Refute, "a token is accepted 400 days after it was minted with " + how})
	}
	t.presentIn(holder, tok, asked)
}

// otherThan returns the presentations of tok with other values of a field.
func (t trial) otherThan(tok *attack.Token, f fields.Field, present codecs.Context, how string) (asked []presentation) {
	from, was := f.Get(&tok.Under)
	record := t.Refute
	if f.Property == codecs.BindsArguments && t.mayLackArguments(tok.Under.Method) {
		record = t.Observe
	}
	for _, v := range f.Unrelated()[:2] {
		if v != from {
			asked = append(asked, presentation{f.Put(present, v), f.Property, record,
				fmt.Sprintf("a token minted for %s %+.40q (present: %t) is accepted for %+q with %s", f.Name, from, was, v, how)})
		}
	}
	if !was || !f.Optional() {
		return asked
	}
	if f.Property == codecs.BindsArguments && from == "{}" {
		record = t.Observe // a reader may treat {} and absent arguments alike
	}
	return append(asked, presentation{f.Without(present), f.Property, record,
		fmt.Sprintf("a token minted for %s %+.40q is accepted without any with %s", f.Name, from, how)})
}

// mayLackArguments reports whether the design may ignore arguments of a method. In MCP only tools and
// prompts have them. A design that reads no two contexts as the same ignores no field.
func (t trial) mayLackArguments(method string) bool {
	return method != "tools/call" && method != "prompts/get" && t.Design.Claim(codecs.Unambiguous) != verdict.Stated
}

// boundAtEveryLength presents tokens of states of every length, and of long states, with each
// bound field changed, and after their expiry.
func (t trial) boundAtEveryLength(in *attack.Instance, under codecs.Context, bound map[string]bool) {
	calls := in.Seals(under, slices.Concat(t.SweptStates(), t.FormedStates(), [][]byte{t.State(attack.LongState), t.State(attack.LongerState)}))
	if len(calls) == 0 {
		return
	}
	texts := attack.TextsOf(calls)
	ask := func(p codecs.Property, to codecs.Context, how string) {
		t.TryTimes(len(texts), p)
		call, ok := in.FirstAccepted(texts, to)
		if !ok {
			return
		}
		k := slices.IndexFunc(texts, func(text []byte) bool { return bytes.Equal(text, call.Token) })
		t.Refute(p, fmt.Sprintf("a token of a state of %d bytes, %.16q, is accepted %s", len(calls[k].State), calls[k].State, how), calls[k], call)
	}
	for _, f := range fields.All {
		if bound[f.Name] {
			ask(f.Property, f.Put(under, f.Unrelated()[0]), "with another "+f.Name)
		}
	}
	if late := attack.Later(under, 400*24*time.Hour); !t.Design.OwnClock && !in.AcceptsFirst(in.TokenOf(calls[0], under), late) {
		ask(codecs.Expiry, late, "400 days after it was minted")
	}
}
