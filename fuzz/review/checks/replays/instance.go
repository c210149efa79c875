package replays

import (
	"fmt"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
	"sealab/internal/rawmcp"
)

// instanceChecks are the checks of a state at another instance, after a restart, and over another
// connection.
var instanceChecks = []review.Check{
	{
		ID: "RS-INST", Name: "a state of another instance", Once: true, Flow: true, Severity: review.Critical, Category: "reliability",
		Sent: "a token of this server at the address of --also, or in a second process; with --effects and " +
			"--one-time a token that was already used here; the check compares the first 16 bytes of tokens of " +
			"both instances",
		Want: "accepts the token if the instances share a key, and refuses it like any other bad state if they do " +
			"not; refuses a used token; draws different random bytes on each instance",
		Source: "revision 2026-07-28, basic: any instance may take the next request",
		Impact: "a token of another instance causes an internal failure, or is used a second time there, or both " +
			"instances repeat nonces",
		Fix: "refuse a token under an unknown key like any other bad state; share the identifiers of used tokens; " +
			"seed each instance separately",
		Run: checkOtherInstance,
	},
	{
		ID: "RS-RESTART", Name: "a state after a restart", Once: true, Flow: true, Over: "http", Severity: review.Critical, Category: "security",
		Sent: "a fresh token after the command of --restart; with --effects and --one-time a token that was used " +
			"before the restart",
		Want:   "accepts or refuses the fresh token, and refuses the used one",
		Source: review.SourceMRTR + ", single use",
		Impact: "used tokens are accepted again after a restart, or open flows are lost",
		Fix:    "keep the key and the identifiers of used tokens in storage that survives a restart",
		Run:    checkRestart,
	},
	{
		ID: "RS-CONN", Name: "a state over another connection", Once: true, Over: "http", Era: "modern", Severity: review.Warning, Category: "reliability",
		Sent:   "a fresh token over a new connection and, if that fails, over the connection that minted it",
		Want:   "accepts the token over both",
		Source: "revision 2026-07-28, basic: requests are independent of connections",
		Impact: "a client that reconnects, or that is behind a proxy, cannot finish the call",
		Fix:    "bind the state to the user, not to the connection",
		Timed:  true, Run: checkOtherConnection,
	},
	{
		ID: "IO-RESTART", Name: "a state in a second process", Over: "stdio", Flow: true, Severity: review.Critical, Category: "reliability",
		Sent: "a token of the first process, presented to a second process that the review starts; with --effects " +
			"and --one-time also a token that the first process has already accepted; the check compares the " +
			"first 16 bytes of tokens of both processes",
		Want: "accepts or refuses the token, and continues to answer; refuses a used token; draws different random " +
			"bytes in each process",
		Source: review.SourceStdio,
		Impact: "a token of an earlier process ends the server, or is used a second time, or both processes repeat " +
			"nonces",
		Fix: "refuse a token under an unknown key like any other bad state; share the identifiers of used tokens; " +
			"seed each process separately",
		Run: checkOtherInstance,
	},
}

// checkRestart presents tokens that were minted before a restart.
func checkRestart(t *review.T) {
	if t.Options.Restart == nil {
		t.Skip("no command is known that restarts the server; --restart gives one")
		return
	}
	t.Prefer(t.OneTime)
	token, reason := t.Mint()
	used, also := t.Mint()
	if reason != "" || also != "" {
		t.Skip("%s%s", reason, also)
		return
	}
	once := t.Options.Effects && t.OneTime(t.Oracle.Flow)
	if once {
		if a := t.PresentText(used); t.Oracle.Verdict(a) != review.Accepted {
			t.Skip("control: the unchanged token is not accepted before the restart: %v", a)
			return
		}
		once = t.VerdictOn(used) == review.Refused
	}
	if err := t.Options.Restart(t.Context); err != nil {
		t.Skip("restarting the server: %v", err)
		return
	}
	own, reason := t.Mint()
	if reason == "" && t.VerdictOn(own) != review.Accepted {
		reason = "a token of after the restart is not accepted"
	}
	if t.SkipFor(reason) {
		return
	}
	if once {
		if a := t.PresentText(used); t.Oracle.Verdict(a) == review.Accepted {
			t.Refute(review.Finding{Case: "a used token", Severity: review.Critical, Issue: "a used token is accepted again after a restart", Evidence: a.String(), Want: "refused", Got: "accepted"})
		}
	}
	a := t.Tried(t.PresentText(token))
	switch {
	case a.Kind == client.Broken:
		t.Refute(review.Finding{Case: "a fresh token", Severity: review.Warning, Issue: "a token of before the restart is a fault of the server",
			Evidence: a.String(), Want: "accepted or refused", Got: "broken"})
	case t.Oracle.Verdict(a) == review.Refused:
		t.Refute(review.Finding{Case: "a fresh token", Severity: review.Suggestion,
			Issue: "open flows are lost at a restart: the token is refused afterwards (a property)", Evidence: a.String(), Want: "accepted", Got: "refused"})
	}
}

