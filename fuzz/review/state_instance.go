package review

import (
	"fmt"
	"net"
	"strings"

	"sealab/internal/rawmcp"
)

// instances are the checks of a state elsewhere: at another instance, after a
// restart, over another connection.
var instances = []Check{
	{ID: "RS-INST", Name: "a state of another instance", Flow: true, Severity: Critical, Category: "reliability",
		Sent: "a token at the address of --also, or in a second process; with --effects and --one-time one that was used before; first bytes of tokens of both are compared", Want: "accepted if instances share a key, else refused like any other state; different bytes",
		Source: "revision 2026-07-28, basic: any instance may take the next request", Impact: "a fault of the server instead of a refusal",
		Fix: "treat a token under an unknown key as any other that is refused", Run: otherInstance},
	{ID: "RS-RESTART", Name: "a state after a restart", Flow: true, Over: "http", Severity: Critical, Category: "security",
		Sent: "a fresh token after the command of --restart; with --effects and --one-time one that was used before", Want: "the fresh one accepted or refused, the used one refused",
		Source: mrtr + ", single use", Impact: "a restart makes used tokens good again, or open flows are lost",
		Fix: "keep the key, and the identifiers of used tokens, where a restart leaves them", Run: afterRestart},
	{ID: "RS-CONN", Name: "a state over another connection", Over: "http", Era: "modern", Severity: Warning, Category: "reliability",
		Sent: "a token over a connection of its own, and over the one that minted it", Want: "accepted over both", Source: "revision 2026-07-28, basic: requests are independent of connections",
		Impact: "a client behind a proxy, or one that reconnects, cannot go on", Fix: "bind the state to the user and not to the connection", Timed: true, Run: otherConnection},
	{ID: "IO-RESTART", Name: "a state in a second process", Over: "stdio", Flow: true, Severity: Critical, Category: "reliability",
		Sent: "a token of one process in a second one, which is started for it; with --effects and --one-time one that was used before", Want: "accepted or refused, and the process goes on to answer", Source: stdioSpec,
		Impact: "a token of yesterday ends the server of today", Fix: "treat a token under an unknown key as any other that is refused", Run: otherInstance},
}

// afterRestart presents tokens of before a restart.
func afterRestart(t *T) {
	if t.r.opts.Restart == nil {
		t.skip("no command is known that restarts the server; --restart gives one")
		return
	}
	t.prefer(t.r.oneTime)
	token, reason := t.mint()
	used, also := t.mint()
	if reason != "" || also != "" {
		t.skip("%s%s", reason, also)
		return
	}
	once := t.r.opts.Effects && t.oneTime()
	if once {
		if a := t.r.client.present(t.ctx, t.o.flow, quote(used), t.o.user); t.o.verdict(a) != accepted {
			t.skip("control: the unchanged token is not accepted before the restart: %v", a)
			return
		}
		once = t.o.verdict(t.r.client.present(t.ctx, t.o.flow, quote(used), t.o.user)) == refused
	}
	if err := t.r.opts.Restart(t.ctx); err != nil {
		t.skip("restarting the server: %v", err)
		return
	}
	own, reason := t.mint()
	if reason == "" && t.o.verdict(t.r.client.present(t.ctx, t.o.flow, quote(own), t.o.user)) != accepted {
		reason = "a token of after the restart is not accepted"
	}
	if reason != "" {
		t.skip("%s", reason)
		return
	}
	if once {
		if a := t.r.client.present(t.ctx, t.o.flow, quote(used), t.o.user); t.o.verdict(a) == accepted {
			t.refute(Finding{Case: "a used token", Severity: Critical, Issue: "a used token is accepted again after a restart", Evidence: a.String(), Want: "refused", Got: "accepted"})
		}
	}
	a := t.r.client.present(t.ctx, t.o.flow, quote(token), t.o.user)
	t.seen(variant{name: "after a restart"}, a)
	switch {
	case a.Kind == broken:
		t.refute(Finding{Case: "a fresh token", Severity: Warning, Issue: "a token of before the restart is a fault of the server", Evidence: a.String(), Want: "accepted or refused", Got: "broken"})
	case t.o.verdict(a) == refused:
		t.refute(Finding{Case: "a fresh token", Severity: Suggestion, Issue: "open flows are lost at a restart: the token is refused afterwards (a property)", Evidence: a.String(), Want: "accepted", Got: "refused"})
	}
}

// otherConnection is decided by the controls of the flows, which use a connection
// for each request. If they fail, mint and retry share one.
func otherConnection(t *T) {
	if len(t.r.oracles) > 0 {
		t.trials++
		return
	}
	for _, f := range t.r.flows {
		if len(f.Rounds) > 0 {
			continue
		}
		token, _, err := t.r.client.mint(t.ctx, f, first)
		if err != nil {
			t.skip("%v", err)
			return
		}
		apart := t.r.client.present(t.ctx, f, quote(token), first)
		together, err := t.overOne(f)
		if err != nil {
			t.skip("%v", err)
			return
		}
		t.trials++
		if apart.refused() && !together.refused() && together.conclusive() {
			t.refute(Finding{Case: "another connection", Severity: Warning, Issue: "a token is accepted only over the connection that minted it", Flow: &f,
				Evidence: fmt.Sprintf("over another connection: %v; over the same: %v", apart, together), Want: "accepted", Got: "refused"})
		}
		return
	}
	t.skip("%s", t.r.noFlow())
}

