package mcp

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// formsByStep are the parameters of questions by step.
var formsByStep = map[string]string{
	"confirm": `{"mode":"form","message":"Go on?","requestedSchema":{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}}`,
	"reason": `{"mode":"form","message":"Why?","requestedSchema":{"type":"object","properties":{` +
		`"reason":{"type":"string","oneOf":[{"const":"plan","title":"Planned"},{"const":"need","title":"Needed"}]}},"required":["reason"]}}`,
	"draft":  `{"messages":[{"role":"user","content":{"type":"text","text":"Draft it?"}}],"maxTokens":100}`,
	"code":   `{"mode":"form","message":"Which code were you sent?","requestedSchema":{"type":"object","properties":{"code":{"type":"string","pattern":"^[0-9]{4}$"}},"required":["code"]}}`,
	"first":  `{"mode":"form","message":"The PIN of a member?","requestedSchema":{"type":"object","properties":{"pin":{"type":"string","pattern":"^[0-9]{4}$"}},"required":["pin"]}}`,
	"second": `{"mode":"form","message":"The PIN of another member?","requestedSchema":{"type":"object","properties":{"pin":{"type":"string","pattern":"^[0-9]{4}$"}},"required":["pin"]}}`,
	"word":   `{"mode":"form","message":"Which word?","requestedSchema":{"type":"object","properties":{"word":{"type":"string","maxLength":40}},"required":["word"]}}`,
	"tree":   `{"mode":"form","message":"Which tree stands there?","requestedSchema":{"type":"object","properties":{"tree":{"type":"string","enum":["ash","elm","fir","oak"]}},"required":["tree"]}}`,
	"tone":   `{"mode":"form","message":"Which tone?","requestedSchema":{"type":"object","properties":{"tone":{"type":"string","enum":["plain","warm"]}},"required":["tone"]}}`,
}

// formAllows reports whether a form allows the content of an answer.
func formAllows(step string, content any) bool {
	switch step {
	case "confirm":
		return member(content, "ok") == true
	case "reason":
		return slices.Contains([]string{"plan", "need"}, textIn(content, step))
	case "tree":
		return textIn(content, step) == "elm"
	default:
		return slices.Contains([]string{"plain", "warm"}, textIn(content, "tone"))
	}
}

// member returns a member of the content of an answer, or nil, and textIn returns a text, or "".
func member(content any, name string) any {
	m, _ := content.(map[string]any)
	return m[name]
}

func textIn(content any, name string) string {
	text, _ := member(content, name).(string)
	return text
}

// saysNo reports whether the content of an answer refuses the confirmation.
func saysNo(content any) bool { return member(content, "ok") == false }

// noteInvalid counts an invalid answer for a place, unless it refuses the confirmation.
func (s *Server) noteInvalid(place string, content any) {
	if !saysNo(content) {
		s.said.add("invalid "+place, "x")
	}
}

// titleByDefault returns the title of a boolean that is true by default, or "". With a fault, a consent
// that is absent counts as given.
func (s *Server) titleByDefault() string {
	switch {
	case s.has("consents by default", "consents filled in"): // the second is sound
		return "I agree"
	case s.has("notices by default"): // not a fault
		return "Notify me"
	}
	return ""
}

// lockOf returns the reason why a place is locked, or "". With a fault, one invalid answer locks it
// for ever. To lock it after three is not a fault.
func (s *Server) lockOf(place string) string {
	switch n := len(s.said.get("invalid " + place)); {
	case n > 0 && s.has("locks of invalid answers kept"):
		return "another call is at work"
	case n > 2 && s.has("locks after three invalid answers"):
		return "three wrong answers: locked for a day"
	}
	return ""
}

// lockedPlace returns the place that invalid answers lock. With faults it is another one for each client
// name or forwarded address.
func (s *Server) lockedPlace(r request, env string) string {
	switch {
	case s.has("locks of forwarded addresses"):
		return env + " " + r.address
	case s.has("locks of client names"):
		return env + " " + string(r.params["_meta"])
	}
	return env
}

// maxTries is the number of invalid answers after which a server that counts them locks a call.
const maxTries = 3

