package mcp

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
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

// partLength is the length of the parts of a state, in bytes.
const partLength = 320

// inParts returns a state of sealed parts behind its ID. Each part is bound to its place and to the ID,
// which a fault omits.
func (s *Server) inParts(raw []byte, id string) string {
	parts, all := []string{id}, slices.Collect(slices.Chunk(raw, partLength))
	for i, part := range all {
		nonce := randomBytes(12)
		sealed := s.aead().Seal(nonce, nonce, part, s.placeOfPart(id, i+1, len(all)))
		parts = append(parts, base64.RawURLEncoding.EncodeToString(sealed))
	}
	return strings.Join(parts, ".")
}

// placeOfPart returns the data that a part of a state is bound to.
func (s *Server) placeOfPart(id string, i, n int) []byte {
	if s.has("parts of any state") {
		id = ""
	}
	return fmt.Appendf(nil, "%s %d of %d", id, i, n)
}

// fromParts returns the claims in a state of [Server.inParts].
func (s *Server) fromParts(token string) (c claims, err error) {
	parts := strings.Split(token, ".")
	var all []byte
	for i, part := range parts[1:] {
		sealed, err := decodeStrict(part)
		if err != nil || len(sealed) < 12 {
			return c, errState
		}
		raw, err := s.aead().Open(nil, sealed[:12], sealed[12:], s.placeOfPart(parts[0], i+1, len(parts)-1))
		if err != nil {
			return c, errState
		}
		all = append(all, raw...)
	}
	if json.Unmarshal(all, &c) != nil || c.ID != parts[0] {
		return claims{}, errState
	}
	return c, nil
}
