package mcp

import (
	"encoding/hex"
	"strconv"
	"strings"
)

// asText returns a state as a text with a tag and a check, which is a tag of one byte. With a fault it has
// the check alone.
func (s *Server) asText(c claims) string {
	text := strings.Join([]string{c.Step, hex.EncodeToString([]byte(c.Env)), c.Bind, strconv.FormatInt(c.Exp, 10), c.ID}, "-")
	if !s.has("checks for tags") {
		text += "-" + hex.EncodeToString(s.tag(text))
	}
	return text + "-" + hex.EncodeToString(s.tag(text))[:2]
}

// fromText returns the claims in a state of [Server.asText].
func (s *Server) fromText(token string) (c claims, err error) {
	parts := strings.Split(token, "-")
	if len(parts) < 6 {
		return c, errState
	}
	env, err := hex.DecodeString(parts[1])
	if err != nil {
		return c, errState
	}
	exp, _ := strconv.ParseInt(parts[3], 10, 64) // 0 has expired
	c = claims{Step: parts[0], Env: string(env), Bind: parts[2], Exp: exp, ID: parts[4]}
	if s.asText(c) != token {
		return claims{}, errState
	}
	return c, nil
}
