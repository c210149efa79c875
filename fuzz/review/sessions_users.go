package review

import (
	"fmt"

	"sealab/internal/rawmcp"
)

func hijacked(t *T) {
	if len(t.r.opts.Target.Second) == 0 {
		t.skip("one user alone is known; --second gives the credentials of another")
		return
	}
	s, ok := t.keeping()
	if !ok {
		return
	}
	own, ok := t.open(older, second)
	if !ok {
		return
	}
	if a := t.inSession(own, second, t.oldList()); a.Kind != completed {
		t.skip("control: the second user's own session: %v", a)
		return
	}
	if a := t.inSession(session{version: s.version}, stranger, t.oldList()); a.Status != 401 && a.Status != 403 {
		if b := t.r.client.initialize(t.ctx, older, stranger); b.Kind == completed {
			t.skip("made-up credentials open a session as well, so that the server knows no users")
			return
		}
	}
	for _, as := range []user{second, nobody} {
		name := map[user]string{second: "the second user", nobody: "nobody"}[as]
		if a, lives := t.lives(s, as, own, second); lives {
			t.refute(Finding{Case: name, Severity: Critical, Issue: "the session of the first user is used by " + name, Evidence: sent(a.Exchange) + " -> " + a.String(), Want: "401, 403 or 404", Got: "served", Revision: older})
			continue
		}
		if a, pings := t.pingsIn(s, as, own); pings {
			t.refute(Finding{Case: "ping, by " + name, Severity: Warning, Issue: "a ping in the session of the first user is answered to " + name, Evidence: sent(a.Exchange) + " -> " + a.String(), Want: "401, 403 or 404", Got: "served", Revision: older})
		}
		if e := t.streamOf(s, as); e.Stream {
			t.refute(Finding{Case: "the stream, by " + name, Severity: Critical, Issue: "the stream of the first user's session is opened by " + name, Evidence: sent(e) + " -> status 200", Want: "401, 403 or 404", Got: "200", Revision: older})
		}
		t.removedBy(as, name)
	}
}

// pingsIn reports whether a ping is answered in a session, and not in a made-up one.
func (t *T) pingsIn(s session, as user, own session) (Answer, bool) {
	ping := func(s session, as user) Answer {
		t.r.client.id++
		return t.inSession(s, as, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, t.r.client.id))
	}
	none := own
	none.id = madeUpID(own.id)
	a := ping(s, as)
	t.trials++
	return a, a.Kind == completed && ping(none, second).Kind != completed
}

// streamOf asks for the stream of a session as a user, with more headers.
func (t *T) streamOf(s session, as user, more ...rawmcp.Header) *rawmcp.Exchange {
	w := &wire{headers: append(t.r.client.sessionHeaders(s, as), more...)}
	w.set("Accept", "text/event-stream")
	w.drop("Content-Type")
	e := t.r.client.raw(t.ctx, rawmcp.Request{Verb: "GET", Path: t.r.client.http.Path(), Headers: w.headers, Head: true})
	t.trials++
	return e
}

// removedBy refutes if sessions of the first user end by the DELETE of another: twice,
// and each lives until then.
func (t *T) removedBy(as user, name string) {
	evidence := ""
	for range 2 {
		s, ok := t.opened()
		if !ok {
			return
		}
		e := t.remove(s, as)
		t.trials++
		if e.Status/100 != 2 {
			return
		}
		a := t.inSession(s, first, t.oldList())
		if !a.refused() {
			return
		}
		evidence = fmt.Sprintf("%s -> status %d; then tools/list by the first user -> %v", sent(e), e.Status, a)
	}
	t.refute(Finding{Case: "DELETE by " + name, Severity: Critical, Issue: "the session of the first user is ended by " + name, Evidence: evidence, Want: "401, 403 or 404", Got: "ended", Revision: older})
}
