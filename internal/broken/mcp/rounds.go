package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
)

// responses returns the answers of a request by the keys of their questions.
func (s *Server) responses(r request) (map[string]map[string]any, *failure) {
	var all map[string]map[string]any
	if raw := r.params["inputResponses"]; raw != nil && json.Unmarshal(raw, &all) != nil {
		if raw[0] == '[' && s.has("lists of answers are a fault") {
			return nil, internalError()
		}
		return nil, invalidParams("inputResponses: want an object of objects")
	}
	if s.has("keys of questions by chance") {
		for key, a := range all {
			step, _, _ := strings.Cut(key, "-")
			all[step] = a
		}
	}
	return all, nil
}

// round answers one round of a call that asks before it acts. The steps are the keys of its
// questions.
func (s *Server) round(r request, p boundRequest, env string, steps []string, done func(claims) object) (object, *failure) {
	steps = s.stepsOf(steps)
	responses, fail := s.responses(r)
	if fail != nil {
		return nil, fail
	}
	p.unanswered = len(responses) == 0
	c, given, fail := s.state(r, p, env)
	if fail != nil {
		return nil, fail
	}
	if given && p.unanswered {
		c, p = s.repeated(c, p, env)
	}
	last := steps[len(steps)-1]
	if reason := s.barred(r, env, given); reason != "" {
		return s.toolError("%s", reason), nil
	}
	switch {
	case s.said.get("used up "+env) != "" && (!given || !s.has("attempts counted in states")):
		return s.usedUp(env), nil
	case !given && (s.has("rounds skipped") || r.params["requestState"] != nil && s.has("rounds skipped by null")) && responses[last] != nil:
		return s.complete(done(claims{Env: env})), nil
	case !given:
		s.begin(r, env)
		return s.ask(r, p, claims{Step: steps[0], Env: env})
	}
	i := slices.Index(steps, c.Step)
	if i < 0 {
		return s.ask(r, p, claims{Step: steps[0], Env: env})
	}
	switch ends, fail := s.unasked(responses, c.Step, last); {
	case fail != nil:
		return nil, fail
	case ends && i == 0 && len(steps) > 1:
		return s.complete(done(c)), nil
	}
	a, answered := responses[c.Step]
	if answered && a == nil && s.has("null answers end the server") {
		s.die()
	}
	if result, fail, done := s.judged(r, p, &c, env, last, a); done {
		return result, fail
	}
	note, fail := s.noted(r, a["content"])
	if fail != nil {
		return nil, fail
	}
	if note != "" {
		return s.toolText("%s", note), nil
	}
	pots, known := s.pots(r, responses)
	extras, allowed := s.further(c, a["content"])
	if !known || !allowed || !s.signsOff(responses) || !s.mayGive(r.user, a["content"]) || !s.mayChoose(r.user, a["content"]) {
		return s.ask(r, p, c)
	}
	c.Env = s.beside(r, "one variable for calls at once", s.overridden(s.actedOn(c.Env, env), a, responses))
	c.Env += s.toldReason(r.user, a["content"]) + s.toldMember(r.user, a["content"]) + s.toldNote(a["content"]) + s.fee(c.Env, a["content"])
	if s.has("drafts of users") {
		c.Env = s.said.get("draft of " + r.user) // of the latest call
	}
	c.ID = s.usedID(r, c)
	if err := s.redeem(c); err != nil {
		return nil, s.refusal(err)
	}
	if i < len(steps)-1 && s.has("answers before their question") && formAllows(last, responses[last]["content"]) {
		return s.complete(done(c)), nil
	}
	if s.isWaived(r, c, i < len(steps)-1, a["content"]) {
		return s.complete(done(c)), nil
	}
	if i < len(steps)-1 {
		return s.ask(r, p, claims{Step: steps[i+1], Env: c.Env, Past: s.chosen(a["content"])})
	}
	if s.isStopped(r, c) {
		return nil, s.refusal(errState)
	}
	return s.finish(r, c, responses, pots+extras, done)
}

// begin remembers what the first request of a call says.
func (s *Server) begin(r request, env string) {
	s.said.put("draft of "+r.user, env)
	s.said.put("host of "+r.user, r.forwarded)
	s.openOrder(r)
	s.postQuestion(r, env)
}

// repeated returns the claims and the request for a question that is asked again: that of the user to whom the
// state is bound or, with a fault, of the present call.
func (s *Server) repeated(c claims, p boundRequest, env string) (claims, boundRequest) {
	if owner := s.ownerOf(c, p); owner != "" {
		p.user = owner
	}
	if s.has("questions repeated for any call") {
		c.Env = env
	}
	return c, p
}

