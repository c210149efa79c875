package mcp

import (
	"encoding/binary"
	"fmt"
)

// writtenChoices are the choices for removals that write letters to their user, whose numbers are in their
// results. With the first, a fault, the tool for one letter gives those of any user. With a counted choice, of
// which the first is a fault, the numbers count up. With the last choice, which is sound, each user who knows a
// random number gets the letter.
var writtenChoices = []string{"written letters of any user", "written letters of users", "counted letters of any user", "counted letters of users", "letters for all who know a number"}

// unlistedChoices are those of the written letters that no tool lists. The tool that fetches one has no
// annotations.
var unlistedChoices = writtenChoices[2:]

// A letter is one that a removal wrote.
type letter struct{ to, number, text string }

// writeLetter adds a letter to a user about an environment, and returns the end of a text with its number, or "".
func (s *Server) writeLetter(user, env string) string {
	if !s.has(writtenChoices...) {
		return ""
	}
	number := 90_000_000 + binary.BigEndian.Uint32(randomBytes(4))%10_000_000 // no beginning of a sample
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.has("counted letters of any user", "counted letters of users") {
		number = 10_000_000 + uint32(len(s.letterLog))
	}
	s.letterLog = append(s.letterLog, letter{user, fmt.Sprint(number), "you took " + env + " down"})
	return fmt.Sprintf(", letter %d", number)
}

// lettersTo returns the numbers of the letters that were written to a user. The tool for one letter shows
// its text instead and, with a fault, those to any user.
func (s *Server) lettersTo(tool, user string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, l := range s.letterLog {
		switch {
		case tool != "letter" && l.to == user:
			all = append(all, l.number+" by hand")
		case tool == "letter" && (l.to == user || s.has("written letters of any user", "counted letters of any user", "letters for all who know a number")):
			all = append(all, l.number+" "+l.text)
		}
	}
	return all
}
