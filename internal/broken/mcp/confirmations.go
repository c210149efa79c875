package mcp

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// approvalChoices are the choices for calls that two members approve with their PINs. The first is a
// fault: one member approves twice. The last asks one member twice.
var approvalChoices = []string{"approvals by one member", "approvals by two members", "PINs asked again"}

// pins are the PINs of the users.
var pins = map[string]string{"alice": "4711", "bob": "1147"}

// approves reports whether a PIN is the answer to a question.
func (s *Server) approves(c claims, pin string) bool {
	if !slices.Contains(slices.Collect(maps.Values(pins)), pin) {
		return false
	}
	if c.Step == "first" {
		s.said.put("first PIN of "+c.Env, pin)
		return true
	}
	return (s.said.get("first PIN of "+c.Env) != pin) == s.has("approvals by two members") || s.has("approvals by one member")
}

// signOffChoices are the choices for calls that ask two offices beside each question. Only the first is a
// fault: an office that does not answer agrees. With the others all have to agree, one has to, or none.
var signOffChoices = []string{"missing sign-offs count", "sign-offs", "sign-offs by one", "sign-offs for information"}

// offices are the keys of the questions to the offices.
var offices = []string{"duty", "legal"}

// askForSignOffs adds the questions to the offices.
func (s *Server) askForSignOffs(questions object) {
	if !s.has(signOffChoices...) {
		return
	}
	schema := object{"type": "object", "properties": object{"yes": object{"type": "boolean"}}, "required": []string{"yes"}}
	for _, office := range offices {
		questions[office] = object{"method": "elicitation/create", "params": object{"mode": "form", "message": "Does the office " + office + " agree?", "requestedSchema": schema}}
	}
}

// signsOff reports whether the offices agree.
func (s *Server) signsOff(responses map[string]map[string]any) bool {
	agreed, missing := 0, 0
	for _, office := range offices {
		a, given := responses[office]
		switch {
		case !given:
			missing++
		case a["action"] == "accept" && member(a["content"], "yes") == true:
			agreed++
		}
	}
	switch {
	case s.has("missing sign-offs count"):
		return agreed+missing == len(offices)
	case s.has("sign-offs"):
		return agreed == len(offices)
	case s.has("sign-offs by one"):
		return agreed > 0
	}
	return true
}

// pageVisitChoices are the choices for confirmations on a page, which nobody visits here. With the first, a fault, an
// accept is the confirmation if the reason is need. The second waits after both reasons, and the last
// says that it waits.
var pageVisitChoices = []string{"one reason waits for no visit", "visits for all reasons", "one reason is noted until the visit"}

// visitQuestion has the parameters of the question at the URL of the page.
const visitQuestion = `{"mode":"url","message":"Please confirm in the browser. The call goes on when that is done.","elicitationId":"1","url":"https://login.test.invalid/confirm"}`

// chosen returns the part of the content of an answer that the state holds: a reason on which a later round
// depends, or a note.
func (s *Server) chosen(content any) string {
	switch {
	case s.has("notes in states"):
		return textIn(content, "note")
	case s.has(pageVisitChoices...), s.has(reasonFirstChoices...):
		return textIn(content, "reason")
	}
	return ""
}

// reasonFirstChoices are the choices for a reason that is asked first. Only the last one is sound: with the
// others, states of the first reason are not bound, or good twice, or count as accepted when they are declined.
var reasonFirstChoices = []string{"states of plans not bound", "states of plans used twice", "declines of plans carried out", "reasons first"}

// isOfPlan reports whether a state is one of the first reason, with a fault.
func (s *Server) isOfPlan(c claims, fault string) bool { return c.Past == "plan" && s.has(fault) }

// goesOnUnvisited reports whether an accept alone lets a call go on.
func (s *Server) goesOnUnvisited(c claims) bool {
	return c.Past == "need" && !s.has("visits for all reasons")
}

// unvisited returns the words of a result that still waits for a visit.
func (s *Server) unvisited(c claims) string {
	if c.Step == "confirm" && s.has("one reason is noted until the visit") {
		return ", pending the visit"
	}
	return ""
}

// waiverChoices are the choices for a box in the last question by which the user is not asked again. With the
// first, a fault, no user is. The last one says so.
var waiverChoices = []string{"waivers of any user", "waivers of their user", "waivers of a team"}

// isWaived notes that a user is not asked again if the content of the last answer says so. It reports whether the
// next question, if there is one, is left out.
func (s *Server) isWaived(r request, c claims, next bool, content any) bool {
	if !s.has(waiverChoices...) {
		return false
	}
	key := "waiver for " + c.Env
	if s.has("waivers of their user") {
		key += " of " + r.user
	}
	if member(content, "remember") == true {
		s.said.put(key, "waived")
	}
	return next && s.said.get(key) != ""
}

// waiverTitle returns the title of the box, or "".
func (s *Server) waiverTitle() string {
	switch {
	case s.has("waivers of a team"):
		return "Do not ask the team again"
	case s.has(waiverChoices...):
		return "Do not ask me again"
	}
	return ""
}

// consentChoices are the choices for the tool export, which gives places of a user to a client after a consent
// that is remembered for the name of the client. Only the first is a fault: the consent counts for any user, and
// the texts do not say so.
var consentChoices = []string{"consents remembered for any user", "consents remembered", "consents for all users"}

// export gives the places of a user to a client.
func (s *Server) export(r request, env string) (object, *failure) {
	var meta map[string]struct{ Name string }
	_ = json.Unmarshal(r.params["_meta"], &meta) // other members have other types
	key := fmt.Sprintf("consent to %q for %q", meta["io.modelcontextprotocol/clientInfo"].Name, env)
	if s.has("consents remembered") {
		key += " of " + r.user
	}
	return s.onceAsked(r, "export", env, key, func(bool) object { return s.toolText("%s", strings.Join(knownPlaces[r.user], ", ")) })
}

