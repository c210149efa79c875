package mcp

// signOffChoices are the choices for calls that ask two offices beside each question. Only the first is a
// fault: an office that does not answer agrees. With the others all have to agree, one has to, or none.
var signOffChoices = []string{"missing sign-offs count", "sign-offs", "sign-offs by one", "sign-offs for information"}

// offices are the keys of the questions to the offices.
var offices = []string{"duty", "legal"}

// askForSignOffs adds the questions to the offices.
func (s *Server) askForSignOffs(questions object) {
	if !s.has(signOffChoices...) {
		return
	}
	schema := object{"type": "object", "properties": object{"yes": object{"type": "boolean"}}, "required": []string{"yes"}}
	for _, office := range offices {
		questions[office] = object{"method": "elicitation/create", "params": object{"mode": "form", "message": "Does the office " + office + " agree?", "requestedSchema": schema}}
	}
}

// signsOff reports whether the offices agree.
func (s *Server) signsOff(responses map[string]map[string]any) bool {
	agreed, missing := 0, 0
	for _, office := range offices {
		a, given := responses[office]
		switch {
		case !given:
			missing++
		case a["action"] == "accept" && member(a["content"], "yes") == true:
			agreed++
		}
	}
	switch {
	case s.has("missing sign-offs count"):
		return agreed+missing == len(offices)
	case s.has("sign-offs"):
		return agreed == len(offices)
	case s.has("sign-offs by one"):
		return agreed > 0
	}
	return true
}
