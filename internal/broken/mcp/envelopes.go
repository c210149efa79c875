package mcp

import (
	"fmt"
	"strings"
	"time"
)

// envelopeChoices are the choices for a tool that sends messages, which become resources that are listed only
// then. With the first, a fault, a line break in a title begins another header. The others are sound: the title
// is folded, or the message is a text for people with a title of several lines.
var envelopeChoices = []string{"titles in headers", "titles folded in headers", "titles of several lines"}

// trailChoices are the choices for a tool that gives a place a label, which a resource tells with one line for each
// call. With the first, a fault, a line break in a label begins another line. The others are sound: the label is
// quoted, or the resource has notes whose texts may have several lines.
var trailChoices = []string{"labels in a trail", "labels quoted in a trail", "labels of several lines in notes"}

// Beginnings of URIs of messages and the URIs of trails.
const (
	outboxURI = "notes://outbox/"
	trailURI  = "notes://trail"
	diaryURI  = "notes://diary"
)

// send stores a message with a title.
func (s *Server) send(title string) object {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := "From: notes@example.com\nTo: office@example.com\nSubject: News: %s\nContent-Type: text/plain\n\nSee above.\n"
	switch {
	case s.has("titles folded in headers"):
		title = strings.ReplaceAll(strings.ReplaceAll(title, "\r\n", "\n"), "\n", "\n ")
	case s.has("titles of several lines"):
		text = "From: notes\nTo: office\nTitle: %s\nStatus: sent\n\nSee above.\n"
	}
	s.outbox = append(s.outbox, fmt.Sprintf(text, title))
	return s.toolText("sent")
}

// label notes a label in the trail.
func (s *Server) label(user, text string) object {
	if s.has("labels quoted in a trail") {
		text = fmt.Sprintf("%q", text)
	}
	s.said.add("trail", fmt.Sprintf("%s user=%s action=label label=%s\n", time.Now().UTC().Format(time.RFC3339), user, text))
	return s.toolText("done")
}

// outgoing returns the resources that show what the tools of this file have written.
func (s *Server) outgoing() []object {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []object
	switch {
	case s.has("labels of several lines in notes"):
		all = append(all, object{"name": "diary", "uri": diaryURI, "description": "notes on the labels of the day"})
	case s.has(trailChoices...):
		all = append(all, object{"name": "trail", "uri": trailURI, "description": "one entry per line"})
	}
	for i := range s.outbox {
		all = append(all, object{"name": fmt.Sprint("message ", i), "uri": fmt.Sprint(outboxURI, i)})
	}
	return all
}

// writtenText returns the text of a resource that shows what the tools of this file have written.
func (s *Server) writtenText(uri string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.has(trailChoices...) && (uri == trailURI || uri == diaryURI) {
		return "2026-01-05T08:00:00Z user=admin action=start\n" + s.said.get("trail"), true
	}
	for i, text := range s.outbox {
		if uri == fmt.Sprint(outboxURI, i) {
			return text, true
		}
	}
	return "", false
}
