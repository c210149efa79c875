package review_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
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

// A control is a server with one fault and the checks that find it.
type control struct {
	name    string
	build   func() *fixture
	checks  []string
	also    []string // checks that may find it as well
	change  func(*review.Options)
	effects bool // it shows only with effects
	// critical is set if its checks rate it critical.
	critical bool
}

// signedWith returns a fixture with the sound signed seal after change.
func signedWith(change func(*signed)) func() *fixture {
	return func() *fixture {
		s := soundSigned()
		change(s)
		return &fixture{seal: s, users: true}
	}
}

func unbound(part func(b *bound)) func(*signed) {
	return func(s *signed) { s.bind = func(b bound) string { part(&b); return b.text() } }
}

var controls = []control{
	{name: "no protection", build: func() *fixture { return &fixture{seal: plain{}, refuse: func(err error) error { return err }} },
		checks: []string{"RS-TAMPER", "RS-FORGE", "RS-SPLICE", "RS-ARGS", "RS-TEXT"}, also: []string{"RS-TOOL", "RS-METHOD", "RS-UNIFORM", "RS-CUT"}},
	{name: "tag not compared", build: signedWith(func(s *signed) { s.verify = func(string, []byte) error { return nil } }),
		checks: []string{"RS-TAMPER", "RS-FORGE", "RS-SPLICE"}, also: []string{"RS-CUT", "RS-ARGS", "RS-USER", "RS-TOOL", "RS-METHOD"}},
	{name: "tag compared as far as it goes", build: func() *fixture {
		s := soundSigned()
		s.verify = func(text string, mac []byte) error {
			if !bytes.HasPrefix(s.tag(text), mac) {
				return errState
			}
			return nil
		}
		return &fixture{seal: s}
	}, checks: []string{"RS-CUT"}, also: []string{"RS-FORGE", "RS-TAMPER", "RS-SPLICE"}},
	{name: "first four bytes of the tag compared", build: func() *fixture {
		s := soundSigned()
		s.verify = func(text string, mac []byte) error {
			if len(mac) != 32 || !hmac.Equal(mac[:4], s.tag(text)[:4]) {
				return errState
			}
			return nil
		}
		return &fixture{seal: s}
	}, checks: []string{"RS-TAMPER", "RS-FORGE"}, also: []string{"RS-SPLICE"}},
	{name: "counter mode without a tag", build: func() *fixture { e := soundEncrypted(); e.bare = true; return &fixture{seal: e} },
		checks: []string{"RS-TAMPER"}, also: []string{"RS-CUT", "RS-SPLICE", "RS-FORGE"}, effects: true},
	{name: "counter mode over a checksum", build: func() *fixture { e := soundEncrypted(); e.bare, e.crc = true, true; return &fixture{seal: e} },
		checks: []string{"RS-TAMPER"}},
	{name: "careless base64", build: signedWith(func(s *signed) {
		s.read = func(text string) ([]byte, error) {
			return base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "=\n "))
		}
	}), checks: []string{"RS-SPELL"}, change: func(o *review.Options) { o.OneTime = []string{"deploy"} }, also: []string{"RS-REPLAY"}},
	{name: "arguments not bound", build: signedWith(unbound(func(b *bound) { b.arguments = "" })), checks: []string{"RS-ARGS"}},
	{name: "target not bound", build: signedWith(unbound(func(b *bound) { b.target = "" })), checks: []string{"RS-TOOL"}},
	{name: "method not bound", build: signedWith(unbound(func(b *bound) { b.method, b.target, b.arguments = "", "", "" })), checks: []string{"RS-METHOD"}, also: []string{"RS-TOOL", "RS-ARGS"}},
	{name: "user not bound", build: signedWith(unbound(func(b *bound) { b.user = "" })), checks: []string{"RS-USER"}},
	{name: "no expiry", build: signedWith(func(s *signed) { s.ttl = 0 }), checks: []string{"RS-EXP"}, change: func(o *review.Options) { o.TTL = 10 * time.Second }},
	{name: "refusals differ", build: func() *fixture {
		s := soundSigned()
		s.onError = func(stage string) error { return fmt.Errorf("%s", stage) }
		return &fixture{seal: s, refuse: func(err error) error { return &jsonrpc.Error{Code: -32602, Message: "bad state: " + err.Error()} }}
	}, checks: []string{"RS-UNIFORM"}},
	{name: "refusals tell", build: func() *fixture {
		return &fixture{seal: soundSigned(), refuse: func(error) error {
			return &jsonrpc.Error{Code: -32602, Message: "Traceback (most recent call last)"}
		}}
	}, checks: []string{"RS-TEXT"}},
	{name: "one nonce", build: func() *fixture {
		e := soundEncrypted()
		e.nonce = func() []byte { return make([]byte, 12) }
		return &fixture{seal: e}
	}, checks: []string{"RS-NONCE", "RS-FRESH"}},
	{name: "published key", build: signedWith(func(s *signed) { s.key = []byte("secret") }), checks: []string{"RS-KEY"}},
	{name: "hash for a tag", build: signedWith(func(s *signed) { s.sum = func(text []byte) []byte { h := sha256.Sum256(text); return h[:] } }), checks: []string{"RS-KEY"}},
	{name: "hash beside the tag", build: func() *fixture {
		s := soundSigned()
		s.verify = func(text string, mac []byte) error {
			h := sha256.Sum256([]byte(text))
			if !hmac.Equal(mac, s.tag(text)) && !hmac.Equal(mac, h[:]) {
				return errState
			}
			return nil
		}
		return &fixture{seal: s}
	}, checks: []string{"RS-FORGE"}},
	{name: "empty key beside the key", build: func() *fixture {
		s := soundSigned()
		s.verify = func(text string, mac []byte) error {
			empty := hmac.New(sha256.New, nil)
			empty.Write([]byte(text))
			if !hmac.Equal(mac, s.tag(text)) && !hmac.Equal(mac, empty.Sum(nil)) {
				return errState
			}
			return nil
		}
		return &fixture{seal: s}
	}, checks: []string{"RS-FORGE"}},
	{name: "eight bytes of a tag are enough", build: func() *fixture {
		s := soundSigned()
		s.verify = func(text string, mac []byte) error {
			if !hmac.Equal(mac, s.tag(text)) && !hmac.Equal(mac, s.tag(text)[:8]) {
				return errState
			}
			return nil
		}
		return &fixture{seal: s}
	}, checks: []string{"RS-CUT"}},
	{name: "verdicts remembered by tag", build: func() *fixture {
		s := soundSigned()
		var good sync.Map
		s.verify = func(text string, mac []byte) error {
			if _, known := good.Load(string(mac)); !known && !hmac.Equal(mac, s.tag(text)) {
				return errState
			}
			good.Store(string(mac), true)
			return nil
		}
		return &fixture{seal: s}
	}, checks: []string{"RS-FORGE"}, also: []string{"RS-TAMPER", "RS-SPLICE"}},
	{name: "an old key without a tag", build: func() *fixture {
		old := soundSigned()
		old.verify = func(string, []byte) error { return nil }
		return &fixture{seal: headed{soundSigned(), old}}
	}, checks: []string{"RS-FORGE"}, also: []string{"RS-TAMPER", "RS-SPELL"}},
	{name: "the beginning of the arguments bound", build: signedWith(unbound(func(b *bound) { b.arguments = b.arguments[:min(len(b.arguments), 12)] })), checks: []string{"RS-ARGS"}},
	{name: "one tool without its user", build: signedWith(unbound(func(b *bound) {
		if b.target == "remove" {
			b.user = ""
		}
	})), checks: []string{"RS-USER"}},
	{name: "no expiry for one tool", build: func() *fixture {
		s := soundSigned()
		s.ttl = 5 * time.Second
		return &fixture{seal: lasting{s}}
	}, checks: []string{"RS-EXP"}, change: func(o *review.Options) { o.TTL = 10 * time.Second }},
	{name: "the last tool takes tokens of the second", build: func() *fixture {
		f := signedWith(unbound(func(b *bound) {
			if b.target == "undo" {
				b.target = "remove"
			}
		}))()
		f.undo = true
		return f
	}, checks: []string{"RS-TOOL"}},
	{name: "any text is the state", build: func() *fixture { return stateful(nil, func(state string) string { return "published to " + state }) },
		checks: []string{"RS-TAMPER", "RS-FORGE", "RS-ARGS"}, also: []string{"RS-SPLICE", "RS-CUT", "RS-SPELL", "RS-REPLAY"}, effects: true},
	{name: "what is no JSON is an empty state", build: func() *fixture {
		return stateful(nil, func(state string) string {
			var s step
			_ = json.Unmarshal([]byte(state), &s)
			return "published to " + s.Env
		})
	}, checks: []string{"RS-TAMPER", "RS-FORGE", "RS-ARGS"}, also: []string{"RS-SPLICE", "RS-CUT", "RS-SPELL", "RS-REPLAY"}, effects: true},
	{name: "eight nonces", build: func() *fixture {
		e, n := soundEncrypted(), atomic.Int64{}
		e.nonce = func() []byte { return append(make([]byte, 11), byte(n.Add(1)%8)) }
		return &fixture{seal: e}
	}, checks: []string{"RS-NONCE"}},
	{name: "checksum for a tag", build: signedWith(func(s *signed) {
		s.sum = func(text []byte) []byte { return binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(text)) }
	}), checks: []string{"RS-KEY"}, also: []string{"RS-TAG"}},
	{name: "secret in the state", build: signedWith(func(*signed) {}), checks: []string{"RS-CLEAR"}, change: func(o *review.Options) { o.Secrets = []string{"confirm"} }},
	{name: "accepted twice", build: signedWith(func(*signed) {}), checks: []string{"RS-REPLAY"}, change: func(o *review.Options) { o.OneTime = []string{"deploy"} }, also: []string{"RS-ROLL"}, effects: true},
}