// usedUp locks a call and returns the result that says so.
func (s *Server) usedUp(env string) object {
	s.said.put("used up "+env, "locked")
	return s.toolError("three invalid answers: locked")
}

// drafted reports whether an answer is a draft. With a fault, any answer is.
func (s *Server) drafted(a map[string]any) bool {
	_, text := member(a["content"], "text").(string)
	return a["role"] == "assistant" && text || a != nil && s.has("drafts of any form")
}

// otherQuestion returns the method and the parameters of a question, with a choice those of another one.
func (s *Server) otherQuestion(r request, c claims, state, params string) (string, string) {
	method := "elicitation/create"
	switch {
	case c.Step == "draft":
		method = "sampling/createMessage"
	case s.has("forms without a message"):
		params = strings.Replace(params, `"message"`, `"text"`, 1)
	case s.has("nested forms"):
		params = strings.Replace(params, `"properties":{`, `"properties":{"more":{"type":"object","properties":{}},`, 1)
	case s.has("a form for a password"), c.Step == "reason" && s.has("a password for warm tones") && strings.Contains(answerText(r, "tone"), "warm"):
		params = `{"mode":"form","message":"Your password?","requestedSchema":{"type":"object","properties":{"ok":{"type":"boolean"},"word":{"type":"string"}},"required":["ok"]}}`
	case s.has("a form about a secret"): // no fault
		params = `{"mode":"form","message":"Is the secret rotated?","requestedSchema":{"type":"object","properties":{"ok":{"type":"boolean"},"secret":{"type":"string","enum":["old","new"]}},"required":["ok"]}}`
	case s.has("keys in questions"):
		params = strings.Replace(params, `?"`, fmt.Sprintf(` with SIGNING_KEY=%x?"`, s.Secret), 1)
	case s.has("an unknown kind of question"):
		method = "elicitation/guess"
	case c.Step == "confirm" && r.params["requestState"] != nil && s.confirmsAtURL(r):
		params = `{"mode":"url","message":"Confirm in the browser","elicitationId":"1","url":"https://login.test.invalid/confirm"}`
	case c.Step == "confirm" && s.has(pageVisitChoices...) && r.capability("elicitation")["url"] != nil:
		params = visitQuestion
	case s.has("URLs of forwarded hosts"):
		params = fmt.Sprintf(`{"mode":"url","message":"Log in","elicitationId":"1","url":"https://%s/login"}`, cmp.Or(r.forwarded, "login.test.invalid"))
	case s.has("states in URLs"):
		params = fmt.Sprintf(`{"mode":"url","message":"Log in","elicitationId":"1","url":"https://login.test.invalid/?next=%s"}`, state)
	case s.has("credentials in URLs"):
		params = fmt.Sprintf(`{"mode":"url","message":"Log in","elicitationId":"1","url":"https://login.test.invalid/start?by=%s"}`, url.QueryEscape("Bearer "+r.user))
	case s.has("credentials in questions"):
		params = strings.Replace(params, `?"`, ` as Bearer `+r.user+`?"`, 1)
	case s.has("a URL with credentials"):
		params = `{"mode":"url","message":"Log in","elicitationId":"1","url":"http://alice:secret@login.test.invalid/?email=alice@test.invalid"}`
	}
	return method, params
}

