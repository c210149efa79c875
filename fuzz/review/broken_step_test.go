package review_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"sealab/fuzz/review"
)

// stepControls are servers with broken rounds, answers or used tokens.
var stepControls = []control{
	{name: "the last answer ends the first round", build: stepped("skips"), checks: []string{"RS-SKIP"}, effects: true},
	{name: "an earlier answer ends the last round", build: stepped("stale"), checks: []string{"RS-DECLINE"}, effects: true},
	{name: "any text is true", build: stepped("texts"), checks: []string{"RS-FORM"}, effects: true},
	{name: "one state for the calls of a tool", build: stepped("merges"), checks: []string{"RS-ARGS"}, effects: true},
	{name: "one answer for the calls of a tool", build: stepped("shares"), checks: []string{"RS-ARGS"}, effects: true},
	{name: "the items of a list joined", build: stepped("joins"), checks: []string{"RS-ARGS"}, effects: true},
	{name: "values beside the list of a form", build: stepped("lists"), checks: []string{"RS-FORM"}, effects: true},
	{name: "numbers beyond the bounds of a form", build: stepped("discounts"), checks: []string{"RS-FORM"}, effects: true},
	{name: "numbers beyond the bounds of a form, until nothing is left", build: stepped("exhausts"), checks: []string{"RS-FORM"}, effects: true},
	{name: "bounds of a form held once", build: stepped("tires"), checks: []string{"RS-FORM"}, effects: true},
	{name: "a missing boolean is true", build: stepped("absent"), checks: []string{"RS-FORM"}, effects: true},
	{name: "the first round unbound", build: stepped("late"), checks: []string{"RS-ARGS", "RS-USER"}, effects: true},
	{name: "arguments without case, told in results", build: stepped("case"), checks: []string{"RS-ARGS"}, effects: true},
	{name: "used tokens by their answers", build: stepped("answers"), checks: []string{"RS-REPLAY"}, change: publishOnce, also: []string{"RS-ROLL"}, effects: true},
	{name: "used tokens by the content of their answers", build: stepped("contents"), checks: []string{"RS-REPLAY"}, change: publishOnce, also: []string{"RS-ROLL"}, effects: true, critical: true},
	{name: "used tokens of the last round", build: stepped("last"), checks: []string{"RS-REPLAY"}, change: publishOnce, also: []string{"RS-ROLL"}, effects: true},
	{name: "expired states renewed", build: stepped("renews"), checks: []string{"RS-EXP"}, change: func(o *review.Options) { o.TTL = 10 * time.Minute }, effects: true},
	{name: "expired states exchanged", build: stepped("exchanges"), checks: []string{"RS-EXP"}, change: func(o *review.Options) { o.TTL = 10 * time.Minute }, effects: true},
	{name: "the last answer ends the first round, which the result tells", build: stepped("skips aloud"), checks: []string{"RS-SKIP"}, effects: true},
	{name: "earlier answers replaced", build: stepped("replaces"), checks: []string{"RS-FORM"}, effects: true},
	{name: "earlier numbers replaced", build: stepped("recounts"), checks: []string{"RS-FORM"}, effects: true},
	{name: "single use, tag not compared", build: func() *fixture {
		s := soundSigned()
		s.verify = func(string, []byte) error { return nil }
		return &fixture{seal: remembering(s, 1000, bodyOnly)}
	}, checks: []string{"RS-TAMPER", "RS-FORGE"}, also: []string{"RS-CUT", "RS-SPLICE", "RS-SPELL"}, effects: true},
	{name: "single use by the text, careless base64", build: func() *fixture {
		s := soundSigned()
		s.read = func(text string) ([]byte, error) {
			return base64.RawURLEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
		}
		return &fixture{seal: remembering(s, 1000, strings.Clone)}
	}, checks: []string{"RS-SPELL"}, change: oneUse, effects: true},
	{name: "three used tokens remembered", build: func() *fixture { return &fixture{seal: remembering(soundSigned(), 3, bodyOnly)} },
		checks: []string{"RS-REPLAY"}, change: oneUse, also: []string{"RS-ROLL"}, effects: true},
	{name: "the last of many tools unbound", build: manyTools(unboundTool("publish8")), checks: []string{"RS-ARGS"}},
	{name: "the last of many tools used twice", build: manyTools(soundSigned()), checks: []string{"RS-REPLAY"}, change: func(o *review.Options) { o.OneTime = []string{"publish8"} }, effects: true},
}

