package boundary

import (
	"bytes"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The methods whose requests and results carry a requestState.
const (
	callTool     = "tools/call"
	getPrompt    = "prompts/get"
	readResource = "resources/read"
)

func carries(method string) bool {
	return method == callTool || method == getPrompt || method == readResource
}

// A round is one request that may carry a token.
type round struct {
	method    string
	target    string          // name of the tool or prompt, or URI of the resource
	arguments json.RawMessage // nil where the request has none
	tooLong   bool            // the arguments are longer than the limit, and left out
	token     string          // "" where the request has none
	request   mcp.Request
	// with returns the request with the state in the place of the token. The
	// request itself stays as the outer middleware knows it.
	with func(state string) mcp.Request
}

// roundOf reads a request, and reports whether it is of the type that the SDK
// uses for the method. Arguments of more than limit bytes are left out.
func roundOf(method string, req mcp.Request, limit int) (round, bool) {
	switch r := req.(type) {
	case *mcp.CallToolRequest:
		return toolRound(r, limit), method == callTool && r.Params != nil
	case *mcp.GetPromptRequest:
		return promptRound(r, limit), method == getPrompt && r.Params != nil
	case *mcp.ReadResourceRequest:
		return resourceRound(r), method == readResource && r.Params != nil
	}
	return round{}, false
}

// toolRound keeps a copy of the arguments: a handler may decode them in place,
// and its token is bound to what the client sent.
func toolRound(r *mcp.CallToolRequest, limit int) round {
	p := orEmpty(r.Params)
	var arguments json.RawMessage
	tooLong := len(p.Arguments) > limit
	if !tooLong {
		arguments = bytes.Clone(p.Arguments)
	}
	return round{
		method: callTool, target: p.Name, arguments: arguments, tooLong: tooLong, token: p.RequestState, request: r,
		with: func(state string) mcp.Request {
			q := p
			q.RequestState = state
			return withParams(r, &q)
		},
	}
}

func promptRound(r *mcp.GetPromptRequest, limit int) round {
	p := orEmpty(r.Params)
	var arguments json.RawMessage
	tooLong := promptSize(p.Arguments) > limit
	if !tooLong {
		arguments = promptArguments(p.Arguments)
	}
	return round{
		method: getPrompt, target: p.Name, arguments: arguments, tooLong: tooLong, token: p.RequestState, request: r,
		with: func(state string) mcp.Request {
			q := p
			q.RequestState = state
			return withParams(r, &q)
		},
	}
}

func resourceRound(r *mcp.ReadResourceRequest) round {
	p := orEmpty(r.Params)
	return round{
		method: readResource, target: p.URI, token: p.RequestState, request: r,
		with: func(state string) mcp.Request {
			q := p
			q.RequestState = state
			return withParams(r, &q)
		},
	}
}

// withParams returns a copy of the request that has other parameters.
func withParams[P mcp.Params](r *mcp.ServerRequest[P], params P) mcp.Request {
	inner := *r
	inner.Params = params
	return &inner
}

// orEmpty returns a copy of the parameters, empty where there are none.
func orEmpty[P any](p *P) P {
	if p == nil {
		return *new(P)
	}
	return *p
}

// promptSize returns the length in bytes of all names and values.
func promptSize(args map[string]string) (n int) {
	for name, value := range args {
		n += len(name) + len(value)
	}
	return n
}

// promptArguments encodes the arguments of a prompt, which the SDK hands over
// decoded. Strings have one decoded form, so nothing is lost to the digest but
// what the decoder already replaced: ill-formed UTF-16 reads as U+FFFD here and
// in the handler alike.
func promptArguments(args map[string]string) json.RawMessage {
	if args == nil {
		return nil
	}
	raw, err := json.Marshal(args)
	if err != nil {
		panic("sealab: boundary: " + err.Error()) // a map of strings always encodes
	}
	return raw
}
