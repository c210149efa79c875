package mcp

import (
	"strings"
	"time"
)

// noteFaults are the choices for a form with a note. The last is not a fault.
var noteFaults = []string{"notes end queries", "notes read files", "notes backtrack", "a note in the answer"}

// noted reads the note of an answer and returns a text for the result. With a fault it uses the note
// in a query, as a path, or in a slow pattern.
func (s *Server) noted(r request, content any) (string, *failure) {
	m, _ := content.(map[string]any)
	note, _ := m["note"].(string)
	repeated := note != "" && strings.Count(note, note[:1]) == len(note)-1
	switch {
	case strings.Contains(note, "'") && s.has("notes end queries"):
		return "", &failure{code: -32602, status: 400, message: `sqlite3.OperationalError: unrecognized token: "'"`}
	case strings.HasSuffix(note, "../etc/passwd") && s.has("notes read files"):
		return "root:x:0:0:root:/root:/bin/sh", nil
	case repeated && s.has("notes backtrack"):
		_ = s.Clock.Sleep(r.context, time.Millisecond<<min(max(len(note)-13, 0), 12)) // an end is no fault
	}
	return "", nil
}