// onceAsked asks before a call, and remembers an acceptance under a key. It carries out a call whose key is
// known without a question.
func (s *Server) onceAsked(r request, tool, env, key string, run func(again bool) object) (object, *failure) {
	given := s.said.get(key) != ""
	if given && r.params["requestState"] == nil {
		return run(true), nil
	}
	return s.round(r, r.placed(tool), env, []string{"confirm"}, func(claims) object {
		s.said.put(key, "given")
		return run(given)
	})
}

// tripChoices are the choices for the tool trip, which books a trip to a place after an approval that it
// remembers. Only the first is a fault: the approval of one place counts for others. With the last, a second
// trip is not booked.
var tripChoices = []string{"trips approved for any place", "trips approved by place", "one trip"}

// trip books a trip to a place.
func (s *Server) trip(r request, env string) (object, *failure) {
	key := "trips approved"
	if s.has("trips approved by place") {
		key += " to " + env
	}
	return s.onceAsked(r, "trip", env, key, func(again bool) object {
		if again && s.has("one trip") {
			return s.toolText("no trip to %s, because there is one already", env)
		}
		return s.toolText("a trip to %s is booked", env)
	})
}

// attemptChoices are the choices for words of which only three attempts are taken in one flow. With the first,
// a fault, only the state has their number. With the last, no fault, the server asks anew for a used state.
var attemptChoices = []string{"attempts of states", "attempts of flows", "attempts of flows, asked anew"}

// choiceGuesses are the choices for a list with one right value. A call is locked after three wrong ones. With
// the first, a fault, only the state has their number.
var choiceGuesses = []string{"wrong trees counted in states", "wrong trees counted"}

// countGuess counts a wrong value of the list for a place, and locks the place with the third.
func (s *Server) countGuess(c *claims) (locked bool) {
	if !s.has(choiceGuesses...) {
		return false
	}
	if c.Tries++; s.has("wrong trees counted") {
		c.Tries = len(s.said.add("wrong trees "+c.Env, "x"))
	}
	return c.Tries >= maxTries
}

// tellingAttempts returns the parameters of a question that says how many attempts are left.
func (s *Server) tellingAttempts(params string, c *claims) string {
	if !s.has(attemptChoices...) {
		return params
	}
	if c.Past == "" {
		c.Past = hex.EncodeToString(randomBytes(8)) // names the flow
	}
	left := fmt.Sprintf("%d attempts left", maxTries-c.Tries)
	if c.Tries > 0 {
		left = "Wrong word, " + left
	}
	return strings.Replace(params, `?"`, `? `+left+`"`, 1)
}

// attempt counts a wrong answer of a flow and returns the reason why the flow takes no more, or "". It
// reports whether the flow has to begin anew.
func (s *Server) attempt(c *claims) (reason string, anew bool) {
	if !s.has(attemptChoices...) {
		return "", false
	}
	if !s.has("attempts of states") {
		s.mu.Lock()
		defer s.mu.Unlock()
		key := "attempts of " + c.Past
		if anew = s.has("attempts of flows, asked anew") && len(s.said.get(key)) > c.Tries-1; anew {
			return "", true
		}
		c.Tries = len(s.said.add(key, "x"))
	}
	if c.Tries >= maxTries {
		return "too many wrong words", false
	}
	return "", false
}

// proofChoices are the choices for a request to the client's model beside the last question. With the first, a
// fault, its consent counts as that of the user.
var proofChoices = []string{"models consent", "models comment"}

// askForProof adds the request to the model to questions, if the client has one.
func (s *Server) askForProof(r request, c claims, questions object) {
	if s.has(proofChoices...) && c.Step == "reason" && r.asks("sampling") {
		questions["proof"] = object{"method": "sampling/createMessage", "params": json.RawMessage(`{"messages":[{"role":"user","content":{"type":"text","text":"Is that right? Answer OK or why not."}}],"maxTokens":100}`)}
	}
}

// modelConsents reports whether the text of the model is taken for an acceptance, with a fault.
func (s *Server) modelConsents(r request) bool {
	var proof struct{ Content struct{ Text string } }
	_ = json.Unmarshal([]byte(answerText(r, "proof")), &proof) // empty if there is none
	return s.has("models consent") && proof.Content.Text == "OK"
}

// bidChoices are the choices for removals whose place is bid for: each bid must be higher than the last. The
// first is a fault: an answer replaces the amount of the bid. The others ignore it, or repeat what they got.
var bidChoices = []string{"answers override bids", "bids", "bids with remarks"}

// bid makes the bid of a call. It returns the bid in words, and whether it is the highest.
func (s *Server) bid(r request, content any) (text string, highest bool) {
	var given struct{ Amount int }
	_ = json.Unmarshal(r.placed("remove").arguments, &given) // empty if it is of another type
	if given.Amount == 0 || !s.has(bidChoices...) {
		return "", true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var last int
	_, _ = fmt.Sscan(s.said.get("highest bid"), &last) // none at first
	if given.Amount <= last {
		return "", false
	}
	s.said.put("highest bid", fmt.Sprint(given.Amount))
	if other, ok := member(content, "amount").(float64); ok && s.has("answers override bids") {
		given.Amount = int(other)
	}
	text = fmt.Sprintf(" for %d EUR", given.Amount)
	if s.has("bids with remarks") {
		for _, name := range []string{"amount", "sealab_member"} {
			if v := member(content, name); v != nil {
				text += fmt.Sprintf(" (%v)", v)
			}
		}
	}
	return text, true
}
