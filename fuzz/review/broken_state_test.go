package review_test

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sealab/fuzz/review"
)

// stateControls are servers that handle states wrongly in one case.
var stateControls = []control{
	{name: "the states of one tool unverified", build: func() *fixture {
		return &fixture{seal: partly{soundSigned(), func(b bound) bool { return b.target == "remove" }}}
	}, checks: []string{"RS-TAMPER"}, also: []string{"RS-FORGE", "RS-TOOL", "RS-ARGS"}},
	{name: "states without answers unverified", build: unverifiedWithoutAnswers, checks: []string{"RS-FORGE"}, effects: true},
	{name: "an expiry beside the tag", build: func() *fixture { return &fixture{seal: expiring{soundSigned(), false}} },
		checks: []string{"RS-FORGE"}, also: []string{"RS-TAMPER", "RS-SPLICE", "RS-CUT", "RS-SPELL"}},
	{name: "keys that every object has", build: func() *fixture { return &fixture{seal: keyed{soundSigned()}} }, checks: []string{"RS-FORGE"}},
	{name: "keys in files", build: func() *fixture { return &fixture{seal: filed{soundSigned()}} }, checks: []string{"RS-FORGE"}, critical: true},
	{name: "handles as patterns", build: looked(func(handle, text string) bool {
		return handle == text || len(text) > 8 && strings.HasSuffix(text, "%") && strings.HasPrefix(handle, text[:len(text)-1])
	}), checks: []string{"RS-FORGE"}, critical: true},
	{name: "handles in a query", build: looked(func(handle, text string) bool { return handle == strings.TrimSuffix(text, `' or '1'='2`) }),
		checks: []string{"RS-FORGE"}, critical: true},
	{name: "handles as paths", build: looked(func(handle, text string) bool { return handle == path.Clean(text) }), checks: []string{"RS-FORGE"}},
	{name: "handles beside the members of every object", build: looked(func(handle, text string) bool { return handle == text || text == "constructor" }),
		checks: []string{"RS-FORGE"}, critical: true},
	{name: "hexadecimal in either case", build: func() *fixture { return &fixture{seal: prefixed{soundSigned(), true}} }, checks: []string{"RS-SPELL"}},
	{name: "a hash that can be continued", build: func() *fixture { return &fixture{seal: hashed{[]byte("a key of 19 bytes !")}} }, checks: []string{"RS-FORGE"}},
	{name: "a credential in a nested code", build: func() *fixture {
		return &fixture{users: true, seal: noted{soundSigned(), func(b bound) any {
			return base64.StdEncoding.EncodeToString([]byte(hex.EncodeToString([]byte("Bearer " + b.user))))
		}}}
	}, checks: []string{"RS-CLEAR"}},
	{name: "arguments of another user in a state", build: func() *fixture {
		var mu sync.Mutex
		last := map[string]string{}
		return &fixture{users: true, seal: noted{soundSigned(), func(b bound) any {
			mu.Lock()
			defer mu.Unlock()
			last[b.user] = b.arguments
			var all []string
			for user, arguments := range last {
				if user != b.user {
					all = append(all, arguments)
				}
			}
			return all
		}}}
	}, checks: []string{"RS-CLEAR"}, change: func(o *review.Options) { o.Effects = true }},
}

// expiring is a seal that writes the expiry time in front of its tokens, bound to them or not.
type expiring struct {
	*signed
	bound bool
}

func (s expiring) mint(state string, b bound, at time.Time) string {
	until := strconv.FormatInt(at.Add(time.Minute).Unix(), 10)
	if s.bound {
		b.user += until
	}
	return until + "." + s.signed.mint(state, b, at)
}

