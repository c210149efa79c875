package review

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"sealab/internal/rawmcp"
)

// lasting are the checks of how long and how often a state is good.
var lasting = []Check{
	{ID: "RS-EXP", Name: "a state that does not expire", Flow: true, Severity: Warning, Category: "security",
		Sent: "a token that is older than its time to live (--ttl, or the time in a readable token); with --effects one that was presented before as well; over HTTP one with a header Date of its time", Want: "accepted before, refused after, like a changed token", Source: mrtr + ", SHOULD expire",
		Impact: "a token that leaked, or a consent long forgotten, stays good", Fix: "put the time of issue or expiry into the authenticated part of the token and compare it with the server's clock", Run: expiry},
	{ID: "RS-REPLAY", Name: "a state that is accepted again", Flow: true, Effects: true, Severity: Critical, Category: "security",
		Sent: "one token with the same answers twice; if the second is refused, one eight at once, and one of a tool for one use with one more answer, from its first round, and after others", Want: "accepted once if the tool is declared for one use (--one-time)", Source: mrtr + ", single use",
		Impact: "one consent is carried out as often as somebody likes", Fix: "remember the identifiers of used tokens until they expire", Run: replayed},
	{ID: "RS-ROLL", Name: "an older state after a newer one", Flow: true, Effects: true, Severity: Suggestion, Category: "security",
		Sent: "the token of the first round after that of the second was used", Want: "may be accepted by a server without memory", Source: mrtr,
		Impact: "a flow can be taken back to an earlier step", Fix: "count the rounds in a store if that must not happen", Run: rolledBack},
	{ID: "RS-SKIP", Name: "answers without a state", Flow: true, Effects: true, Severity: Critical, Category: "security",
		Sent: "the answers of the last round in the first call, without a state, and with the token of the first round; the answers of each round with an empty state", Want: "the flow begins", Source: mrtr,
		Impact: "the steps before the last are skipped", Fix: "decide by the verified state alone in which round a request is", Run: skipped},
}

// maxReadWait is how long a review waits for an expiry that it read in a token.
const maxReadWait = 30 * time.Second

// slack is the time past expiry after which a token must be refused.
const slack = 2 * time.Second

func expiry(t *T) {
	token, reason := t.mint()
	if reason != "" {
		t.skip("%s", reason)
		return
	}
	ttl, told := t.r.opts.TTL, true
	if ttl == 0 {
		told = false
		ttl = t.readTTL(token)
	}
	limit := max(t.r.opts.Wait, maxReadWait)
	if issue := t.written(token); issue != "" && !told {
		t.trials++
		t.refute(Finding{Case: "the token", Severity: Warning, Issue: issue, Evidence: "token " + short(token, 200) + " holds " + short(strings.TrimPrefix(readable(token), token), 200), Want: "a time of expiry", Got: issue})
		return
	}
	switch {
	case ttl == 0 && t.timeless(token):
		t.trials++
		t.refute(Finding{Case: "no time", Severity: Suggestion, Issue: "the readable token holds no time: it expires only if the server remembers when it was minted", Evidence: "token " + short(token, 200) + " holds " + short(strings.TrimPrefix(readable(token), token), 200), Want: "a time", Got: "none"})
		return
	case ttl == 0 && t.r.opts.Wait == 0:
		t.skip("the time to live is unknown; --ttl tells it, --wait waits")
		return
	case ttl == 0:
		t.waited(t.r.opts.Wait)
		return
	case !told && ttl+slack > limit:
		t.skip("the token says that it lives for %v; --wait %v waits for that", ttl.Round(time.Second), (ttl + slack).Round(time.Second))
		return
	}
	if t.afterwards(ttl+slack) == accepted {
		_, remark := t.shown(t.o.flow)
		t.refute(Finding{Case: "after its time", Severity: Warning, Issue: fmt.Sprintf("a token is accepted after its time to live of %v", ttl.Round(time.Second)) + remark,
			Evidence: fmt.Sprintf("presented %v after it was minted: accepted, twice; a fresh token: accepted; garbage: refused", (ttl + slack).Round(time.Second)), Want: "refused", Got: "accepted"})
	}
}

