package mcp

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// attemptChoices are the choices for words of which only three attempts are taken in one flow. With the first,
// a fault, only the state has their number. With the last, no fault, the server asks anew for a used state.
var attemptChoices = []string{"attempts of states", "attempts of flows", "attempts of flows, asked anew"}

// choiceGuesses are the choices for a list with one right value. A call is locked after three wrong ones. With
// the first, a fault, only the state has their number.
var choiceGuesses = []string{"wrong trees counted in states", "wrong trees counted"}

// countGuess counts a wrong value of the list for a place, and locks the place with the third.
func (s *Server) countGuess(c *claims) (locked bool) {
	if !s.has(choiceGuesses...) {
		return false
	}
	if c.Tries++; s.has("wrong trees counted") {
		c.Tries = len(s.said.add("wrong trees "+c.Env, "x"))
	}
	return c.Tries >= maxTries
}

// tellingAttempts returns the parameters of a question that says how many attempts are left.
func (s *Server) tellingAttempts(params string, c *claims) string {
	if !s.has(attemptChoices...) {
		return params
	}
	if c.Past == "" {
		c.Past = hex.EncodeToString(randomBytes(8)) // names the flow
	}
	left := fmt.Sprintf("%d attempts left", maxTries-c.Tries)
	if c.Tries > 0 {
		left = "Wrong word, " + left
	}
	return strings.Replace(params, `?"`, `? `+left+`"`, 1)
}

// attempt counts a wrong answer of a flow and returns the reason why the flow takes no more, or "". It
// reports whether the flow has to begin anew.
func (s *Server) attempt(c *claims) (reason string, anew bool) {
	if !s.has(attemptChoices...) {
		return "", false
	}
	if !s.has("attempts of states") {
		s.mu.Lock()
		defer s.mu.Unlock()
		key := "attempts of " + c.Past
		if anew = s.has("attempts of flows, asked anew") && len(s.said.get(key)) > c.Tries-1; anew {
			return "", true
		}
		c.Tries = len(s.said.add(key, "x"))
	}
	if c.Tries >= maxTries {
		return "too many wrong words", false
	}
	return "", false
}
