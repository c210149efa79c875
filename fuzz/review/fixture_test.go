package review_test

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A fixture is a server on the official Go SDK. It has two tools that ask first, a tool that never
// asks, and a prompt that asks. Its seal protects the states. A sound fixture becomes broken if one
// of its parts is replaced.
type fixture struct {
	seal   seal
	before func(http.Handler) http.Handler
	// refuse returns the answer to a bad state; nil: one error for all.
	refuse func(error) error
	// restart begins the flow again on a bad state.
	restart bool
	// ignore hides the state from the handlers.
	ignore bool
	silent bool // no tool asks
	undo   bool // a third tool asks
	users  bool
	noise  func() string // appended to every text

	runs   atomic.Int64      // tools that ran to their end
	around func(*mcp.Server) // adds to the server, or protects it
	clock  *fakeClock
}

// bound is the request that a state is bound to.
type bound struct{ method, target, arguments, user string }

func (b bound) text() string {
	return strings.Join([]string{b.method, b.target, b.arguments, b.user}, "\x00")
}

// A seal turns states into tokens and back.
type seal interface {
	mint(state string, b bound, now time.Time) string
	open(token string, b bound, now time.Time) (string, error)
}

var errState = errors.New("bad state")

// signed is a sound seal: base64url(JSON) "." base64url(HMAC-SHA256).
type signed struct {
	ttl     time.Duration
	bind    func(bound) string                  // part of the body
	read    func(string) ([]byte, error)        // text to bytes
	verify  func(body string, mac []byte) error // nil: constant-time compare
	onError func(stage string) error
	key     []byte
	sum     func(text []byte) []byte // an unkeyed tag; nil: HMAC-SHA256
}

func soundSigned() *signed {
	return &signed{ttl: 10 * time.Minute, bind: bound.text, read: canonical, onError: func(string) error { return errState }, key: []byte("a key that nobody has published, 1")}
}

func canonical(text string) ([]byte, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err == nil && base64.RawURLEncoding.EncodeToString(raw) != text {
		return nil, errState
	}
	return raw, err
}

type body struct {
	State string `json:"state"`
	Bound string `json:"for"`
	Exp   int64  `json:"exp"`
}

func (s *signed) tag(text string) []byte {
	if s.sum != nil {
		return s.sum([]byte(text))
	}
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

func (s *signed) mint(state string, b bound, now time.Time) string {
	raw, _ := json.Marshal(body{state, s.bind(b), now.Add(s.ttl).Unix()})
	text := base64.RawURLEncoding.EncodeToString(raw)
	return text + "." + base64.RawURLEncoding.EncodeToString(s.tag(text))
}

func (s *signed) open(token string, b bound, now time.Time) (string, error) {
	text, tag, ok := strings.Cut(token, ".")
	if !ok {
		return "", s.onError("malformed")
	}
	mac, err := s.read(tag)
	if err != nil {
		return "", s.onError("malformed")
	}
	if s.verify != nil {
		err = s.verify(text, mac)
	} else if !hmac.Equal(mac, s.tag(text)) {
		err = errState
	}
	if err != nil {
		return "", s.onError("mac")
	}
	raw, err := s.read(text)
	var d body
	if err != nil || json.Unmarshal(raw, &d) != nil {
		return "", s.onError("body")
	}
	switch {
	case s.ttl > 0 && now.Unix() >= d.Exp:
		return "", s.onError("expired")
	case d.Bound != s.bind(b):
		return "", s.onError("bound")
	}
	return d.State, nil
}

// encrypted is a sound seal: base64url(nonce || AES-GCM).
type encrypted struct {
	inner signed
	nonce func() []byte
	bare  bool // without a tag, in counter mode
	crc   bool // with a checksum after the text
}

func (s *encrypted) aead() cipher.AEAD {
	block, _ := aes.NewCipher([]byte("0123456789abcdeF"))
	a, _ := cipher.NewGCM(block)
	return a
}

func (s *encrypted) mint(state string, b bound, now time.Time) string {
	raw, _ := json.Marshal(body{state, s.inner.bind(b), now.Add(s.inner.ttl).Unix()})
	if s.crc {
		raw = binary.BigEndian.AppendUint32(raw, crc32.ChecksumIEEE(raw))
	}
	n := s.nonce()
	out := s.aead().Seal(append([]byte(nil), n...), n, raw, nil)
	if s.bare {
		out = out[:len(out)-16]
	}
	return base64.RawURLEncoding.EncodeToString(out)
}

func (s *encrypted) open(token string, b bound, now time.Time) (string, error) {
	raw, err := canonical(token)
	if err != nil || len(raw) < 12 {
		return "", errState
	}
	var plain []byte
	if s.bare {
		out := s.aead().Seal(nil, raw[:12], raw[12:], nil)
		plain = out[:len(out)-16]
	} else if plain, err = s.aead().Open(nil, raw[:12], raw[12:], nil); err != nil {
		return "", errState
	}
	if s.crc {
		end := max(0, len(plain)-4)
		if sum := binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(plain[:end])); string(sum) != string(plain[end:]) {
			return "", errState
		}
		plain = plain[:end]
	}
	var d body
	if json.Unmarshal(plain, &d) != nil || now.Unix() >= d.Exp || d.Bound != s.inner.bind(b) {
		return "", errState
	}
	return d.State, nil
}