// overOne walks the first two rounds of a flow over one connection.
func (t *T) overOne(f Flow) (Answer, error) {
	c := t.r.client
	var answers []Answer
	conn, err := c.http.Dial(t.ctx)
	if err != nil {
		return Answer{}, err
	}
	defer func(conn net.Conn) { conn.Close() }(conn)
	call := f.call(first)
	for range 2 {
		if err := c.take(t.ctx); err != nil {
			return Answer{}, err
		}
		c.id++
		body, err := call.body(c.id)
		if err != nil {
			return Answer{}, err
		}
		var headers []rawmcp.Header
		for _, h := range c.callHeaders(t.ctx, call) {
			if !strings.EqualFold(h.Name, "Connection") {
				headers = append(headers, h)
			}
		}
		e := c.http.DoOver(t.ctx, conn, rawmcp.Request{Verb: "POST", Path: c.http.Path(), Headers: headers, Body: body})
		c.kept(e)
		a := read(e, c.id)
		answers = append(answers, a)
		if len(answers) == 2 {
			break
		}
		if a.Kind != asked || a.State == nil {
			return a, fmt.Errorf("over one connection: %v, want a question", a)
		}
		call.State, call.Answers = quote(*a.State), f.Last
	}
	return answers[1], nil
}

func otherInstance(t *T) {
	there, reason := t.r.another()
	if reason != "" {
		t.skip("%s", reason)
		return
	}
	defer there.close()
	t.prefer(t.r.oneTime)
	token, reason := t.mint()
	if reason != "" {
		t.skip("%s", reason)
		return
	}
	own, _, err := there.mint(t.ctx, t.o.flow, t.o.user)
	if err != nil {
		t.skip("the second instance: %v", err)
		return
	}
	if a := there.present(t.ctx, t.o.flow, quote(own), t.o.user); t.o.verdict(a) != accepted {
		t.skip("the second instance refuses its own token: %v", a)
		return
	}
	if t.r.opts.Effects && t.oneTime() {
		t.usedElsewhere(there)
	}
	a := there.present(t.ctx, t.o.flow, quote(token), t.o.user)
	t.trials++
	t.drawnAlike(there, t.o.verdict(a) == accepted)
	if again := there.present(t.ctx, t.o.flow, quote(token), t.o.user); a.Kind == broken && again.Kind == broken {
		t.refute(Finding{Case: "a second instance", Severity: Warning, Issue: "a token of one instance is a fault of another", Evidence: a.String() + "; again: " + again.String(), Want: "accepted or refused", Got: "broken"})
	}
}

// starts is the number of first tokens of a second instance, and drawn the number of their
// first bytes that are compared.
const (
	starts = 12
	drawn  = 16
)

// drawnAlike looks for the first bytes of tokens of a second instance among those of the
// first. It refutes if there are any and instances share a key, or if whole tokens are the
// same: both draw from one seed. Designs that give equal tokens at once are left alone, and
// those whose tokens begin alike or can be read.
func (t *T) drawnAlike(there *client, shared bool) {
	if plain, reason := t.canBeRead(); plain || reason != "" {
		return
	}
	own := map[string]bool{}
	for range repeats {
		token, reason := t.mint()
		if reason != "" || own[token] {
			return
		}
		own[token] = true
	}
	heads := map[string]string{}
	for token := range t.r.client.minted {
		if raw := longest(token); len(raw) >= drawn {
			heads[string(raw[:drawn])] = token
		}
	}
	if 10*len(heads) < 9*len(t.r.client.minted) {
		return
	}
	for range starts {
		token, _, err := there.mint(t.ctx, t.o.flow, t.o.user)
		raw := longest(token)
		if err != nil || len(raw) < drawn {
			return
		}
		t.trials++
		if here, ok := heads[string(raw[:drawn])]; ok && (shared || here == token) {
			t.refute(Finding{Case: "tokens of two instances", Severity: Critical, Issue: "two instances draw the same random bytes for their tokens", Evidence: short(here, 160) + " of one, " + short(token, 160) + " of the other", Want: "different bytes", Got: "the same"})
			return
		}
	}
}

// usedElsewhere presents a token at a second instance that the first one has taken
// and takes only once.
func (t *T) usedElsewhere(there *client) {
	used, reason := t.mint()
	if reason != "" {
		t.skip("%s", reason)
		return
	}
	here := func() verdict { return t.o.verdict(t.r.client.present(t.ctx, t.o.flow, quote(used), t.o.user)) }
	if here() != accepted || here() != refused {
		return // RS-REPLAY judges that
	}
	a := there.present(t.ctx, t.o.flow, quote(used), t.o.user)
	t.seen(variant{name: "used elsewhere"}, a)
	if t.o.verdict(a) == accepted {
		t.refute(Finding{Case: "a used token", Severity: Critical, Issue: "a used token is accepted again by a second instance", Evidence: "accepted, then refused; at the second instance: " + a.String(), Want: "refused", Got: "accepted"})
	}
}

// another connects to a second instance of the server.
func (r *Review) another() (*client, string) {
	o := r.opts
	switch {
	case o.Target.Also != "":
		o.Target.URL = o.Target.Also
	case len(o.Target.Command) == 0:
		return nil, "one address is known; --also gives a second one"
	}
	o.Budget = 80
	c, err := newClient(o)
	if err != nil {
		return nil, err.Error()
	}
	c.repeated = r.client.repeated
	return c, ""
}