// ask returns a question with a fresh token, or an error if the client cannot answer it.
func (s *Server) ask(r request, p boundRequest, c claims) (object, *failure) {
	if r.modern && !r.asks(s.kindOf(c.Step)) && !s.has("capabilities ignored") && !(r.params["requestState"] != nil && s.has("capabilities read once")) {
		return nil, &failure{code: -32021, status: 400, message: "elicitation is required", data: object{"requiredCapabilities": object{"elicitation": object{"form": object{}}}}}
	}
	if s.has("small letters") { // with them, arguments without case are sound
		c.Env = strings.ToLower(c.Env)
	}
	params := strings.Replace(formsByStep[c.Step], "?\"", "?"+s.noise()+"\"", 1)
	if s.has("arguments without case", "arguments without spaces", "the first of two arguments bound", "tabs unescaped") || p.target == "trip" {
		params = naming(params, c.Env)
	}
	if strings.Contains(c.Env, "{{13*20011}}") && s.has("terms in braces worked out") {
		params = strings.Replace(params, `?"`, ` with `+strings.ReplaceAll(c.Env, "{{13*20011}}", "260143")+`?"`, 1)
	}
	params = s.withNote(params, p, c)
	if s.has(linkFaults...) && c.Step == "confirm" {
		params = strings.Replace(params, `"ok":`, `"note":{"type":"string","format":"uri"},"ok":`, 1)
	}
	if title := s.waiverTitle(); title != "" && c.Step == "reason" {
		params = strings.Replace(params, `"properties":{`, `"properties":{"remember":{"type":"boolean","title":"`+title+`"},`, 1)
	}
	if s.has("notes in states") && c.Step == "confirm" { // not a fault
		params = strings.Replace(params, `"ok":`, `"note":{"type":"string","maxLength":3000},"ok":`, 1)
	}
	params = s.askForWay(s.askFurther(s.offeredReasons(s.withTotal(params, p, c), p.user), c), c)
	params = s.ofBasket(s.offeredMembers(params, p.user, c), p, &c)
	params = s.tellingAttempts(s.worded(params, p, c), &c)
	if s.has(editChoices...) && c.Step == "confirm" {
		c.Past = s.said.get("text of " + c.Env)
		params = naming(params, c.Past)
	}
	if c.Step == "second" && s.has("PINs asked again") {
		params = strings.Replace(params, "of another member?", "again?", 1)
	}
	if s.has("tones of one list") {
		params = strings.Replace(params, `,"enum":["plain","warm"]`, "", 1)
	}
	if title := s.titleByDefault(); title != "" {
		params = strings.Replace(params, `"ok":{"type":"boolean"`, `"ok":{"type":"boolean","default":true,"title":"`+title+`"`, 1)
	}
	params = s.afterBefore(params, c)
	state := s.mint(s.withCode(c), p)
	if p.unanswered && s.has("one nonce for a step") && r.params["requestState"] != nil {
		_ = json.Unmarshal(r.params["requestState"], &state) // a text, which was opened
	}
	s.keepWaiting(state)
	method, params := s.otherQuestion(r, c, state, params)
	result := object{
		"resultType": "input_required", "requestState": state,
		"inputRequests": object{c.Step + s.suffix(): object{"method": method, "params": json.RawMessage(params)}},
		"_meta":         s.complete(object{})["_meta"],
	}
	if s.has(potChoices...) {
		s.askForPots(result["inputRequests"].(object))
	}
	s.askForProof(r, c, result["inputRequests"].(object))
	s.askForSignOffs(result["inputRequests"].(object))
	if r.user == officeUser && s.has(chargeChoices...) {
		result["inputRequests"].(object)["free"] = object{"method": "elicitation/create", "params": json.RawMessage(formOfOffice)}
	}
	if s.has("states in _meta") {
		result["_meta"] = object{metaState: result["requestState"]}
		delete(result, "requestState")
	}
	return result, nil
}