func (s expiring) open(token string, b bound, now time.Time) (string, error) {
	until, rest, _ := strings.Cut(token, ".")
	n, err := strconv.ParseInt(until, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != until || now.Unix() >= n {
		return "", errState
	}
	if s.bound {
		b.user += until
	}
	return s.signed.open(rest, b, now)
}

// partly is a seal that does not verify the tag of some tokens.
type partly struct {
	*signed
	skip func(bound) bool
}

func (s partly) open(token string, b bound, now time.Time) (string, error) {
	if !s.skip(b) {
		return s.signed.open(token, b, now)
	}
	return stateIn(token)
}

// stateIn returns the state in a signed token without verifying its tag.
func stateIn(token string) (string, error) {
	text, _, ok := strings.Cut(token, ".")
	raw, err := canonical(text)
	var d body
	if !ok || err != nil || json.Unmarshal(raw, &d) != nil || !json.Valid([]byte(d.State)) {
		return "", errState
	}
	return d.State, nil
}

// unverifiedWithoutAnswers is a server that repeats its question before it verifies the state.
func unverifiedWithoutAnswers() *fixture {
	f := &fixture{seal: soundSigned()}
	f.around = func(s *mcp.Server) {
		s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
			return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
				state, b := f.bound(method, req)
				if p, ok := req.GetParams().(*mcp.CallToolParamsRaw); ok && len(p.InputResponses) == 0 {
					if text, err := stateIn(*state); err == nil {
						*state = f.seal.mint(text, b, f.clock.Now())
					}
				}
				return f.protect(next)(ctx, method, req)
			}
		})
	}
	return f
}

// keyed is a JWT whose keys are looked up by name, as in a JavaScript object.
type keyed struct{ *signed }

func (s keyed) sign(text string, key []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

func (s keyed) mint(state string, b bound, at time.Time) string {
	text, _, _ := strings.Cut(s.signed.mint(state, b, at), ".")
	text = base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","kid":"k1"}`)) + "." + text
	return text + "." + base64.RawURLEncoding.EncodeToString(s.sign(text, s.key))
}

func (s keyed) open(token string, b bound, now time.Time) (string, error) {
	parts := strings.Split(token, ".")
	var head struct{ Alg, Kid string }
	if len(parts) != 3 {
		return "", errState
	}
	raw, err := canonical(parts[0])
	tag, also := canonical(parts[2])
	if err != nil || also != nil || json.Unmarshal(raw, &head) != nil || head.Alg != "HS256" {
		return "", errState
	}
	key := map[string][]byte{"k1": s.key, "__proto__": []byte("[object Object]"), "constructor": []byte("function Object() { [native code] }")}[head.Kid]
	if key == nil || !hmac.Equal(tag, s.sign(parts[0]+"."+parts[1], key)) {
		return "", errState
	}
	return s.signed.open(parts[1]+"."+base64.RawURLEncoding.EncodeToString(s.tag(parts[1])), b, now)
}

// filed is a seal whose tokens name the file that holds their key.
type filed struct{ *signed }

func (s filed) mint(state string, b bound, at time.Time) string {
	return s.signedUnder("k1."+strings.Split(s.signed.mint(state, b, at), ".")[0], s.key)
}

func (s filed) signedUnder(text string, key []byte) string {
	return text + "." + base64.RawURLEncoding.EncodeToString(keyed(s).sign(text, key))
}

func (s filed) open(token string, b bound, now time.Time) (string, error) {
	parts := strings.Split(token, ".")
	key, ok := map[string][]byte{"k1": s.key, "/dev/null": {}}[parts[0]]
	if !ok || len(parts) != 3 || token != s.signedUnder(parts[0]+"."+parts[1], key) {
		return "", errState
	}
	return s.signed.open(parts[1]+"."+base64.RawURLEncoding.EncodeToString(s.tag(parts[1])), b, now)
}

// handles is a seal whose tokens are random handles of stored states. The function finds decides
// which handle a text means.
type handles struct {
	finds func(handle, text string) bool
	mu    sync.Mutex
	names []string // the newest last
	held  map[string]string
	inner *signed
}

func looked(finds func(handle, text string) bool) func() *fixture {
	return func() *fixture {
		return &fixture{seal: &handles{finds: finds, held: map[string]string{}, inner: soundSigned()}}
	}
}

func (s *handles) mint(state string, b bound, at time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := rand.Text()
	s.names, s.held[name] = append(s.names, name), s.inner.mint(state, b, at)
	return name
}

func (s *handles) open(token string, b bound, now time.Time) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range slices.Backward(s.names) {
		if s.finds(name, token) {
			return s.inner.open(s.held[name], b, now)
		}
	}
	return "", errState
}

