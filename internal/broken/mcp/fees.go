package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
)

// feeChoices are the choices for results that tell a fee. Under the first, which is a fault, an answer may
// have a member that replaces the fee; under the last, they tell the answer as well.
var feeChoices = []string{"fees of answers", "fees told", "fees and answers told"}

// fee returns the part of a result about the fee, or "" if the text before it has one.
func (s *Server) fee(env string, content any) string {
	if !s.has(feeChoices...) || strings.Contains(env, " EUR") {
		return ""
	}
	fee, told := 7.0, ""
	if n, is := member(content, "fee").(float64); is && s.has("fees of answers") {
		fee = n
	}
	if s.has("fees and answers told") {
		raw, _ := json.Marshal(content) // it was read from JSON
		told = " as you said " + string(raw)
	}
	return fmt.Sprintf(", that is %.2f EUR%s", fee, told)
}