// afterBefore returns the parameters of a question that, with a fault, names the call before.
func (s *Server) afterBefore(params string, c claims) string {
	if !s.has("questions name the call before") && (c.Step != "reason" || !s.has("later questions name the call before")) {
		return params
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.said.get("before")
	s.said.put("before", c.Env)
	return naming(params, c.Env+" after "+before)
}

// chargeChoices are the choices for calls that cost money, except for the office, which is asked. The
// first is a fault.
var chargeChoices = []string{"charges waived for anybody", "charges waived for the office"}

const officeUser = "bob"

// formOfOffice is the question that only the office is asked.
const formOfOffice = `{"mode":"form","message":"Free of charge?","requestedSchema":{"type":"object","properties":{"free":{"type":"string","enum":["no","yes"]}},"required":["free"]}}`

// charge returns the cost of a call, or "". With a fault it reads an answer that the user was not asked
// for.
func (s *Server) charge(r request, responses map[string]map[string]any) string {
	switch {
	case !s.has(chargeChoices...):
		return ""
	case member(responses["free"]["content"], "free") == "yes" && (r.user == officeUser || s.has("charges waived for anybody")):
		return " for 0 EUR"
	}
	return " for 180 EUR"
}

// worded adds the argument and the user to a question. With a fault it adds those of an earlier
// question.
func (s *Server) worded(params string, p boundRequest, c claims) string {
	if s.has(wishChoices...) {
		return strings.Replace(params, `,"required":["tone"]`, "", 1)
	}
	if s.has("sums") {
		return strings.Replace(params, `?"`, ` for `+s.sum(p.arguments)+` EUR?"`, 1)
	}
	switch {
	case c.Step == "reason" && s.has("later questions as formats"):
		return naming(params, strings.ReplaceAll(c.Env, "{ok.__class__}", "<class 'bool'>"))
	case c.Step == "reason" && s.has("later questions name the place"): // sound
		return naming(params, c.Env)
	}
	if s.has("questions name the tool") {
		return naming(params, p.target)
	}
	if s.has("questions name all arguments") {
		return naming(params, string(p.arguments))
	}
	if !s.has("questions name the call", "questions remembered by tool", "questions remembered for every user") {
		return params
	}
	key, text := p.target, c.Env+" for "+cmp.Or(s.ownerOf(c, p), p.user)
	if s.has("questions remembered for every user") {
		key += " " + c.Env
	}
	if !s.has("questions name the call") {
		text = s.said.first(key, text)
	}
	return naming(params, text)
}

// naming returns the parameters of a question with a text in its first message.
func naming(params, text string) string {
	raw, _ := json.Marshal(text) // a string always encodes
	return strings.Replace(params, `?"`, ` with `+string(raw[1:len(raw)-1])+`?"`, 1)
}

// sum returns the price of the pieces in arguments. With faults it computes in few bits.
func (s *Server) sum(arguments json.RawMessage) string {
	var given struct{ Pieces int }
	_ = json.Unmarshal(arguments, &given) // empty if it is of another type
	cents := 4999 * given.Pieces
	switch {
	case s.has("sums of 32 bits"):
		cents = int(int32(cents))
	case s.has("sums of 16 bits"):
		cents = int(uint16(cents))
	}
	return fmt.Sprintf("%d.%02d", cents/100, max(cents, -cents)%100)
}

// suffix returns the end of the keys of questions.
func (s *Server) suffix() string {
	if s.has("keys of questions by chance") {
		return "-" + hex.EncodeToString(randomBytes(4))
	}
	return ""
}

// noise returns a random end for texts, or "".
func (s *Server) noise() string {
	if s.has("random texts") {
		return " " + randomWord()
	}
	if s.has("alarms by lot") { // not a fault
		return []string{"", " no password needed", " Traceback (most recent call last):"}[randomBytes(1)[0]%3]
	}
	if s.has("words by lot") {
		return []string{"", " now", " again"}[randomBytes(1)[0]%3]
	}
	return ""
}

// randomWord returns a random text of varying length.
func randomWord() string {
	b := randomBytes(9)
	return strings.Map(func(r rune) rune { return 'g' + r%16 }, hex.EncodeToString(b)[:4+b[0]%14])
}

// kindOf returns the capability that the question of a step needs. With a fault it is always
// elicitation.
func (s *Server) kindOf(step string) string {
	if step == "draft" && !s.has("forms for drafts") {
		return "sampling"
	}
	return "elicitation"
}

// asks reports whether the client has a capability that a question needs.
func (r request) asks(capability string) bool {
	e := r.capability(capability)
	return e != nil && (capability != "elicitation" || e["form"] != nil || len(e) == 0)
}

// capability returns what the client declares of a capability, or nil.
func (r request) capability(name string) map[string]any {
	var meta struct {
		Capabilities map[string]map[string]any `json:"io.modelcontextprotocol/clientCapabilities"`
	}
	_ = json.Unmarshal(r.params["_meta"], &meta)
	return meta.Capabilities[name]
}

// browserChoices are the choices for confirmations in the browser, in later rounds. The first, a fault, sends
// URLs to clients that take only forms.
var browserChoices = []string{"later confirmations at a URL", "later confirmations at a declared URL"}

// confirmsAtURL reports whether a later round asks for a confirmation in the browser.
func (s *Server) confirmsAtURL(r request) bool {
	return s.has(browserChoices[0]) || s.has(browserChoices[1]) && r.capability("elicitation")["url"] != nil
}
