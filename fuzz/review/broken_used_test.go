package review_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sealab/fuzz/review"
)

func told10(o *review.Options) { o.TTL = 10 * time.Minute }

// usedControls are servers that cache too much or trust the request.
var usedControls = []control{
	{name: "expiry of a token looked at once", build: func() *fixture {
		return &fixture{seal: &lenient{seal: numbered(soundSigned()), seen: map[string]time.Time{}}}
	},
		checks: []string{"RS-EXP"}, change: told10, effects: true},
	{name: "the clock of the request", build: func() *fixture {
		s := &dated{seal: soundSigned()}
		return &fixture{seal: s, before: s.before}
	}, checks: []string{"RS-EXP"}, change: told10, effects: true},
	{name: "operators of a database", build: func() *fixture {
		s := &stored{seal: soundEncrypted()}
		return &fixture{seal: s, before: rewritten(func(given map[string]json.RawMessage) string {
			if given["$ne"] == nil {
				return ""
			}
			return s.last.Load().(string)
		})}
	}, checks: []string{"RS-TYPE"}, critical: true},
	{name: "states as objects, told in results", build: func() *fixture {
		s := soundSigned()
		return &fixture{seal: s, before: rewritten(func(given map[string]json.RawMessage) string {
			if given["state"] == nil {
				return ""
			}
			raw, _ := json.Marshal(given)
			text := base64.RawURLEncoding.EncodeToString(raw)
			return text + "." + base64.RawURLEncoding.EncodeToString(s.tag(text))
		})}
	}, checks: []string{"RS-TYPE"}, effects: true, critical: true},
	{name: "an older format without a tag", build: func() *fixture { return &fixture{seal: former{soundSigned()}} }, checks: []string{"RS-FORGE"}},
}

// lenient is a seal that checks the expiry of a token only at its first use.
type lenient struct {
	seal
	mu   sync.Mutex
	seen map[string]time.Time
}

func (s *lenient) open(token string, b bound, now time.Time) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if first, ok := s.seen[token]; ok {
		now = first
	}
	state, err := s.seal.open(token, b, now)
	if err == nil {
		s.seen[token] = now
	}
	return state, err
}

// dated is a seal that takes the time from the Date header, if there is one.
type dated struct {
	seal
	at atomic.Int64
}

func (s *dated) before(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.at.Store(0)
		if at, err := http.ParseTime(r.Header.Get("Date")); err == nil {
			s.at.Store(at.Unix())
		}
		next.ServeHTTP(w, r)
	})
}

func (s *dated) open(token string, b bound, now time.Time) (string, error) {
	if at := s.at.Load(); at > 0 {
		now = time.Unix(at, 0)
	}
	return s.seal.open(token, b, now)
}

// stored is a seal that remembers its last token.
type stored struct {
	seal
	last atomic.Value
}

func (s *stored) mint(state string, b bound, now time.Time) string {
	token := s.seal.mint(state, b, now)
	s.last.Store(token)
	return token
}

// rewritten replaces a requestState that is an object by a text, unless the text is "".
func rewritten(text func(map[string]json.RawMessage) string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			var message, params, given map[string]json.RawMessage
			if json.Unmarshal(body, &message) == nil && json.Unmarshal(message["params"], &params) == nil && json.Unmarshal(params["requestState"], &given) == nil && text(given) != "" {
				params["requestState"], _ = json.Marshal(text(given))
				message["params"], _ = json.Marshal(params)
				body, _ = json.Marshal(message)
			}
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			next.ServeHTTP(w, r)
		})
	}
}

// former is a seal with a version in front of its tokens. The previous version had no tag.
type former struct{ *signed }

func (s former) mint(state string, b bound, at time.Time) string {
	return "s2." + s.signed.mint(state, b, at)
}

func (s former) open(token string, b bound, now time.Time) (string, error) {
	if text, ok := strings.CutPrefix(token, "s1."); ok {
		return s.signed.open(text+"."+base64.RawURLEncoding.EncodeToString(s.tag(text)), b, now)
	}
	text, ok := strings.CutPrefix(token, "s2.")
	if !ok {
		return "", errState
	}
	return s.signed.open(text, b, now)
}
