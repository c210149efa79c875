package gosdk

import (
	"bytes"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sealab/codecs/boundary"
)

// A request is an SDK request that may carry a token.
type request struct {
	boundary.Request
	sdk mcp.Request
	// with returns a copy of the SDK's request that has the state in place of
	// the token. Outer middleware still holds the original request.
	with func(state string) mcp.Request
}

// requestOf converts an SDK request. It reports false if the request does not
// have the SDK's type for the method.
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
	return requestIn(r, &boundary.Request{
		Method: boundary.CallTool, Target: p.Name, ArgumentsSize: len(p.Arguments),
		Arguments: func() json.RawMessage { return bytes.Clone(p.Arguments) },
	}, func(p *mcp.CallToolParamsRaw) *string { return &p.RequestState })
}

func promptRequest(r *mcp.GetPromptRequest) request {
	p := r.Params
	return requestIn(r, &boundary.Request{
		Method: boundary.GetPrompt, Target: p.Name, ArgumentsSize: promptSize(p.Arguments),
		Arguments: func() json.RawMessage { return promptArguments(p.Arguments) },
	}, func(p *mcp.GetPromptParams) *string { return &p.RequestState })
}

func resourceRequest(r *mcp.ReadResourceRequest) request {
	return requestIn(r, &boundary.Request{Method: boundary.ReadResource, Target: r.Params.URI},
		func(p *mcp.ReadResourceParams) *string { return &p.RequestState })
}

// requestIn completes a request. token points to the token in its parameters.
func requestIn[P any, Params interface {
	*P
	mcp.Params
}](r *mcp.ServerRequest[Params], read *boundary.Request, token func(*P) *string) request {
	read.Token = *token(r.Params)
	return request{Request: *read, sdk: r, with: func(state string) mcp.Request {
		params := *r.Params
		*token(&params) = state
		other := *r
		other.Params = &params
		return &other
	}}
}

// promptSize returns the total length of all names and values in bytes.
func promptSize(args map[string]string) (n int) {
	for name, value := range args {
		n += len(name) + len(value)
	}
	return n
}

// promptArguments encodes the arguments of a prompt, which the SDK delivers
// decoded. Strings have one decoded form. Only ill-formed UTF-16 is lost: it is
// U+FFFD to the digest and to the handler alike.
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
