package mcp

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// stepsOf returns the steps of a call. Some servers ask for a code or a word that the client does not
// know, instead.
func (s *Server) stepsOf(steps []string) []string {
	switch {
	case s.has("codes after a confirmation"): // not a fault
		return []string{"confirm", "code"}
	case s.has("codes hashed in states", "codes hashed under a key", "codes kept in states"):
		return []string{"code"}
	case s.has("words after a confirmation"): // not a fault
		return []string{"confirm", "word"}
	case s.has("tones of one list"): // not a fault
		return []string{"tone"}
	case s.has(choiceGuesses...):
		return []string{"tree", "confirm"}
	case s.has("words wanted", "words of any type", "words as queries", "other types are declines"):
		return []string{"word"}
	case s.has(approvalChoices...):
		return []string{"first", "second"}
	case s.has(pageVisitChoices...), s.has(reasonFirstChoices...):
		return []string{"reason", "confirm"}
	}
	return steps
}

// withCode returns claims with a new code or its hash, if they ask for one. To hash it under the key is
// not a fault, and nor is a random tone if the server takes others.
func (s *Server) withCode(c claims) claims {
	code := fmt.Sprintf("%04d", binary.BigEndian.Uint32(randomBytes(4))%10000)
	switch {
	case c.Step == "tone" && s.has("tones of one list"):
		c.Past = []string{"plain", "warm"}[randomBytes(1)[0]%2]
	case c.Step == "code" && s.has("codes kept in states"):
		c.Code = code
	case c.Step == "code":
		c.Past = s.codeHash(code)
	}
	return c
}

func (s *Server) codeHash(code string) string {
	if s.has("codes hashed under a key") {
		code += string(s.Secret)
	}
	sum := sha256.Sum256([]byte(code))
	return hex.EncodeToString(sum[:])
}

// allows reports whether the content of an answer lets a call go on.
func (s *Server) allows(c claims, content any) bool {
	switch unsaid := c.Step == "confirm" && member(content, "ok") == nil; {
	case unsaid && (s.has("consents by default", "notices by default") || s.has(browserChoices...)):
		return true
	case unsaid && s.has(pageVisitChoices...):
		return s.goesOnUnvisited(c)
	}
	switch c.Step {
	case "code":
		code := textIn(content, "code")
		return s.codeHash(code) == c.Past || c.Code != "" && code == c.Code
	case "first", "second":
		return s.approves(c, textIn(content, "pin"))
	case "word":
		word := member(content, "word")
		return word == s.keyID() || word == true && s.has("words of any type") || member(word, "$ne") != nil && s.has("words as queries")
	}
	return formAllows(c.Step, content)
}

// isOtherType reports whether the content of an answer has a word that is no text, or an empty one.
func isOtherType(content any) bool { return textIn(content, "word") == "" }
