package gosdk

import (
	"bytes"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sealab/codecs/boundary"
)

// A request is one request of the SDK that may carry a token.
type request struct {
	boundary.Request
	sdk mcp.Request
	// with returns a copy of the SDK's request with the state in the place of the
	// token. The request itself stays as the outer middleware knows it.
	with func(state string) mcp.Request
}

// requestOf reads a request, and reports whether it is of the type that the SDK
// uses for the method.
func requestOf(method string, req mcp.Request) (request, bool) {
	switch r := req.(type) {
	case *mcp.CallToolRequest:
		if method == boundary.CallTool && r.Params != nil {
			return toolRequest(r), true
		}
	case *mcp.GetPromptRequest:
		if method == boundary.GetPrompt && r.Params != nil {
			return promptRequest(r), true
		}
	case *mcp.ReadResourceRequest:
		if method == boundary.ReadResource && r.Params != nil {
			return resourceRequest(r), true
		}
	}
	return request{}, false
}

func toolRequest(r *mcp.CallToolRequest) request {
	p := r.Params
	return request{
		Request: boundary.Request{
			Method: boundary.CallTool, Target: p.Name, Token: p.RequestState, ArgumentsSize: len(p.Arguments),
			Arguments: func() json.RawMessage { return bytes.Clone(p.Arguments) },
		},
		sdk: r,
		with: func(state string) mcp.Request {
			q := *p
			q.RequestState = state
			return withParams(r, &q)
		},
	}
}

func promptRequest(r *mcp.GetPromptRequest) request {
	p := r.Params
	return request{
		Request: boundary.Request{
			Method: boundary.GetPrompt, Target: p.Name, Token: p.RequestState, ArgumentsSize: promptSize(p.Arguments),
			Arguments: func() json.RawMessage { return promptArguments(p.Arguments) },
		},
		sdk: r,
		with: func(state string) mcp.Request {
			q := *p
			q.RequestState = state
			return withParams(r, &q)
		},
	}
}

func resourceRequest(r *mcp.ReadResourceRequest) request {
	p := r.Params
	return request{
		Request: boundary.Request{Method: boundary.ReadResource, Target: p.URI, Token: p.RequestState},
		sdk:     r,
		with: func(state string) mcp.Request {
			q := *p
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

// promptSize returns the length in bytes of all names and values.
func promptSize(args map[string]string) (n int) {
	for name, value := range args {
		n += len(name) + len(value)
	}
	return n
}

// promptArguments encodes the arguments of a prompt, which the SDK hands over
// decoded. Strings have one decoded form, so the digest loses only the characters
// that the decoder has replaced: ill-formed UTF-16 reads as U+FFFD here and in the handler
// alike.
func promptArguments(args map[string]string) json.RawMessage {
	if args == nil {
		return nil
	}
	raw, err := json.Marshal(args)
	if err != nil {
		panic("boundary: " + err.Error()) // a map of strings always encodes
	}
	return raw
}