// counted returns a function that returns nonces from a counter.
func counted() func() []byte {
	var n atomic.Uint64
	return func() []byte {
		b := make([]byte, 12)
		binary.BigEndian.PutUint64(b, n.Add(1)*0x9e3779b97f4a7c15)
		return b
	}
}

func soundEncrypted() *encrypted { return &encrypted{inner: *soundSigned(), nonce: counted()} }

// plain is an unprotected state.
type plain struct{}

func (plain) mint(state string, _ bound, _ time.Time) string { return state }
func (plain) open(token string, _ bound, _ time.Time) (string, error) {
	if !json.Valid([]byte(token)) {
		return "", fmt.Errorf("invalid state: %w", json.Unmarshal([]byte(token), new(any)))
	}
	return token, nil
}

// once accepts each token of a seal once.
type once struct {
	seal
	mu   sync.Mutex
	used map[string]bool
}

func (s *once) open(token string, b bound, now time.Time) (string, error) {
	state, err := s.seal.open(token, b, now)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || s.used[token] {
		return "", errState
	}
	s.used[token] = true
	return state, nil
}

// fakeClock advances without waiting.
type fakeClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *fakeClock) Now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.now }
func (c *fakeClock) Sleep(_ context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	return nil
}

// protect returns middleware that opens the states of requests and seals those of results.
func (f *fixture) protect(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		state, b := f.bound(method, req)
		if state != nil && *state != "" {
			opened, err := f.seal.open(*state, b, f.clock.Now())
			switch {
			case err == nil:
				*state = opened
			case f.restart:
				*state = ""
			case f.refuse != nil:
				return nil, f.refuse(err)
			default:
				return nil, &jsonrpc.Error{Code: -32602, Message: "Invalid or expired requestState"}
			}
		}
		res, err := next(ctx, method, req)
		switch r := res.(type) {
		case *mcp.CallToolResult:
			if r != nil && r.RequestState != "" {
				r.RequestState = f.seal.mint(r.RequestState, b, f.clock.Now())
			}
		case *mcp.GetPromptResult:
			if r != nil && r.RequestState != "" {
				r.RequestState = f.seal.mint(r.RequestState, b, f.clock.Now())
			}
		}
		return res, err
	}
}

func (f *fixture) bound(method string, req mcp.Request) (*string, bound) {
	user := ""
	if x := req.GetExtra(); x != nil && x.TokenInfo != nil {
		user = x.TokenInfo.UserID
	}
	switch p := req.GetParams().(type) {
	case *mcp.CallToolParamsRaw:
		return &p.RequestState, bound{method, p.Name, string(p.Arguments), user}
	case *mcp.GetPromptParams:
		args, _ := json.Marshal(p.Arguments)
		return &p.RequestState, bound{method, p.Name, string(args), user}
	}
	return nil, bound{}
}

type envInput struct {
	Env string `json:"env"`
}

type step struct{ Step, Env string }

func form(message, field, typ string) *mcp.ElicitParams {
	return &mcp.ElicitParams{Mode: "form", Message: message, RequestedSchema: map[string]any{
		"type": "object", "properties": map[string]any{field: map[string]any{"type": typ}}, "required": []string{field}}}
}