// finish carries out a call whose last question is answered. The result also contains the text further.
func (s *Server) finish(r request, c claims, responses map[string]map[string]any, further string, done func(claims) object) (object, *failure) {
	bid, highest := s.bid(r, responses[c.Step]["content"])
	if !highest {
		return s.toolError("another bid is not lower"), nil
	}
	if s.has("terms of a flow kept") && s.said.first("terms of "+c.ID, c.Env) != c.Env { // not a fault
		return s.toolError("done on other terms"), nil
	}
	s.closeNote(r)
	s.change(r)
	c.Env += s.charge(r, responses) + further + bid + s.unvisited(c) + s.linkToResult(r)
	return s.complete(done(c)), nil
}

// unasked judges the answers under other keys than that of the step. It reports whether one of them answers
// the last question out of order, with a fault.
func (s *Server) unasked(responses map[string]map[string]any, step, last string) (ends bool, fail *failure) {
	for key, a := range responses {
		if s.has("answers under any key") {
			responses[step] = a
		}
		ends = ends || key == last && s.has("rounds out of order")
		if key != step && s.has("other answers refused") {
			return false, invalidParams("unexpected answer")
		}
	}
	return ends, nil
}

// usedID returns the ID under which a used token is remembered.
func (s *Server) usedID(r request, c claims) string {
	id := c.ID
	if s.has("used tokens by the text of their answers") {
		id += answerText(r, c.Step)
	}
	if s.has("used tokens by the name of their tool") {
		id += string(r.params["name"])
	}
	return id
}

// answerText returns the text of the answer to a step, as it was sent.
func answerText(r request, step string) string {
	var written map[string]json.RawMessage
	_ = json.Unmarshal(r.params["inputResponses"], &written) // they have been read
	return string(written[step])
}

// postQuestion puts the object of a question on the board of the user or, with a fault, of everybody.
func (s *Server) postQuestion(r request, env string) {
	if s.has("questions on the board", "own questions on the board") {
		s.said.put("board"+s.orUser("own questions on the board", r), env)
	}
}

// judged answers a round that does not go on with the answer a: with the question again, a refusal or a
// result. It reports whether it did.
func (s *Server) judged(r request, p boundRequest, c *claims, env, last string, a map[string]any) (result object, fail *failure, done bool) {
	asked := func() (object, *failure, bool) {
		result, fail := s.ask(r, p, *c)
		return result, fail, true
	}
	said := func(text string, isError bool) (object, *failure, bool) {
		result := object{"content": textContent("%s", text)}
		if isError {
			result["isError"] = true
		}
		return s.complete(result), nil, true
	}
	switch action := a["action"]; {
	case action == "cancel" && c.Step == last && s.has("cancellations of the last question unanswered"):
		<-r.context.Done()
	case c.Step == "draft" && s.drafted(a):
	case c.Step == "draft":
		return asked()
	case a == nil && s.has("no answer is an acceptance"), a["role"] != nil && s.has("results of models are acceptances"):
	case a == nil && s.has("not asked again"):
		return nil, invalidParams("missing answer"), true
	case a == nil:
		if s.has("states hold those before") {
			c.Past += string(r.params["requestState"])
		}
		return asked()
	case action != "cancel" && c.Step == "tone" && s.has(wishChoices...):
	case action != "accept" && c.Step == "tone" && s.has("a tone by default", "the last tone by default"): // not a fault
		tones := []string{"plain", "warm"}
		return s.complete(s.report(c.Env, tones[s.or("the last tone by default", 1, 0)])), nil, true
	case action != "accept" && !s.modelConsents(r) && !s.has("action ignored") && !s.isOfPlan(*c, "declines of plans carried out") && !(action == nil && s.has("no action is an acceptance")):
		if action != "decline" && action != "cancel" {
			return nil, invalidParams("unknown action"), true
		}
		if s.has("answers are final") { // not a fault
			_ = s.redeem(*c) // used up anyway
		}
		s.giveBack(r, *c)
		return said("not done: the user said no", false)
	case saysNo(a["content"]) && s.has("false confirmations are declines"): // not a fault
		if s.has("answers are final", "answers are final except declines") {
			_ = s.redeem(*c) // used up anyway
		}
		return said("not done: the user said no", false)
	case saysNo(a["content"]) && s.has("removals for nothing"): // not a fault
		return said("nothing removed", false)
	case saysNo(a["content"]) && s.has("false confirmations carried out"):
	case isOtherType(a["content"]) && s.has("other types are declines"): // not a fault
		return said("nothing was entered", false)
	case s.dumpOf(*c, a["content"]) != "":
		return said(s.dumpOf(*c, a["content"]), true)
	case s.lockOf(s.lockedPlace(r, c.Env)) != "":
		return said(s.lockOf(s.lockedPlace(r, c.Env)), true)
	case !s.has("answers not validated") && !s.modelConsents(r) && !s.allows(*c, a["content"]):
		s.noteInvalid(s.lockedPlace(r, c.Env), a["content"])
		if c.Tries++; c.Tries == maxTries && s.has("attempts counted", "attempts counted in states") {
			return s.usedUp(env), nil, true
		}
		if s.countGuess(c) {
			return s.usedUp(env), nil, true
		}
		reason, anew := s.attempt(c)
		if reason != "" {
			return said(reason, true)
		}
		if anew {
			c.Tries, c.Past = 0, ""
		}
		return asked()
	}
	return nil, nil, false
}