func oneUse(o *review.Options) { o.OneTime = []string{"deploy"} }

func publishOnce(o *review.Options) { o.OneTime = []string{"publish"} }

func bodyOnly(token string) string {
	text, _, _ := strings.Cut(token, ".")
	return text
}

// recalling is a one-time seal that remembers the last used tokens by a part of their text.
type recalling struct {
	seal
	key   func(token string) string
	limit int
	mu    sync.Mutex
	used  []string
}

// remembering returns a one-time seal whose tokens all differ.
func remembering(s *signed, limit int, key func(string) string) *recalling {
	return &recalling{seal: numbered(s), key: key, limit: limit}
}

// numbered returns a seal whose tokens all differ.
func numbered(s *signed) seal {
	var n atomic.Int64
	return noted{s, func(bound) any { return n.Add(1) }}
}

func (s *recalling) open(token string, b bound, now time.Time) (string, error) {
	state, err := s.seal.open(token, b, now)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || slices.Contains(s.used, s.key(token)) {
		return "", errState
	}
	s.used = append(s.used, s.key(token))
	s.used = s.used[max(0, len(s.used)-s.limit):]
	return state, nil
}

// manyTools is a server with eight tools that ask and accept tokens twice.
func manyTools(seal *signed) func() *fixture {
	return func() *fixture {
		f := &fixture{seal: seal, silent: true}
		f.around = func(s *mcp.Server) {
			for i := range 8 {
				name := fmt.Sprintf("publish%d", i+1)
				mcp.AddTool(s, &mcp.Tool{Name: name, Description: "Publishes after a confirmation"}, f.handler(name, false))
			}
			s.AddReceivingMiddleware(f.protect)
		}
		return f
	}
}

// unboundTool returns a seal that is sound except that it does not bind the arguments of one tool.
func unboundTool(name string) *signed {
	s := soundSigned()
	unbound(func(b *bound) {
		if b.target == name {
			b.arguments = ""
		}
	})(s)
	return s
}

// progress is the state of a tool with two rounds.
type progress struct {
	Round int
	Env   string
	Given map[string]any
	N     int  // number of all questions so far
	First int  // N of the first question
	Again bool // the last answer was out of bounds
}

type listInput struct {
	Env   string   `json:"env"`
	Items []string `json:"items,omitempty"`
}

// stepped is a server with one tool of two rounds, whose results name the answers. It is sound if
// flaw is "".
func stepped(flaw string) func() *fixture {
	return func() *fixture {
		s := soundSigned()
		s.onError = func(stage string) error { return errors.New(stage) }
		t := &steps{used: map[string]bool{}, fixture: &fixture{silent: true, users: flaw == "late", seal: s, clock: &fakeClock{now: time.Unix(1_795_164_472, 0)}}, seal: s, flaw: flaw}
		t.around = func(server *mcp.Server) {
			mcp.AddTool(server, &mcp.Tool{Name: "publish", Description: "Publishes after a confirmation and a reason"}, t.call)
		}
		return t.fixture
	}
}

type steps struct {
	*fixture
	seal *signed
	flaw string
	mu   sync.Mutex
	kept string // the state of all calls, for one flaw
	way  any    // the latest way of all calls, for one flaw
	used map[string]bool
	n    int
}

// open returns the progress in a token, and whether its question is repeated. A bare token comes
// without answers.
func (t *steps) open(token string, b bound, bare bool) (p progress, again bool, err error) {
	state, err := t.seal.open(token, b, t.clock.Now())
	if err != nil && t.flaw == "late" {
		state, err = t.seal.open(token, bound{target: b.target}, t.clock.Now())
	}
	if err != nil && err.Error() == "expired" && (t.flaw == "renews" || t.flaw == "exchanges" && bare) {
		if state, err = stateIn(token); err == nil {
			again = true
		}
	}
	if err == nil {
		err = json.Unmarshal([]byte(state), &p)
	}
	if t.mu.Lock(); err == nil && t.flaw == "merges" {
		var kept progress
		err = json.Unmarshal([]byte(t.kept), &kept)
		p.Env = kept.Env
	}
	t.mu.Unlock()
	return p, again && p.Round > 0, err
}