// prefixed is a hexadecimal seal behind a prefix. It accepts either case or one.
type prefixed struct {
	*signed
	either bool
}

func (s prefixed) mint(state string, b bound, at time.Time) string {
	return "st_" + hex.EncodeToString([]byte(s.signed.mint(state, b, at)))
}

func (s prefixed) open(token string, b bound, now time.Time) (string, error) {
	text, ok := strings.CutPrefix(token, "st_")
	raw, err := hex.DecodeString(text)
	if !ok || err != nil || !s.either && hex.EncodeToString(raw) != text {
		return "", errState
	}
	return s.signed.open(string(raw), b, now)
}

// hashed is a form with the tag SHA-256(key || form). The last of duplicate members counts.
type hashed struct{ key []byte }

func (s hashed) mint(state string, b bound, at time.Time) string {
	form := fmt.Sprintf("exp=%d&for=%s&state=%s", at.Add(time.Minute).Unix(), url.QueryEscape(b.text()), url.QueryEscape(state))
	sum := sha256.Sum256(append(s.key[:len(s.key):len(s.key)], form...))
	return base64.RawURLEncoding.EncodeToString([]byte(form)) + "." + hex.EncodeToString(sum[:])
}

func (s hashed) open(token string, b bound, now time.Time) (string, error) {
	text, tag, _ := strings.Cut(token, ".")
	form, err := canonical(text)
	sum := sha256.Sum256(append(s.key[:len(s.key):len(s.key)], form...))
	if err != nil || tag != hex.EncodeToString(sum[:]) {
		return "", errState
	}
	all := map[string]string{}
	for pair := range strings.SplitSeq(string(form), "&") {
		name, value, _ := strings.Cut(pair, "=")
		all[name], _ = url.QueryUnescape(value)
	}
	exp, _ := strconv.ParseInt(all["exp"], 10, 64)
	if now.Unix() >= exp || all["for"] != b.text() {
		return "", errState
	}
	return all["state"], nil
}

// noted is a seal with one more member in its readable body.
type noted struct {
	*signed
	note func(bound) any
}

func (s noted) mint(state string, b bound, at time.Time) string {
	raw, _ := json.Marshal(map[string]any{"state": state, "for": s.bind(b), "exp": at.Add(s.ttl).Unix(), "note": s.note(b)})
	text := base64.RawURLEncoding.EncodeToString(raw)
	return text + "." + base64.RawURLEncoding.EncodeToString(s.tag(text))
}

// enveloped is a sound seal that writes JSON with a member that it ignores when it reads.
type enveloped struct{ *signed }

func (s enveloped) mint(state string, b bound, at time.Time) string {
	text, tag, _ := strings.Cut(s.signed.mint(state, b, at), ".")
	return fmt.Sprintf(`{"kind":"order-flow","claims":%q,"mac":%q}`, text, tag)
}

func (s enveloped) open(token string, b bound, now time.Time) (string, error) {
	var d struct{ Kind, Claims, MAC string }
	if json.Unmarshal([]byte(token), &d) != nil || fmt.Sprintf(`{"kind":%q,"claims":%q,"mac":%q}`, d.Kind, d.Claims, d.MAC) != token {
		return "", errState
	}
	return s.signed.open(d.Claims+"."+d.MAC, b, now)
}

// lowered is a sound seal whose tokens are encoded once more, in lower-case base32.
type lowered struct{ seal }

var base32Code = base32.StdEncoding.WithPadding(base32.NoPadding)

func (l lowered) mint(state string, b bound, now time.Time) string {
	return strings.ToLower(base32Code.EncodeToString([]byte(l.seal.mint(state, b, now))))
}

func (l lowered) open(token string, b bound, now time.Time) (string, error) {
	raw, err := base32Code.DecodeString(strings.ToUpper(token))
	if err != nil || strings.ToLower(base32Code.EncodeToString(raw)) != token {
		return "", errState
	}
	return l.seal.open(string(raw), b, now)
}
