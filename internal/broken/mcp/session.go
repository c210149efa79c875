package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A session is a session of an older revision.
type session struct{ user, version string }

// legacy answers a request of an older revision over HTTP.
func (s *Server) legacy(w http.ResponseWriter, r *http.Request, req request) {
	if req.method == "initialize" {
		s.initialize(w, r, req)
		return
	}
	id := s.sessionOf(r)
	held, status := s.session(id, req.user)
	if s.mu.Lock(); req.method == "ping" && s.has("pings of any user") && s.live[id].user != "" {
		status = 0
	}
	s.mu.Unlock()
	switch {
	case status != 0:
		s.reply(w, status, req.id, nil, &failure{code: -32600, status: status, message: "no session"})
		return
	case req.version != "" && !slices.Contains(legacyRevisions, req.version) && !s.has("any revision in a session"):
		s.reply(w, 400, req.id, nil, &failure{code: -32600, status: 400, message: "unsupported revision"})
		return
	}
	req.session, req.version = id, held.version
	if s.has("calls told in every stream") {
		raw, _ := json.Marshal(object{"jsonrpc": "2.0", "method": "notifications/message", "params": object{"level": "info", "data": req.params}})
		s.keepEvent(id, raw)
	}
	ctx, end := s.cancellable(r.Context(), req)
	defer end()
	if result, fail, is := s.task(req); is {
		s.reply(w, 200, req.id, result, fail)
		return
	}
	asked := req.method == "tools/call" && (strings.Contains(string(req.params["name"]), "deploy") || strings.Contains(string(req.params["name"]), "remove"))
	switch {
	case asked && req.params["requestState"] != nil && s.has("older revisions unverified"):
		c, _, _ := s.state(req, boundRequest{}, "") // intentionally unverified
		s.reply(w, 200, req.id, s.toolText("deployed to %s", c.Env), nil)
	case asked && s.isUnasked(req):
		s.reply(w, 200, req.id, s.carriedOut(req), nil)
	case asked:
		s.push(w, r, req)
	case !s.slow(ctx, req):
		s.reply(w, 200, req.id, nil, &failure{code: -32800, status: 200, message: "cancelled"})
	case s.has("answers in streams", "answers of any session replayed", "unknown events are the first", "unknown events open every session", "streams by event alone"):
		result, fail := s.handle(req)
		s.stored(w, id, responseBody(req.id, result, fail))
	default:
		s.answerCall(w, req)
	}
}

// answerCall answers a request in a session. Choices keep the answer for streams.
func (s *Server) answerCall(w http.ResponseWriter, req request) {
	result, fail := s.handle(req)
	message := responseBody(req.id, result, fail)
	if req.method == "tools/call" && s.has("calls in streams", "calls of any session replayed") { // the first is sound
		s.storedCall(w, req.session, message)
		return
	}
	if s.has("answers without numbers replayed") {
		s.keepEvent(req.session, message)
	}
	s.reply(w, 200, req.id, result, fail)
}

// isUnasked reports whether a tool answers without a question in a session. Not to carry it out is
// not a fault.
func (s *Server) isUnasked(req request) bool {
	return s.has("older revisions not asked", "older revisions not carried out") || s.has("older clients without forms not asked") && s.said.get("no forms "+req.session) != ""
}

// carriedOut returns the result of a tool that asks without its question.
func (s *Server) carriedOut(req request) object {
	var p struct {
		Name      string
		Arguments struct{ Env string }
	}
	_ = json.Unmarshal(req.params["name"], &p.Name)
	_ = json.Unmarshal(req.params["arguments"], &p.Arguments)
	if s.has("older revisions not carried out") {
		return s.toolText("%s needs revision %s", p.Name, modernRevision)
	}
	s.Runs.Add(1)
	if p.Name == "remove" {
		s.markRemoved(req, p.Arguments.Env)
		return s.toolText("removed %s", p.Arguments.Env)
	}
	return s.toolText("deployed to %s", p.Arguments.Env)
}

// sessionOf returns the ID of the session of a request.
func (s *Server) sessionOf(r *http.Request) string {
	ids := r.Header.Values("Mcp-Session-Id")
	if own, err := r.Cookie("broken_visit"); err == nil && len(ids) == 0 && s.has("sessions in cookies of their own") {
		return own.Value
	}
	switch c, err := r.Cookie("sessionId"); {
	case len(ids) == 0 && err == nil && s.has("sessions in cookies"):
		return c.Value
	case len(ids) == 0:
		return ""
	case s.has("lists of sessions"):
		return strings.TrimSpace(ids[0][strings.LastIndexByte(ids[0], ',')+1:])
	case s.has("the last of several sessions"):
		return ids[len(ids)-1]
	}
	return ids[0]
}

// session returns a session of a user, or the HTTP status of the refusal.
func (s *Server) session(id, user string) (session, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	held, ok := s.live[id]
	if half := len(id) / 2; !ok && s.has("sessions by their beginning") {
		for known, one := range s.live {
			if held = one; half > 8 && strings.HasPrefix(known, id[:half]) {
				ok = true
				break
			}
		}
	}
	switch {
	case s.has("no sessions") && id == "", s.has("any session") && id != "", s.has("sessions are members of an object") && id == "constructor":
		return session{user: user, version: legacyRevisions[0]}, 0
	case id == "":
		return held, http.StatusBadRequest
	case !ok || held.version == "ended" || held.user != user && !s.has("sessions of any user"):
		return held, http.StatusNotFound
	}
	return held, 0
}