func (t *steps) question(p progress, b bound) *mcp.CallToolResult {
	message := "Publish to " + p.Env + "?"
	if t.flaw == "case" {
		message = "Publish?"
	}
	result := t.ask("confirm", message, "ok", "boolean", step{})
	if p.Round == 1 {
		result = t.ask("reason", "Why?", "reason", "string", step{})
	}
	if p.Round == 1 && t.flaw == "lists" {
		result.InputRequests["reason"].(*mcp.ElicitParams).RequestedSchema = json.RawMessage(`{"type":"object","properties":{"reason":{"type":"string","enum":["plan","need"]}},"required":["reason"]}`)
	}
	if p.Round == 1 && t.discounts() {
		result.InputRequests["reason"].(*mcp.ElicitParams).RequestedSchema = json.RawMessage(`{"type":"object","properties":{"reason":{"type":"integer","minimum":0,"maximum":` + fmt.Sprint(t.bound(p)) + `}},"required":["reason"]}`)
	}
	if t.ways() && p.Round == 0 {
		way := `{"type":"string","enum":["mail","web"]}`
		if t.counts() {
			way = `{"type":"integer","minimum":1,"maximum":100}`
		}
		result.InputRequests["confirm"].(*mcp.ElicitParams).RequestedSchema = json.RawMessage(`{"type":"object","properties":{"ok":{"type":"boolean"},"way":` + way + `},"required":["ok","way"]}`)
	}
	if t.flaw == "late" && p.Round == 0 {
		b = bound{target: b.target}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n++
	if p.N = t.n; p.Round == 0 {
		p.First = t.n
	}
	raw, _ := json.Marshal(p)
	t.kept = string(raw)
	result.RequestState = t.seal.mint(t.kept, b, t.clock.Now())
	return result
}

func (t *steps) call(_ context.Context, req *mcp.CallToolRequest, in listInput) (*mcp.CallToolResult, any, error) {
	b := bound{target: "publish", arguments: string(req.Params.Arguments)}
	if x := req.GetExtra(); x != nil && x.TokenInfo != nil {
		b.user = x.TokenInfo.UserID
	}
	if t.flaw == "case" {
		b.arguments = strings.ToLower(b.arguments)
	}
	if t.flaw == "joins" {
		b.arguments = fmt.Sprintf("%q %s", in.Env, strings.Join(in.Items, ","))
	}
	if t.flaw == "exhausts" && t.latestWay() != nil {
		return t.say("nothing is left"), nil, nil
	}
	if req.Params.RequestState == "" {
		return t.question(progress{Env: in.Env}, b), nil, nil
	}
	p, again, err := t.open(req.Params.RequestState, b, len(req.Params.InputResponses) == 0)
	if err != nil {
		return nil, nil, &jsonrpc.Error{Code: -32602, Message: "Invalid or expired requestState"}
	}
	if t.spent(req.Params.RequestState, p, req.Params.InputResponses) {
		return nil, nil, &jsonrpc.Error{Code: -32602, Message: "Invalid or expired requestState"}
	}
	given := map[string]any{}
	maps.Copy(given, p.Given)
	ok, reason := answer(req.Params.InputResponses, "confirm", "ok"), answer(req.Params.InputResponses, "reason", "reason")
	if confirm, is := req.Params.InputResponses["confirm"].(*mcp.ElicitResult); is && confirm.Action == "accept" && ok == nil && t.flaw == "absent" {
		ok = true
	}
	if text, is := ok.(string); is && text != "" && t.flaw == "texts" {
		ok = true
	}
	way := answer(req.Params.InputResponses, "confirm", "way")
	text, isText := reason.(string)
	percent, isNumber := reason.(float64)
	switch {
	case again:
		return t.question(p, b), nil, nil
	case isNumber && p.Round == 1 && t.discounts():
		return t.discount(p, b, percent), nil, nil
	case isText && p.Round == 0 && t.flaw == "skips aloud":
		t.runs.Add(1)
		return t.say("published to %s because of %s alone", p.Env, text), nil, nil
	case isText && (p.Round == 1 || t.flaw == "skips"):
		given["reason"] = text
		if t.flaw == "shares" {
			given["way"] = t.latestWay()
		}
		if t.isWay(way) && (t.flaw == "replaces" || t.flaw == "recounts") {
			given["way"] = way
		}
	case p.Round == 0 && ok == true && (!t.ways() || t.isWay(way)):
		next := map[string]any{"confirm": true}
		if t.ways() {
			next["way"] = way
			t.setWay(way)
		}
		return t.question(progress{Round: 1, Env: p.Env, Given: next, First: p.First}, b), nil, nil
	case p.Round == 1 && ok == true && t.flaw == "stale":
	case p.Round == 0 && ok == false:
		return t.say("nothing was published"), nil, nil
	default:
		return t.question(p, b), nil, nil
	}
	t.runs.Add(1)
	if t.flaw == "kept by flow" {
		return t.say("published to %s as number %d", p.Env, p.First), nil, nil
	}
	raw, _ := json.Marshal(given)
	return t.say("published to %s because of %s", p.Env, raw), nil, nil
}

// discount answers the number of the second form.
func (t *steps) discount(p progress, b bound, percent float64) *mcp.CallToolResult {
	isOut := percent < 0 || percent > t.bound(p) || percent != math.Trunc(percent)
	switch {
	case t.asksAgain() && isOut && !(p.Again && t.flaw == "tires"):
		p.Again = true
		return t.question(p, b)
	case t.flaw == "exhausts" && (percent < 0 || percent != math.Trunc(percent)):
		return t.question(p, b)
	case t.flaw == "exhausts" && isOut:
		t.setWay("all")
	case t.flaw == "clamps":
		percent = math.Floor(max(0, min(percent, 10)))
	}
	t.runs.Add(1)
	if t.asksAgain() || t.flaw == "exhausts" {
		return t.say("published to %s with %v percent off", p.Env, percent)
	}
	return t.say("published to %s as number %d for %.2f EUR", p.Env, p.N, 100-percent)
}

func (t *steps) setWay(way any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.way = way
}

func (t *steps) latestWay() any {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.way
}

// ways reports whether the first form also has a list or a number.
func (t *steps) ways() bool {
	return t.flaw == "replaces" || t.flaw == "shares" || t.flaw == "ways" || t.counts()
}

// counts reports whether the first form also has a number.
func (t *steps) counts() bool { return t.flaw == "recounts" || t.flaw == "counts" }

// isWay reports whether the first form allows a value.
func (t *steps) isWay(way any) bool {
	n, isNumber := way.(float64)
	return !t.counts() && (way == "mail" || way == "web") || t.counts() && isNumber && n >= 1 && n <= 100 && n == math.Trunc(n)
}

// discounts reports whether the second form asks for a number.
func (t *steps) discounts() bool {
	return t.flaw == "discounts" || t.flaw == "clamps" || t.flaw == "exhausts" || t.asksAgain()
}

// asksAgain reports whether the second form is asked again if the number is out of bounds. With a flaw,
// the next number may be any.
func (t *steps) asksAgain() bool {
	return t.flaw == "tires" || t.flaw == "insists" || t.flaw == "widens"
}

// bound returns the largest number that the second form allows.
func (t *steps) bound(p progress) float64 {
	if p.Again && t.flaw == "widens" {
		return 100_000
	}
	return 10
}

// spent records a token that comes with answers and reports whether it was used before. Some flaws
// record it only in the last round, or only together with its answers. To record each token, or the flow
// that it belongs to, is sound.
func (t *steps) spent(token string, p progress, responses mcp.InputResponseMap) bool {
	switch {
	case len(responses) == 0:
		return false
	case t.flaw == "answers":
		raw, _ := json.Marshal(responses)
		token += string(raw)
	case t.flaw == "contents":
		token += fmt.Sprint(answer(responses, "reason", "reason"))
	case t.flaw == "each", t.flaw == "flows" && p.Round == 0:
	case t.flaw == "flows":
		token = fmt.Sprint(p.First)
	case t.flaw != "last" && t.flaw != "kept by flow" || p.Round == 0:
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.used[token]
	t.used[token] = true
	return before
}

// TestFirstRoundUsedAgain reviews servers that accept a token of the first round again after the flow came to
// its end. If the result is the earlier one, the server may have kept it.
func TestFirstRoundUsedAgain(t *testing.T) {
	t.Parallel()
	for flaw, want := range map[string]review.Severity{"last": review.Warning, "kept by flow": review.Suggestion, "each": "", "flows": ""} {
		report := reviewed(t, stepped(flaw)(), func(o *review.Options) {
			publishOnce(o)
			o.Effects, o.Checks = true, []string{"RS-REPLAY"}
		})
		require.Equal(t, want, refutedBy(report, review.Critical, review.Warning, review.Suggestion)["RS-REPLAY"], "%s: %s", flaw, describe(report))
	}
}
