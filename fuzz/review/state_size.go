package review

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"sealab/internal/rawmcp"
)

func sizes(t *T) {
	token, reason := t.mint()
	if reason != "" {
		t.skip("%s", reason)
		return
	}
	texts := []variant{{name: "16 KiB", text: strings.Repeat("A", 16<<10)}, {name: "60 KiB", text: strings.Repeat("A", 60<<10)}, {name: "60,000 full stops", text: strings.Repeat(".", 60000)}}
	if t.r.opts.Effects {
		texts = append(texts, variant{name: "1 MB", text: strings.Repeat("A", 1e6)}, variant{name: "4 MB", text: strings.Repeat("A", 4e6)},
			variant{name: "a million full stops", text: strings.Repeat(".", 1e6)}, variant{name: "a token and a million line feeds", text: token + strings.Repeat("\n", 1e6)})
	}
	for _, v := range append(deepStates(token), texts...) {
		a := t.r.client.present(t.ctx, t.o.flow, v.state(), t.o.user)
		t.seen(variant{name: v.name}, a)
		if t.o.judge(v.text, a) == accepted && !t.o.presence && t.o.verdict(t.r.client.present(t.ctx, t.o.flow, quote(garbageState), t.o.user)) == refused && !strings.HasPrefix(v.text, token) {
			t.refute(Finding{Case: v.name, Severity: Critical, Issue: "a state of " + v.name + " that the server did not mint is accepted", Evidence: fmt.Sprintf("%v; garbage: refused", a), Want: "refused", Got: "accepted"})
			return
		}
		if took := t.slowly(v, a); took > 0 {
			t.refute(Finding{Case: v.name, Severity: Warning, Issue: "the server works long on a state of " + v.name, Evidence: fmt.Sprintf("%v after %v", a, took.Round(time.Second)), Want: "refused at once", Got: "refused late"})
			return
		}
		if alive := t.alive(); alive != "" {
			t.refute(Finding{Case: v.name, Severity: Warning, Issue: "the server does not answer after a state of " + v.name, Evidence: fmt.Sprintf("%v; then %s", a, alive), Want: "refused", Got: "broken"})
			return
		}
	}
	t.work(token)
}

// factors are what numbers in a token are multiplied by, and tellingWork the time above
// which the answer to such a token is late.
var factors = []int{30, 1000, 30_000}

const tellingWork = 250 * time.Millisecond

// work multiplies numbers in a token, as rounds of a function that makes keys. It refutes if
// the refusal takes long, and that of garbage does not.
func (t *T) work(token string) {
	for _, factor := range factors {
		if factor > 1000 && !t.r.opts.Effects {
			return
		}
		for _, v := range multiplied(token, factor) {
			if t.only != "" && t.only != v.name {
				continue
			}
			a := t.r.client.present(t.ctx, t.o.flow, v.state(), t.o.user)
			t.seen(variant{name: v.name}, a)
			if !t.late(a) || !t.late(t.r.client.present(t.ctx, t.o.flow, v.state(), t.o.user)) {
				continue
			}
			t.refute(Finding{Case: v.name, Severity: Warning, Issue: "a number in a state that nobody minted says how long the server works", Evidence: fmt.Sprintf("%s -> %v after %v", short(v.text, 120), a, a.Exchange.Took.Round(time.Millisecond)), Want: "refused at once", Got: "refused late"})
			return
		}
	}
}

// late reports whether an answer took long, and long beside the soonest of some to garbage.
func (t *T) late(a Answer) bool {
	if !a.refused() || a.Exchange == nil || a.Exchange.Took < tellingWork {
		return false
	}
	soonest := a.Exchange.Took
	for range repeats {
		if b := t.r.client.present(t.ctx, t.o.flow, quote(garbageState), t.o.user); b.Exchange != nil {
			soonest = min(soonest, b.Exchange.Took)
		}
	}
	return a.Exchange.Took > longTimes*soonest
}

// multiplied are tokens of which one number is larger: a part that is a number of three to
// seven digits, or a member of an object that can be read.
func multiplied(token string, factor int) []variant {
	var all []variant
	add := func(name, text string) {
		all = append(all, variant{name: fmt.Sprintf("%s times %d", name, factor), text: text})
	}
	segments := segmentsOf(token)
	for i, s := range segments {
		if n, err := strconv.Atoi(s.text); err == nil && n >= 100 && n < 1e7 {
			add(fmt.Sprintf("segment %d", i), replaced(segments, i, strconv.Itoa(n*factor)))
		}
	}
	for _, v := range views(token) {
		for _, name := range sortedKeys(v.object) {
			if n, err := strconv.Atoi(string(v.object[name])); err == nil && n >= 100 && n < 1e7 {
				add(fmt.Sprintf("%q", name), v.write(token, object(with(v.object, name, json.RawMessage(strconv.Itoa(n*factor))))))
			}
		}
	}
	return all
}