// workTime is the time that a slow call takes.
const workTime = 250 * time.Millisecond

// isStopped waits for the work of a slow call, and reports whether it ends with its connection. Then its
// state is good again, with a fault also after the work.
func (s *Server) isStopped(r request, c claims) bool {
	if !s.has("calls that take time", "calls that end with their connection", "states of closed connections") { // the last one is a fault
		return false
	}
	select {
	case <-time.After(workTime):
		return false
	case <-r.context.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used[c.ID] = s.has("calls that take time")
	return s.has("calls that end with their connection")
}

// state opens the requestState of a request.
func (s *Server) state(r request, p boundRequest, env string) (c claims, given bool, fail *failure) {
	raw := r.params["requestState"]
	if s.has("states in _meta") {
		var meta map[string]json.RawMessage
		_ = json.Unmarshal(r.params["_meta"], &meta) // empty if it is of another type
		raw = meta[metaState]
	}
	var token string
	switch {
	case string(raw) == `""` && s.has("empty states unverified"), string(raw) == `"2"` && s.has("cursors as states"):
		return claims{Step: "confirm", Env: env}, true, nil
	case !r.modern && !s.has("older revisions unverified"), raw == nil:
		return c, false, nil
	case s.has("constant states") && json.Unmarshal(raw, &token) == nil && strings.HasPrefix(token, constantState):
		return claims{Step: strings.TrimPrefix(token, constantState), Env: env}, true, nil
	case s.has("states as objects") && json.Unmarshal(raw, &c) == nil && c.Step != "":
		return c, true, nil
	case string(raw) == "null" && s.has("null states end the server"):
		s.die()
	case json.Unmarshal(raw, &token) != nil || string(raw) == "null":
		if s.has("a state of any type") || string(raw) == "null" && s.has("rounds skipped by null") {
			return c, false, nil
		}
		return c, false, invalidParams("requestState: want a text")
	case !r.modern:
		return unverifiedClaims(token), true, nil
	case token == "constructor" && s.has("names of members are faults"):
		return c, false, internalError()
	case len(token) > s.or("states of 4 KiB at most", 4<<10, 2<<20):
		return c, false, &failure{code: -32602, status: 200, message: "requestState is too long"}
	case strings.Count(token, ".") > 10_000 && s.has("full stops take long"):
		_ = s.Clock.Sleep(r.context, 6*time.Second)
	case s.has("work grows with the square"):
		stops := time.Duration(strings.Count(token, "."))
		time.Sleep(stops * stops / 100)
	case len(token) > 30_000 && s.has("long states end the server"), s.has("deep states end the server") && isDeep(token):
		s.die()
	}
	judged := token
	_ = json.Unmarshal(r.verified, &judged) // nil leaves the token
	c, err := s.open(judged, p)
	switch {
	case errors.Is(err, errElsewhere) && s.has("begins again elsewhere"):
		return claims{}, false, nil
	case err != nil:
		fail = s.refusal(err)
		if s.has("refusals quote the request") { // not a fault
			fail.message += " for " + env
		}
		return c, false, fail
	}
	if judged != token {
		c = unverifiedClaims(token)
	}
	return c, true, nil
}

// isDeep reports whether the first part of a token is nested too deeply for a careless parser.
func isDeep(token string) bool {
	text, _, _ := strings.Cut(token, ".")
	raw, _ := decodeStrict(text)
	return bytes.Count(raw, []byte("[")) > 10_000
}

// unverifiedClaims returns the claims of a signed token without verifying its tag.
func unverifiedClaims(token string) (c claims) {
	text, _, _ := strings.Cut(token, ".")
	raw, _ := decodeStrict(text)
	_ = json.Unmarshal(raw, &c) // intentionally unverified
	return c
}
