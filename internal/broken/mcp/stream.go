package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// stored answers with an event and keeps the event for resumed streams.
func (s *Server) stored(w http.ResponseWriter, session string, message []byte) {
	n := s.keepEvent(session, message)
	startEventStream(w)
	fmt.Fprintf(w, "id: %s\ndata: %s\n\n", s.eventID(n), message)
}

// keepEvent keeps an event for resumed streams and returns its number.
func (s *Server) keepEvent(session string, message []byte) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, event{session, message})
	return len(s.events)
}

// storedCall answers a call with two events and keeps them for resumed streams. The first is empty.
func (s *Server) storedCall(w http.ResponseWriter, session string, message []byte) {
	s.mu.Lock()
	n := len(s.calls)
	s.calls = append(s.calls, event{session, message})
	s.mu.Unlock()
	startEventStream(w)
	fmt.Fprintf(w, "id: %d/0\ndata:\n\nid: %d/1\ndata: %s\n\n", n, n, message)
}

// replayCall writes the answer of a call after its empty event. With a fault, any session may have it.
func (s *Server) replayCall(w io.Writer, session, last string) {
	number, _, _ := strings.Cut(last, "/0")
	n, err := strconv.Atoi(number)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && n >= 0 && n < len(s.calls) && last == number+"/0" && (s.calls[n].session == session || s.has("calls of any session replayed")) {
		fmt.Fprintf(w, "id: %d/1\ndata: %s\n\n", n, s.calls[n].message)
	}
}

// eventID returns the ID of an event.
func (s *Server) eventID(n int) string {
	id := strconv.Itoa(n)
	if s.has("random events") {
		sum := sha256.Sum256(append([]byte(id), s.Secret...))
		id += "-" + hex.EncodeToString(sum[:16])
	}
	return id
}

// An event is a message of a session.
type event struct {
	session string
	message []byte
}

// replay writes the events of a session after the event last.
func (s *Server) replay(w io.Writer, session, last string) {
	number, _, _ := strings.Cut(last, "-")
	n, err := strconv.Atoi(number)
	known := err == nil && n >= 0 && (n == 0 || s.eventID(n) == last)
	if last != "" && !known && s.has("unknown events are the first", "unknown events open every session") {
		n, known = 0, true
	}
	every := s.has("answers of any session replayed", "answers without numbers replayed") || err != nil && s.has("unknown events open every session") ||
		session == "" && s.has("streams by event alone")
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := n; known && i < len(s.events); i++ {
		if e := s.events[i]; e.session == session || every {
			fmt.Fprintf(w, "id: %s\ndata: %s\n\n", s.eventID(i+1), e.message)
		}
	}
}

// stream opens the stream of a session, or with a fault of an event.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, user string) {
	held, status := s.session(r.Header.Get("Mcp-Session-Id"), user)
	open := s.has("streams without a session") || s.has("streams by event alone") && r.Header.Get("Last-Event-ID") != "" || held.version == "ended" ||
		held.version == "" && s.has("streams of made-up sessions")
	if status != 0 && !open {
		http.Error(w, "no session", status)
		return
	}
	if !strings.Contains(r.Header.Get("Accept"), "text/event-stream") && !s.has("streams without a session") {
		http.Error(w, "want text/event-stream", http.StatusNotAcceptable)
		return
	}
	flusher := startEventStream(w)
	if last := r.Header.Get("Last-Event-ID"); last != "" && s.has("streams of any session") {
		fmt.Fprintf(w, "id: %s\ndata: %s\n\n", last, questionRequest("replayed", "confirm"))
	}
	s.replayCall(w, r.Header.Get("Mcp-Session-Id"), r.Header.Get("Last-Event-ID"))
	s.replay(w, r.Header.Get("Mcp-Session-Id"), r.Header.Get("Last-Event-ID"))
	fmt.Fprint(w, ": open\n\n")
	flusher.Flush()
	if !s.has("calls told in every stream", "sessions told in every stream") {
		<-r.Context().Done()
		return
	}
	for n := s.toldAfter(w, 0); r.Context().Err() == nil; time.Sleep(5 * time.Millisecond) {
		n = s.toldAfter(w, n)
		flusher.Flush()
	}
}