func (s *Server) initialize(w http.ResponseWriter, r *http.Request, req request) {
	if r.Header.Get("Mcp-Session-Id") != "" && !s.has("chosen session ids") {
		if s.has("sessions break") {
			panic(http.ErrAbortHandler)
		}
		s.reply(w, 400, req.id, nil, &failure{code: -32600, status: 400, message: "already initialized"})
		return
	}
	version := legacyRevisions[0]
	var asked string
	if json.Unmarshal(req.params["protocolVersion"], &asked) == nil &&
		(slices.Contains(legacyRevisions, asked) || s.has("any revision negotiated") || strings.HasPrefix(asked, "2025-") && s.has("revisions of one year negotiated")) {
		version = asked
	} else if asked != "2024-11-05" && s.has("a revision of its own") { // not a fault
		version = "2026-01-01"
	}
	if s.has("initialize unanswered") {
		http.Error(w, "no", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.count++
	id := hex.EncodeToString(randomBytes(16))
	if s.has("counted session ids") {
		id = fmt.Sprintf("session-%08d", s.count)
	}
	if s.has("hashed session ids") {
		id = fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s%d", req.user, s.count)))
	}
	if s.has("session ids of few characters") {
		id = "session-00000000-" + id[:6]
	}
	if given := r.Header.Get("Mcp-Session-Id"); given != "" {
		id = given
	}
	if c, err := r.Cookie("sid"); err == nil && s.has("session ids of cookies") {
		id = c.Value
	}
	if given := r.URL.Query().Get("sessionId"); given != "" && s.has("session ids of queries") {
		id = given
	}
	if s.has("ids of ended sessions given again") && s.last != "" {
		id, s.last = s.last, ""
	}
	s.live[id] = session{req.user, version}
	s.openBoard(id)
	if !strings.Contains(string(req.params["capabilities"]), "elicitation") {
		s.said.put("no forms "+id, "none")
	}
	s.mu.Unlock()
	if !s.has("no sessions") {
		w.Header().Set("Mcp-Session-Id", id)
	}
	if s.has("sessions in cookies of their own") {
		http.SetCookie(w, &http.Cookie{Name: "broken_visit", Value: id})
	}
	s.reply(w, 200, req.id, s.instructed(s.initializeResult(version)), nil)
}

// initializeResult returns the result of initialize.
func (s *Server) initializeResult(version string) object {
	return object{"protocolVersion": version, "capabilities": s.capabilities(), "serverInfo": object{"name": "broken", "version": "1"}}
}

// end ends a session.
func (s *Server) end(w http.ResponseWriter, r *http.Request, user string) {
	id := r.Header.Get("Mcp-Session-Id")
	if _, status := s.session(id, user); status != 0 && !s.has("sessions ended by any user") {
		http.Error(w, "no session", status)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.has("streams without end"):
		s.live[id] = session{user, "ended"}
	case !s.has("sessions without end"):
		delete(s.live, id)
		s.last = id
		s.endBoard(id)
	}
	w.WriteHeader(http.StatusNoContent)
}

// notified handles a notification or a response.
func (s *Server) notified(r request) {
	var id string
	_ = json.Unmarshal(r.params["id"], &id)
	var result map[string]any
	_ = json.Unmarshal(r.params["result"], &result)
	s.mu.Lock()
	defer s.mu.Unlock()
	if id = s.waitKey(r, id); s.waits[id] != nil && result != nil {
		c := s.waits[id]
		delete(s.waits, id)
		c <- result
	}
	if r.method == "notifications/cancelled" {
		key := "cancel " + string(r.params["requestId"])
		if c := s.waits[key]; c != nil {
			delete(s.waits, key)
			close(c)
		} else {
			s.late = s.has("late cancellations count for the next request")
		}
	}
}

// swallowed reports whether a late cancellation applies to this request.
func (s *Server) swallowed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	late := s.late
	s.late = false
	return late
}

// slow waits for the time of the tool slow. It reports whether the request goes on.
func (s *Server) slow(ctx context.Context, req request) bool {
	ms := slowDuration(req)
	if ms == 0 {
		return true
	}
	if s.has("cancellation ignored") {
		ctx = context.WithoutCancel(ctx)
	}
	return s.Clock.Sleep(ctx, ms) == nil
}

// cancellable returns a context that notifications/cancelled cancels.
func (s *Server) cancellable(ctx context.Context, req request) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	key := "cancel " + string(req.id)
	c := make(chan map[string]any)
	s.mu.Lock()
	s.waits[key] = c
	s.mu.Unlock()
	go func() {
		select {
		case <-c:
			if !s.has("cancellation ignored") {
				cancel()
			}
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// slowDuration returns the time that a call of the tool slow takes, or 0.
func slowDuration(req request) time.Duration {
	var name string
	var args struct{ Ms json.Number }
	_ = json.Unmarshal(req.params["name"], &name)
	_ = json.Unmarshal(req.params["arguments"], &args)
	n, err := strconv.Atoi(args.Ms.String())
	if req.method != "tools/call" || name != "slow" || err != nil {
		return 0
	}
	return time.Duration(n) * time.Millisecond
}