// checkOtherConnection uses the controls of the flows, each request of which has its own
// connection. If the controls fail, it mints and retries a token over one connection.
func checkOtherConnection(t *review.T) {
	if len(t.Oracles) > 0 {
		t.Trials++
		return
	}
	for _, f := range t.Flows {
		if len(f.Rounds) > 0 {
			continue
		}
		token, _, err := t.Client.Mint(t.Context, f, client.FirstUser)
		if t.SkipOn(err) {
			return
		}
		apart := t.Client.Present(t.Context, f, jsondoc.Quote(token), client.FirstUser)
		together, err := walkOneConnection(t, f)
		if t.SkipOn(err) {
			return
		}
		t.Trials++
		if apart.Refused() && !together.Refused() && together.Conclusive() {
			t.Refute(review.Finding{Case: "another connection", Severity: review.Warning, Issue: "a token is accepted only over the connection that minted it", Flow: &f,
				Evidence: fmt.Sprintf("over another connection: %v; over the same: %v", apart, together), Want: "accepted", Got: "refused"})
		}
		return
	}
	t.Skip("%s", t.NoFlow())
}

// walkOneConnection walks the first two rounds of a flow over one connection.
func walkOneConnection(t *review.T, f client.Flow) (client.Answer, error) {
	c := t.Client
	conn, err := c.HTTP.Dial(t.Context)
	if err != nil {
		return client.Answer{}, err
	}
	defer conn.Close()
	send := func(call client.Call) (client.Answer, error) {
		if err := c.Take(t.Context); err != nil {
			return client.Answer{}, err
		}
		body, id, err := c.NextBody(call)
		if err != nil {
			return client.Answer{}, err
		}
		headers := slices.DeleteFunc(slices.Clone(c.Headers(t.Context, call)), func(h rawmcp.Header) bool { return strings.EqualFold(h.Name, "Connection") })
		e := c.HTTP.DoOver(t.Context, conn, rawmcp.Request{Verb: "POST", Path: c.HTTP.Path(), Headers: headers, Body: body})
		c.Keep(e)
		return client.ReadAnswer(e, id), nil
	}
	call := f.Call(client.FirstUser)
	a, err := send(call)
	if err != nil {
		return a, err
	}
	if a.Kind != client.Asked || a.State == nil {
		return a, fmt.Errorf("over one connection: %v, want a question", a)
	}
	return send(c.Reply(call, a, f.Last))
}

