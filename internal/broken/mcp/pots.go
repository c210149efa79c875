package mcp

import (
	"bytes"

	"fmt"
)

// potChoices are the choices for calls that ask for two pots beside each question, in two forms or in
// one. With faults the pots are taken in the order of their answers, or of the members of the form.
var potChoices = []string{"pots by answers", "pots by the order of answers", "pots by members", "pots by the order of members", "pots listed"}

// askForPots adds the questions for the two pots.
func (s *Server) askForPots(questions object) {
	ask := func(key string, names ...string) {
		properties := object{}
		for _, name := range names {
			properties[name] = object{"type": "string", "enum": []string{"gifts", "house"}}
		}
		schema := object{"type": "object", "properties": properties, "required": names}
		questions[key] = object{"method": "elicitation/create", "params": object{"mode": "form", "message": "Which pot is the " + key + "?", "requestedSchema": schema}}
	}
	if s.has("pots by members", "pots by the order of members") {
		ask("pair", "source", "target")
		return
	}
	ask("source", "pot")
	ask("target", "pot")
}

// pots returns the pots of a call in words, and whether both are known.
func (s *Server) pots(r request, responses map[string]map[string]any) (text string, known bool) {
	pot := func(key, name string) any {
		if pot := member(responses[key]["content"], name); responses[key]["action"] == "accept" && (pot == "gifts" || pot == "house") {
			return pot
		}
		return nil
	}
	source, target := pot("source", "pot"), pot("target", "pot")
	if s.has("pots by members", "pots by the order of members") {
		source, target = pot("pair", "source"), pot("pair", "target")
	}
	raw := r.params["inputResponses"]
	if bytes.Index(raw, []byte(`"source"`)) > bytes.Index(raw, []byte(`"target"`)) && s.has("pots by the order of answers", "pots by the order of members", "pots listed") {
		source, target = target, source
	}
	switch {
	case !s.has(potChoices...):
		return "", true
	case s.has("pots listed"): // not a fault
		return fmt.Sprintf(" (%v, %v)", source, target), source != nil && target != nil
	}
	return fmt.Sprintf(" from %v to %v", source, target), source != nil && target != nil
}