// deep is how many lists stand in one another in a state that is nested deeply.
const deep = 20_000

// deepStates are nested lists in the place of a token, and of what can be read in one.
func deepStates(token string) []variant {
	nested := json.RawMessage(strings.Repeat("[", deep) + strings.Repeat("]", deep))
	all := []variant{{name: "nested lists", text: string(nested)}}
	for _, v := range views(token) {
		if v.segment >= 0 {
			all = append(all, variant{name: fmt.Sprintf("nested lists in segment %d", v.segment), text: v.write(token, nested)})
		}
	}
	return all
}

// longTimes is how many times as long as a good call a bad state may take.
const longTimes = 20

// slowly returns the time that a bad state takes twice, if it is long, and long beside
// good calls before and after. It returns 0 otherwise.
func (t *T) slowly(v variant, a Answer) time.Duration {
	// A slow reader may take 5 µs for a byte.
	long := max(t.r.opts.Hang/6, 500*time.Millisecond) + time.Duration(len(v.text))*5*time.Microsecond
	if a.Exchange == nil || a.Exchange.Took < long {
		return 0
	}
	good := t.r.client.call(t.ctx, t.o.flow.call(t.o.user))
	again := t.r.client.present(t.ctx, t.o.flow, v.state(), t.o.user)
	for _, e := range []*rawmcp.Exchange{good.Exchange, t.r.client.call(t.ctx, t.o.flow.call(t.o.user)).Exchange} {
		if e == nil || again.Exchange == nil || again.Exchange.Took < max(long, longTimes*e.Took) {
			return 0
		}
	}
	return again.Exchange.Took
}

// alive returns the reason why the server does not answer a good call, "" if it
// does. A server that comes back at once is alive.
func (t *T) alive() string {
	process := t.r.client.process
	if process != nil && !process.Alive() {
		return fmt.Sprintf("the process ended: %v", process.State())
	}
	for range 3 {
		if a := t.r.client.call(t.ctx, t.o.flow.call(t.o.user)); a.Kind != broken {
			return ""
		}
	}
	return "no answer to three calls"
}

// expires reports whether an unchanged token is refused after a time.
func (t *T) expires(after time.Duration) bool {
	token, reason := t.mint()
	if reason != "" || t.r.client.clock.Sleep(t.ctx, after) != nil {
		return true
	}
	return t.r.client.present(t.ctx, t.o.flow, quote(token), t.o.user).refused()
}

func takeBack(t *T) {
	t.prefer(takesText)
	sizes := []int{1000, 10_000, 30_000}
	if t.r.opts.Effects {
		sizes = append(sizes, 60_000, 100_000, 400_000, 900_000)
	}
	for _, n := range sizes {
		f := t.o.flow
		args := withText(f.Arguments, f.offer.input(), strings.Repeat("a", n))
		if args == nil {
			t.skip("no argument takes a text of %d characters", n)
			return
		}
		f = f.with(args)
		before := t.r.client.clock.Now()
		token, question, err := t.r.client.mint(t.ctx, f, t.o.user)
		if err != nil {
			if !question.conclusive() {
				t.skip("%v", err)
			}
			return // not minted
		}
		a := t.r.client.present(t.ctx, f, quote(token), t.o.user)
		t.seen(variant{name: fmt.Sprint(n)}, a)
		if a.refused() {
			// The server counts from within the first answer to within the second.
			if t.expires(max(t.r.client.clock.Now().Sub(before), question.Exchange.Took+a.Exchange.Took)) {
				t.skip("a token does not live as long as the answers about one of %d characters take", len(token))
				return
			}
			t.refute(Finding{Case: fmt.Sprintf("%d characters", n), Severity: Warning, Issue: fmt.Sprintf("the token of an argument of %d characters is minted and then refused", n),
				Evidence: fmt.Sprintf("a token of %d characters -> %v", len(token), a), Want: "accepted, or not minted", Got: "refused"})
			return
		}
	}
}
