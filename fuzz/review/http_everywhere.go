package review

// harmlessCalls ask for lists, and for names that no server has.
var harmlessCalls = []Call{
	{Method: "server/discover"}, {Method: "prompts/list"}, {Method: "resources/list"}, {Method: "resources/templates/list"}, unknownCall,
	{Method: "prompts/get", Target: noSuchPrompt}, {Method: "resources/read", Target: missingURI},
}

// everywhere are cases of one alteration before each method that the server has: a check may
// stand in the branch of one. An answer like that to the honest request is a fault.
func (t *T) everywhere(name string, severity Severity, alter func(w *wire, method string)) []wireCase {
	if !t.r.modern() {
		return nil
	}
	var all []wireCase
	for _, call := range harmlessCalls {
		own := t.r.client.call(t.ctx, call)
		refusedByItself := own.Code == -32020 || own.Code == -32601 || own.Status == 403
		if own.Kind != completed && own.Kind != failed && own.Kind != toolError || refusedByItself {
			continue
		}
		all = append(all, wireCase{name: name + ", " + call.Method, call: call, alter: func(w *wire) { alter(w, call.Method) }, judge: func(a Answer) (Severity, string) {
			if served(a) || a.Kind == own.Kind && a.Kind != completed && a.refusal() == own.refusal() {
				return severity, "answered as an honest request"
			}
			return "", ""
		}})
	}
	return all
}