func checkOtherInstance(t *review.T) {
	there, reason := dialSecondInstance(t.Review)
	if t.SkipFor(reason) {
		return
	}
	defer there.Close()
	t.Prefer(t.OneTime)
	token, reason := t.Mint()
	if t.SkipFor(reason) {
		return
	}
	own, _, err := there.Mint(t.Context, t.Oracle.Flow, t.Oracle.User)
	if err != nil {
		t.Skip("the second instance: %v", err)
		return
	}
	if a := there.Present(t.Context, t.Oracle.Flow, jsondoc.Quote(own), t.Oracle.User); t.Oracle.Verdict(a) != review.Accepted {
		t.Skip("the second instance refuses its own token: %v", a)
		return
	}
	if t.Options.Effects && t.OneTime(t.Oracle.Flow) {
		replayAtInstance(t, there)
	}
	a := t.Tried(there.Present(t.Context, t.Oracle.Flow, jsondoc.Quote(token), t.Oracle.User))
	compareRandomBytes(t, there, t.Oracle.Verdict(a) == review.Accepted)
	if again := there.Present(t.Context, t.Oracle.Flow, jsondoc.Quote(token), t.Oracle.User); a.Kind == client.Broken && again.Kind == client.Broken {
		t.Refute(review.Finding{Case: "a second instance", Severity: review.Warning, Issue: "a token of one instance is a fault of another",
			Evidence: a.String() + "; again: " + again.String(), Want: "accepted or refused", Got: "broken"})
	}
}

// comparedTokens is the number of tokens of a second instance that are compared. comparedBytes is
// the number of their first bytes that must differ.
const (
	comparedTokens = 12
	comparedBytes  = 16
)

// compareRandomBytes looks for the first bytes of tokens of a second instance among those of the
// first. It records a finding if it finds any and the instances share a key, or if whole tokens are
// equal. Both instances then draw from one seed. It ignores designs with equal tokens for equal
// calls, and tokens that begin alike or can be read.
func compareRandomBytes(t *review.T, there *client.Client, shared bool) {
	if plain, reason := t.CanBeRead(); plain || reason != "" {
		return
	}
	own := map[string]bool{}
	for range review.Repetitions {
		token, reason := t.Mint()
		if reason != "" || own[token] {
			return
		}
		own[token] = true
	}
	heads := map[string]string{}
	for token := range t.Client.Minted {
		if raw := tokens.LongestSegment(token); len(raw) >= comparedBytes {
			heads[string(raw[:comparedBytes])] = token
		}
	}
	if 10*len(heads) < 9*len(t.Client.Minted) {
		return
	}
	for range comparedTokens {
		token, _, err := there.Mint(t.Context, t.Oracle.Flow, t.Oracle.User)
		raw := tokens.LongestSegment(token)
		if err != nil || len(raw) < comparedBytes {
			return
		}
		t.Trials++
		if here, ok := heads[string(raw[:comparedBytes])]; ok && (shared || here == token) {
			t.Refute(review.Finding{Case: "tokens of two instances", Severity: review.Critical,
				Issue:    "two instances draw the same random bytes for their tokens",
				Evidence: client.Short(here, 160) + " of one, " + client.Short(token, 160) + " of the other", Want: "different bytes", Got: "the same"})
			return
		}
	}
}

// replayAtInstance presents a token to a second instance after the first accepted it once and then
// refused it.
func replayAtInstance(t *review.T, there *client.Client) {
	used, reason := t.Mint()
	if t.SkipFor(reason) {
		return
	}
	here := func() review.Verdict {
		return t.VerdictOn(used)
	}
	if here() != review.Accepted || here() != review.Refused {
		return // see RS-REPLAY
	}
	a := t.Tried(there.Present(t.Context, t.Oracle.Flow, jsondoc.Quote(used), t.Oracle.User))
	if t.Oracle.Verdict(a) == review.Accepted {
		t.Refute(review.Finding{Case: "a used token", Severity: review.Critical, Issue: "a used token is accepted again by a second instance",
			Evidence: "accepted, then refused; at the second instance: " + a.String(), Want: "refused", Got: "accepted"})
	}
}

// dialSecondInstance returns a client of a second instance of the server, or the reason why there
// is none.
func dialSecondInstance(r *review.Review) (*client.Client, string) {
	o := r.Options
	switch {
	case o.Target.Also != "":
		o.Target.URL = o.Target.Also
	case len(o.Target.Command) == 0:
		return nil, "one address is known; --also gives a second one"
	}
	o.Budget = 80
	c, err := client.New(o.Client())
	if err != nil {
		return nil, err.Error()
	}
	c.Repeated = r.Client.Repeated
	return c, ""
}