// waited looks whether a token expires within a time.
func (t *T) waited(wait time.Duration) {
	if t.afterwards(wait) == accepted {
		t.skip("not refused within --wait %v", wait)
	}
}

// afterwards mints tokens of each flow, waits, and presents them between two
// controls. It returns accepted if all of a flow are, which is the flow from then on.
func (t *T) afterwards(wait time.Duration) verdict {
	own, old, known := t.o, map[*oracle][]string{}, t.known()
	flows := append([]*oracle{own}, slices.DeleteFunc(slices.Clone(t.r.oracles), func(o *oracle) bool { return o == own })...)
	flows = append(slices.Clone(t.r.sighted(t.ctx)), flows...)
	for _, t.o = range flows {
		for range repeats {
			token, reason := t.mint()
			switch {
			case reason == "":
				old[t.o] = append(old[t.o], token)
			case t.o == own:
				t.skip("%s", reason)
				return unclear
			}
		}
	}
	minted := t.r.client.clock.Now()
	t.r.opts.Log("waiting %v for a token to expire", wait)
	if err := t.r.client.clock.Sleep(t.ctx, wait); err != nil {
		t.skip("waiting: %v", err)
		return unclear
	}
	result := unclear
	for _, t.o = range flows {
		if len(old[t.o]) < repeats {
			continue
		}
		v, reason := t.aged(old[t.o])
		switch {
		case v == accepted:
			return v
		case t.o == own && reason != "":
			t.skip("%s", reason)
		case t.o == own:
			result = v
		}
	}
	if t.o = own; result != refused {
		return result
	}
	t.remembered(known)
	t.datedBefore(old[own], minted)
	t.expiredAlike(old[own])
	return result
}

// known mints a token and presents it without answers, which lets a server remember its
// verdict; "" without effects.
func (t *T) known() string {
	f := t.o.flow
	if f.Last == nil {
		return ""
	}
	f.Last = nil
	token, _, err := t.r.client.mint(t.ctx, f, t.o.user)
	if err != nil || t.r.client.present(t.ctx, f, quote(token), t.o.user).Kind != asked {
		return ""
	}
	return token
}

// remembered presents a token after its time that was presented within it.
func (t *T) remembered(token string) {
	if token == "" {
		return
	}
	a := t.r.client.present(t.ctx, t.o.flow, quote(token), t.o.user)
	t.seen(variant{name: "old, presented before"}, a)
	if t.o.verdict(a) != accepted || t.renewed(a) || a.Kind == completed && !t.o.alike(a) {
		return
	}
	t.refute(Finding{Case: "presented before", Severity: Warning, Issue: "a token that was presented without answers within its time is accepted after it",
		Evidence: fmt.Sprintf("tokens that were not presented: refused; this one: %v", a), Want: "refused", Got: "accepted"})
}

// datedBefore presents an expired token with the time of its minting in the header Date.
func (t *T) datedBefore(old []string, minted time.Time) {
	if t.r.client.http == nil || len(t.findings) > 0 {
		return
	}
	for _, token := range old {
		call := t.o.flow.call(t.o.user)
		call.State, call.Answers = quote(token), t.o.flow.Last
		t.r.client.id++
		body, err := call.body(t.r.client.id)
		if err != nil {
			return
		}
		headers := append(t.r.client.callHeaders(t.ctx, call), rawmcp.Header{Name: "Date", Value: minted.UTC().Format(http.TimeFormat)})
		a := t.r.client.rawCall(t.ctx, headers, body)
		if t.seen(variant{name: "dated"}, a); t.o.verdict(a) != accepted || t.renewed(a) {
			return
		}
	}
	t.refute(Finding{Case: "with a Date", Severity: Warning, Issue: "an expired token is accepted if the header Date of the request names an earlier time",
		Evidence: fmt.Sprintf("%d expired tokens: refused; with Date: %s: accepted", len(old), minted.UTC().Format(http.TimeFormat)), Want: "refused", Got: "accepted"})
}