// lasting is a seal whose tokens of one tool last for years.
type lasting struct{ seal }

func (s lasting) mint(state string, b bound, at time.Time) string {
	if b.target == "remove" {
		at = at.AddDate(10, 0, 0)
	}
	return s.seal.mint(state, b, at)
}

// stateful is a server with one tool that asks first. It answers every state with a text instead of
// an error. Its states are protected by seal, unless that is nil.
func stateful(seal seal, text func(state string) string) *fixture {
	f := &fixture{seal: seal, silent: true, clock: &fakeClock{now: time.Unix(1_795_164_472, 0)}}
	f.around = func(s *mcp.Server) {
		mcp.AddTool(s, &mcp.Tool{Name: "publish", Description: "Publishes after a confirmation"}, func(_ context.Context, req *mcp.CallToolRequest, in envInput) (*mcp.CallToolResult, any, error) {
			b := bound{target: "publish", arguments: string(req.Params.Arguments)}
			if answer(req.Params.InputResponses, "confirm", "ok") != true {
				result := f.ask("confirm", "Publish?", "ok", "boolean", step{"confirm", in.Env})
				if seal != nil {
					result.RequestState = seal.mint(result.RequestState, b, f.clock.Now())
				}
				return result, nil, nil
			}
			state := req.Params.RequestState
			if seal != nil {
				var err error
				if state, err = seal.open(state, b, f.clock.Now()); err != nil {
					return f.say("the state %s is not good", req.Params.RequestState), nil, nil
				}
			}
			f.runs.Add(1)
			return f.say("%s", text(state)), nil, nil
		})
	}
	return f
}

