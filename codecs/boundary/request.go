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
	token     string          // "" where the request has none
	request   mcp.Request
	// with returns the request with the state in the place of the token. The
	// request itself stays as the outer middleware knows it.
	with func(state string) mcp.Request
}

// roundOf reads a request, and reports whether it is of the type that the SDK
// uses for the method.
func roundOf(method string, req mcp.Request) (round, bool) {
	switch r := req.(type) {
	case *mcp.CallToolRequest:
		return toolRound(r), method == callTool && r.Params != nil
	case *mcp.GetPromptRequest:
		return promptRound(r), method == getPrompt && r.Params != nil
	case *mcp.ReadResourceRequest:
		return resourceRound(r), method == readResource && r.Params != nil
	}
	return round{}, false
}

// toolRound keeps a copy of the arguments: a handler may decode them in place,
// and its token is bound to what the client sent.
func toolRound(r *mcp.CallToolRequest) round {
	p := orEmpty(r.Params)
	return round{
		method: callTool, target: p.Name, arguments: bytes.Clone(p.Arguments), token: p.RequestState, request: r,
		with: func(state string) mcp.Request {
			q := p
			q.RequestState = state
			return withParams(r, &q)
		},
	}
}

func promptRound(r *mcp.GetPromptRequest) round {
	p := orEmpty(r.Params)
	return round{
		method: getPrompt, target: p.Name, arguments: promptArguments(p.Arguments), token: p.RequestState, request: r,
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
