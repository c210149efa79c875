// Package mcpgo puts a boundary around a server built on
// github.com/mark3labs/mcp-go v1.2.1, which does not protect requestState
// itself:
//
//	protect, _, err := mcpgo.Protect("deployer", boundary.Policy{Secrets: ring}, userOf)
//	srv := server.NewMCPServer("deployer", "1.0.0", protect)
//
// The boundary is a middleware for the handlers of tools and prompts. It
// verifies the token of a request and gives the handler the state in its place.
// It seals the state of a result. Middleware from later options runs inside and
// sees plaintext state.
//
// # In a handler
//
//	request.Params.RequestState   "" in the first round, then the state of the previous round
//	result.RequestState           the state for the next round
//	result.InputRequests          the questions to the client, beside the state
//
// # Differences from package gosdk
//
//   - mcp-go gives every error of a handler the code -32603 and no data. Only the
//     message, "Invalid or expired requestState", tells the client that a token
//     was refused.
//   - mcp-go does not authenticate. The caller's [PrincipalFunc] names the principal.
//   - Handlers of resources cannot leave a state, but their tokens are verified.
//   - Arguments of prompts reach the boundary decoded.
//   - mcp-go runs a task-augmented call without middleware. Its handler gets the
//     client's requestState unverified and must not read it.
package mcpgo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"sealab/codecs/boundary"
)

// A PrincipalFunc returns the principal of a request from its context, where an
// HTTP server puts it (server.WithHTTPContextFunc). It returns nil for an
// unauthenticated request, which differs from an empty name.
type PrincipalFunc func(context.Context) (*string, error)

// Protect returns an option that puts a boundary around the server called
// service. If principal is nil, requests are unauthenticated. Use the returned
// Boundary to rotate its keys.
func Protect(service string, p boundary.Policy, principal PrincipalFunc) (server.ServerOption, *boundary.Boundary, error) {
	b, err := boundary.New(service, p)
	if err != nil {
		return nil, nil, err
	}
	a := adapter{b, principal}
	return func(s *server.MCPServer) {
		server.WithToolHandlerMiddleware(a.tool)(s)
		server.WithPromptHandlerMiddleware(a.prompt)(s)
		server.WithResourceHandlerMiddleware(a.resource)(s)
	}, b, nil
}

type adapter struct {
	boundary  *boundary.Boundary
	principal PrincipalFunc
}

func (a adapter) tool(next server.ToolHandlerFunc) server.ToolHandlerFunc {
	return func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		raw, err := rawArguments(&req)
		if err != nil {
			return nil, a.fault(ctx, boundary.CallTool, errArguments)
		}
		round := a.begin(ctx, boundary.Request{
			Method: boundary.CallTool, Target: req.Params.Name, Token: req.Params.RequestState, ArgumentsSize: len(raw),
			Arguments: func() json.RawMessage { return bytes.Clone(raw) },
		})
		if req.Params.RequestState, err = round.Open(ctx); err != nil {
			return nil, answer(err)
		}
		res, err := next(ctx, req)
		if err != nil || res == nil || res.RequestState == "" {
			return res, err
		}
		if !res.NeedsInput() && (len(res.Content) > 0 || res.StructuredContent != nil) {
			return nil, a.fault(ctx, boundary.CallTool, boundary.ErrComplete)
		}
		sealed := *res
		sealed.ResultType = mcp.ResultTypeInputRequired
		if sealed.RequestState, err = round.Seal(ctx, res.RequestState); err != nil {
			return nil, answer(err)
		}
		return &sealed, nil
	}
}

func (a adapter) prompt(next server.PromptHandlerFunc) server.PromptHandlerFunc {
	return func(ctx context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		raw, err := json.Marshal(req.Params.Arguments)
		if err != nil {
			return nil, a.fault(ctx, boundary.GetPrompt, errArguments)
		}
		round := a.begin(ctx, boundary.Request{
			Method: boundary.GetPrompt, Target: req.Params.Name, Token: req.Params.RequestState, ArgumentsSize: len(raw),
			Arguments: func() json.RawMessage { return raw },
		})
		if req.Params.RequestState, err = round.Open(ctx); err != nil {
			return nil, answer(err)
		}
		res, err := next(ctx, req)
		if err != nil || res == nil || res.RequestState == "" {
			return res, err
		}
		if !res.NeedsInput() && len(res.Messages) > 0 {
			return nil, a.fault(ctx, boundary.GetPrompt, boundary.ErrComplete)
		}
		sealed := *res
		sealed.ResultType = mcp.ResultTypeInputRequired
		if sealed.RequestState, err = round.Seal(ctx, res.RequestState); err != nil {
			return nil, answer(err)
		}
		return &sealed, nil
	}
}

func (a adapter) resource(next server.ResourceHandlerFunc) server.ResourceHandlerFunc {
	return func(ctx context.Context, req mcp.ReadResourceRequest) (contents []mcp.ResourceContents, err error) {
		round := a.begin(ctx, boundary.Request{Method: boundary.ReadResource, Target: req.Params.URI, Token: req.Params.RequestState})
		if req.Params.RequestState, err = round.Open(ctx); err != nil {
			return nil, answer(err)
		}
		return next(ctx, req)
	}
}

func (a adapter) begin(ctx context.Context, r boundary.Request) *boundary.Round {
	if a.principal != nil {
		r.Principal = func() (*string, error) { return a.principal(ctx) }
	}
	return a.boundary.Begin(r)
}

const errArguments = boundary.Cause("the arguments have no JSON")

func (a adapter) fault(ctx context.Context, method string, cause boundary.Cause) error {
	return answer(a.boundary.Fault(ctx, method, cause))
}

// rawArguments returns the arguments as received, or encodes them if they were
// decoded. Handlers may read either form: the boundary refuses bytes that could
// be read as two values.
func rawArguments(req *mcp.CallToolRequest) (json.RawMessage, error) {
	switch v := req.GetRawArguments().(type) {
	case nil:
		return nil, nil
	case json.RawMessage:
		return v, nil
	default:
		return json.Marshal(v)
	}
}

// answer returns an error with the message for the client. mcp-go sends only
// the text of an error.
func answer(err error) error {
	if a, ok := errors.AsType[*boundary.Answer](err); ok {
		return errors.New(a.Message)
	}
	return err
}
