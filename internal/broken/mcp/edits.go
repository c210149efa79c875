package mcp

// editChoices are the choices for texts that the tool remove publishes and the tool edit changes. Only the
// first is a fault: a change after the question is published as well.
var editChoices = []string{"texts as they are", "texts as they were", "changed texts refused"}

// edit changes the text of a place.
func (s *Server) edit(env, text string) object {
	s.said.put("text of "+env, text)
	return s.toolText("done")
}

// published returns the result of a call that publishes the text that its question showed.
func (s *Server) published(c claims) object {
	text := s.said.get("text of " + c.Env)
	switch {
	case text != c.Past && s.has("changed texts refused"):
		return s.toolError("the text has changed")
	case s.has("texts as they were"):
		text = c.Past
	}
	return s.toolText("published for %s: %s", c.Env, text)
}