func (f *fixture) say(format string, args ...any) *mcp.CallToolResult {
	text := fmt.Sprintf(format, args...)
	if f.noise != nil {
		text += " " + f.noise()
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

func answer(responses mcp.InputResponseMap, key, field string) any {
	if r, ok := responses[key].(*mcp.ElicitResult); ok && r.Action == "accept" {
		return r.Content[field]
	}
	return nil
}

// ask returns a question with a state.
func (f *fixture) ask(key, message, field, typ string, s step) *mcp.CallToolResult {
	if f.noise != nil {
		message += " " + f.noise()
	}
	raw, _ := json.Marshal(s)
	return &mcp.CallToolResult{RequestState: string(raw), InputRequests: mcp.InputRequestMap{key: form(message, field, typ)}}
}

// handler returns a tool with one or two rounds.
func (f *fixture) handler(name string, two bool) mcp.ToolHandlerFor[envInput, any] {
	return func(_ context.Context, req *mcp.CallToolRequest, in envInput) (*mcp.CallToolResult, any, error) {
		var s step
		if req.Params.RequestState != "" {
			if err := json.Unmarshal([]byte(req.Params.RequestState), &s); err != nil {
				return nil, nil, err
			}
		}
		r := req.Params.InputResponses
		if f.ignore {
			s = step{"confirm", in.Env}
		}
		switch {
		case s.Step == "reason" && two && answer(r, "reason", "reason") != nil:
			f.runs.Add(1)
			return f.say("%s %s because %v", name, s.Env, answer(r, "reason", "reason")), nil, nil
		case s.Step == "reason" && two:
			return f.ask("reason", "Why?", "reason", "string", s), nil, nil
		case s.Step != "confirm" || answer(r, "confirm", "ok") != true:
			return f.ask("confirm", name+" "+in.Env+"?", "ok", "boolean", step{"confirm", in.Env}), nil, nil
		case two:
			return f.ask("reason", "Why?", "reason", "string", step{"reason", s.Env}), nil, nil
		}
		f.runs.Add(1)
		return f.say("%s %s", name, s.Env), nil, nil
	}
}

// server builds the server.
func (f *fixture) server() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "fixture", Version: "1"}, &mcp.ServerOptions{Logger: slog.New(slog.DiscardHandler)})
	if !f.silent {
		mcp.AddTool(s, &mcp.Tool{Name: "deploy", Description: "Deploys after a confirmation and a reason"}, f.handler("deploy", true))
		mcp.AddTool(s, &mcp.Tool{Name: "remove", Description: "Removes after a confirmation"}, f.handler("remove", false))
		s.AddPrompt(&mcp.Prompt{Name: "report"}, f.report)
		if f.undo {
			mcp.AddTool(s, &mcp.Tool{Name: "undo", Description: "Undoes after a confirmation"}, f.handler("undo", false))
		}
	}
	mcp.AddTool(s, &mcp.Tool{Name: "echo"}, func(_ context.Context, _ *mcp.CallToolRequest, in struct {
		Text string `json:"text"`
	}) (*mcp.CallToolResult, any, error) {
		f.runs.Add(1)
		return f.say("%s", in.Text), nil, nil
	})
	if f.around != nil {
		f.around(s)
		return s
	}
	s.AddReceivingMiddleware(f.protect)
	return s
}

func (f *fixture) report(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	if req.Params.RequestState == "" && !f.ignore || answer(req.Params.InputResponses, "tone", "tone") == nil {
		return &mcp.GetPromptResult{RequestState: `{"Step":"tone"}`, InputRequests: mcp.InputRequestMap{"tone": form("Tone?", "tone", "string")}}, nil
	}
	return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "report"}}}}, nil
}

// start serves the fixture over HTTP until the test ends.
func (f *fixture) start(t *testing.T) string {
	t.Helper()
	if f.clock == nil {
		f.clock = &fakeClock{now: time.Unix(1_795_164_472, 0)}
	}
	server := f.server()
	var h http.Handler = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true, Logger: slog.New(slog.DiscardHandler)})
	if f.users {
		h = auth.RequireBearerToken(func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
			if token != "alice" && token != "bob" {
				return nil, auth.ErrInvalidToken
			}
			return &auth.TokenInfo{UserID: token, Expiration: time.Now().Add(time.Hour)}, nil
		}, nil)(h)
	}
	if f.before != nil {
		h = f.before(h)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL + "/mcp"
}