// aged presents old tokens and then controls. It returns accepted if all are.
func (t *T) aged(tokens []string) (v verdict, reason string) {
	result := accepted
	for _, token := range tokens {
		a := t.r.client.present(t.ctx, t.o.flow, quote(token), t.o.user)
		if !a.conclusive() {
			return unclear, a.String()
		}
		t.seen(variant{name: "old"}, a)
		t.r.noteAgain(t.o, a)
		if v := t.o.verdict(a); v != accepted && !t.renewed(a) {
			result = v
		}
	}
	token, reason := t.mint()
	if reason == "" && t.o.verdict(t.r.client.present(t.ctx, t.o.flow, quote(token), t.o.user)) != accepted {
		reason = "the unchanged token is not accepted afterwards"
	}
	if reason != "" {
		return unclear, reason
	}
	if a := t.r.client.present(t.ctx, t.o.flow, quote(garbageState), t.o.user); t.o.verdict(a) != refused {
		return unclear, fmt.Sprintf("garbage is not refused afterwards: %v", a)
	}
	if result == accepted && t.o.blind() && t.r.again != "" {
		return unclear, t.r.again
	}
	return result, ""
}

// renewed reports whether the answer to an old token is the question of its round and a
// state that goes on: the server asks again instead of from the start.
func (t *T) renewed(a Answer) bool {
	if a.Kind != asked || a.State == nil || t.o.flow.Last == nil || len(t.o.flow.Rounds) == 0 || a.going() == t.o.fresh.going() {
		return false
	}
	next := t.r.client.present(t.ctx, t.o.flow, quote(*a.State), t.o.user)
	return t.o.verdict(next) == accepted && (next.Kind == asked || t.o.alike(next))
}

var dated = regexp.MustCompile(`[0-9]{10}|[0-9]{4}-[0-9]{2}-[0-9]{2}T`)

// timeless reports whether a token can be read and holds no number or text that
// may be a time.
func (t *T) timeless(token string) bool {
	all := views(token)
	for _, v := range all {
		if len(v.before) > 0 || dated.Match(object(v.object)) {
			return false
		}
	}
	return len(all) > 0 && !dated.MatchString(inTheOpen(token))
}

// longLife is the time to live above which a token is reported.
const longLife = 7 * 24 * time.Hour

// written is the fault of the time that a readable token states, "" if it states
// none or a sound one.
func (t *T) written(token string) string {
	for _, v := range views(token) {
		if len(v.before) == 8 && binary.BigEndian.Uint64(v.before) == 0 {
			return "the time of expiry in the token is zero: it never expires"
		}
	}
	if ttl := t.readTTL(token); ttl > longLife {
		return fmt.Sprintf("the token says that it lives for %v", ttl.Round(time.Hour))
	}
	return ""
}

// readTTL returns the time to live that a readable token states, 0 if it states no time.
func (t *T) readTTL(token string) time.Duration {
	now := t.r.client.clock.Now()
	for _, v := range views(token) {
		if len(v.before) == 8 {
			if left := time.UnixMilli(int64(binary.BigEndian.Uint64(v.before))).Sub(now); left > 0 && left < 100000*time.Hour {
				return left
			}
		}
		for _, name := range []string{"exp", "expires", "expires_at", "expiresAt", "expiry", "e"} {
			var n float64
			if json.Unmarshal(v.object[name], &n) != nil || n <= 0 {
				continue
			}
			at := time.Unix(int64(n), 0)
			if n > 1e11 {
				at = time.UnixMilli(int64(n))
			}
			if left := at.Sub(now); left > 0 && left < 100000*time.Hour {
				return left
			}
		}
	}
	return 0
}
