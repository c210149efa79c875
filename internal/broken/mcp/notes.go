package mcp

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// noteFaults are the choices for a form with a note. The last four are not faults.
var noteFaults = []string{"notes of the first round in a shell", "notes end queries", "notes in queries", "notes read files", "notes backtrack", "apostrophes in notes refused", "apostrophes in notes in pairs", "a note in the answer", "notes of the first round told"}

// linkFaults are the choices for a form with a link that the server opens. The last is not a fault.
var linkFaults = []string{"links of the first round opened", "links of the public net opened"}

// knownFunction matches conditions behind an apostrophe that call functions of SQL.
var knownFunction = regexp.MustCompile(`^[^']*' and (lower|upper|trim|ltrim|rtrim)\('\w*'\)='\w*' and 'a' like 'a$`)

// noted reads the note of an answer and returns a text for the result. With a fault it uses the note
// in a query, as a path, or in a slow pattern.
func (s *Server) noted(r request, content any) (string, *failure) {
	note := textIn(content, "note")
	s.openNote(r, note)
	repeated := note != "" && strings.Count(note, note[:1]) == len(note)-1
	switch {
	case strings.Contains(note, "'") && s.has("notes end queries"):
		return "", &failure{code: -32602, status: 400, message: `sqlite3.OperationalError: unrecognized token: "'"`}
	case strings.Contains(note, "'") && s.failsOn(note):
		return "", &failure{code: -32602, status: 400, message: "the search failed"}
	case strings.HasSuffix(note, "../etc/passwd") && s.has("notes read files"):
		return "root:x:0:0:root:/root:/bin/sh", nil
	case strings.HasPrefix(note, "http") && s.has("links of the first round opened") && string(r.params["name"]) == `"deploy"`: // it has two rounds
		if page, fail := s.fetched(note); fail == nil {
			return fmt.Sprint(page["contents"]), nil
		}
	case repeated && s.has("notes backtrack"):
		_ = s.Clock.Sleep(r.context, time.Millisecond<<min(max(len(note)-13, 0), 12)) // an end is no fault
	}
	return "", nil
}

// failsOn reports whether a search for a note with an apostrophe fails.
func (s *Server) failsOn(note string) bool {
	switch pairs := strings.Count(note, "'")%2 == 0; {
	case s.has("notes in queries"):
		return !knownFunction.MatchString(note) && (!pairs || strings.Contains(note, "("))
	case s.has("apostrophes in notes in pairs"):
		return !pairs
	}
	return s.has("apostrophes in notes refused")
}

// toldNotes are the choices for notes that only deploy asks for, in its first round, and tells in its
// result. The first is a fault: a shell writes them, as a text in quotation marks.
var toldNotes = []string{"notes of the first round in a shell", "notes of the first round told"}

// shellText has what a shell writes for the commands and sums of a text in quotation marks.
var shellText = strings.NewReplacer("$(echo sealab$((13*20011))s)", "sealab260143s", "$((13*20011))", "260143")

// toldNote returns the part of a result about the note of an answer, or "".
func (s *Server) toldNote(content any) string {
	note := textIn(content, "note")
	switch {
	case note == "" || !s.has(toldNotes...):
		return ""
	case s.has(toldNotes[0]):
		note = shellText.Replace(note)
	}
	return ", " + note
}

// openNotes are the choices for notes of the first round that a resource shows. Only the first is a fault: all
// users see the notes of calls that are not completed. With the others the notes stay there, or the caller
// alone sees them, or the form or the resource says that all do.
var openNotes = []string{"notes of open calls shown", "notes of all calls shown", "notes of own open calls shown", "notes of open calls announced", "drafts of notes shown"}

// openNote remembers the note of a call, unless it is empty, and closeNote forgets it.
func (s *Server) openNote(r request, note string) {
	if note != "" && s.has(openNotes...) {
		s.said.put("open note"+s.orUser("notes of own open calls shown", r), note)
	}
}

func (s *Server) closeNote(r request) {
	if !s.has("notes of all calls shown") {
		s.said.put("open note"+s.orUser("notes of own open calls shown", r), "")
	}
}

// shownNote returns the note that a user sees.
func (s *Server) shownNote(r request) string {
	return s.said.get("open note" + s.orUser("notes of own open calls shown", r))
}

// withNote adds the note to a form. It is required if errors tell it.
func (s *Server) withNote(params string, p boundRequest, c claims) string {
	if !s.has(noteFaults...) || c.Step != "confirm" || p.target != "deploy" && s.has(toldNotes...) {
		return params
	}
	if s.has(dumpChoices...) {
		params = strings.Replace(params, `"required":["ok"]`, `"required":["note","ok"]`, 1)
	}
	about := ""
	if s.has("notes of open calls announced") {
		about = `,"description":"Visible to all users until the call ends"`
	}
	return strings.Replace(params, `"ok":`, `"note":{"type":"string","default":"plain.txt"`+about+`},"ok":`, 1)
}