// headed writes the key ID in front of a token. Tokens of the old key are not verified.
type headed struct{ now, old seal }

func (s headed) mint(state string, b bound, at time.Time) string {
	return "1." + s.now.mint(state, b, at)
}

func (s headed) open(token string, b bound, at time.Time) (string, error) {
	id, rest, _ := strings.Cut(token, ".")
	switch id {
	case "1":
		return s.now.open(rest, b, at)
	case "2":
		return s.old.open(rest, b, at)
	}
	return "", errState
}

// TestControls reviews each broken server. Its own checks must refute it, and no others may.
func TestControls(t *testing.T) {
	t.Parallel()
	for i, c := range slices.Concat(controls, stateControls, stepControls, usedControls, toldControls) {
		if !inSample(i) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := c.build()
			report := reviewed(t, f, func(o *review.Options) {
				if f.users {
					twoUsers(o)
				}
				o.Effects = c.effects
				if c.change != nil {
					c.change(o)
				}
				if !*all {
					o.Checks = c.checks
				}
			})
			found := refutedBy(report, review.Critical, review.Warning, review.Suggestion)
			for _, id := range c.checks {
				require.Contains(t, found, id, describe(report))
				require.True(t, !c.critical || found[id] == review.Critical, describe(report))
				delete(found, id)
			}
			for _, id := range append(c.also, "RS-CAP", "RS-CLEAR", "RS-FRESH", "RS-TYPE") {
				if found[id] != review.Critical || id != "RS-CLEAR" {
					delete(found, id)
				}
			}
			for id, s := range found {
				if s == review.Suggestion {
					delete(found, id)
				}
			}
			require.Empty(t, found, describe(report))
		})
	}
}