// toldAfter writes the events of all sessions from index n on. It returns the number of events.
func (s *Server) toldAfter(w io.Writer, n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.events[n:] {
		fmt.Fprintf(w, "data: %s\n\n", e.message)
	}
	return len(s.events)
}

func startEventStream(w http.ResponseWriter) *http.ResponseController {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	return http.NewResponseController(w)
}

func questionRequest(id, step string) []byte {
	raw, err := json.Marshal(object{"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": json.RawMessage(formsByStep[step])})
	if err != nil {
		return nil
	}
	return raw
}

// waitKey returns the key of a question to a user. With a fault, all users share it.
func (s *Server) waitKey(r request, id string) string {
	if s.has("answers of any session taken") {
		return id
	}
	return r.user + " " + id
}

// push asks in the stream of the response and waits for the answer.
func (s *Server) push(w http.ResponseWriter, r *http.Request, req request) {
	flusher := startEventStream(w)
	write := func(event string, message []byte) {
		fmt.Fprintf(w, "id: %s\ndata: %s\n\n", event, message)
		flusher.Flush()
	}
	var id string
	accepted, questions := true, 1
	if s.has("two questions pushed") { // not a fault
		questions = 2
	}
	for i := 0; accepted && i < questions; i++ {
		var answer chan map[string]any
		id, answer = s.await(req)
		write(id, questionRequest(id, "confirm"))
		select {
		case a := <-answer:
			accepted = a["action"] == "accept"
		case <-r.Context().Done():
			return
		}
	}
	if s.has("answers lost") {
		<-r.Context().Done()
		return
	}
	result := object{"content": textContent("not done")}
	if accepted {
		s.Runs.Add(1)
		result = object{"content": textContent("done")}
	}
	write(id+".end", responseBody(req.id, s.complete(result), nil))
}

// await returns the ID of a new question and the channel of its answer.
func (s *Server) await(req request) (id string, answer chan map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	id, answer = fmt.Sprintf("q%d-%s", s.count, hex.EncodeToString(randomBytes(4))), make(chan map[string]any, 1)
	s.waits[s.waitKey(req, id)] = answer
	return id, answer
}

// listen answers a subscription.
func (s *Server) listen(w http.ResponseWriter, r *http.Request, req request) {
	var filter map[string]any
	if json.Unmarshal(req.params["notifications"], &filter) != nil && !s.has("subscriptions without a filter") {
		s.reply(w, 400, req.id, nil, invalidParams("notifications: want a filter"))
		return
	}
	s.filtered(req, filter)
	flusher := startEventStream(w)
	meta := object{"io.modelcontextprotocol/subscriptionId": req.id}
	send := func(method string, params object) {
		params["_meta"] = meta
		raw, _ := json.Marshal(object{"jsonrpc": "2.0", "method": method, "params": params})
		fmt.Fprintf(w, "data: %s\n\n", raw)
		flusher.Flush()
	}
	s.mu.Lock()
	before, told := s.grown, len(s.news) // changes after the acknowledgement are notified
	s.mu.Unlock()
	if asked := filter["resourceSubscriptions"]; !s.has("late on unknown notes") || asked == nil || strings.Contains(fmt.Sprint(asked), "notes://user/") {
		send("notifications/subscriptions/acknowledged", object{"notifications": filter})
	}
	if s.has("every change told") {
		send("notifications/resources/updated", object{"uri": "notes://user/alice"})
	}
	ticks := time.NewTicker(5 * time.Millisecond)
	defer ticks.Stop()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-ticks.C:
		}
		s.mu.Lock()
		now, updated := s.grown, s.news[told:]
		told = len(s.news)
		s.mu.Unlock()
		for _, uri := range updated {
			if s.tells(req.user, filter["resourceSubscriptions"], uri) {
				send("notifications/resources/updated", object{"uri": uri})
			}
		}
		if now != before && !s.has("changes not told") {
			before = now
			send("notifications/tools/list_changed", object{})
		}
	}
}
