// Package mcpgo puts a boundary around a server that is built on
// github.com/mark3labs/mcp-go v1.2.1, which has no protection of requestState of
// its own:
//
//	protect, _, err := mcpgo.Protect("deployer", boundary.Policy{Secrets: ring}, userOf)
//	srv := server.NewMCPServer("deployer", "1.0.0", protect)
//
// It is a middleware for the handlers of tools and prompts. Inbound it verifies
// the token that a request brings and hands the handler the state in its place;
// outbound it seals the state of a result. Middleware of later options runs
// inside and sees plaintext state.
//
// # In a handler
//
//	request.Params.RequestState   "" in the first round, then the state that the round before left
//	result.RequestState           the state for the next round
//	result.InputRequests          the questions to the client, beside the state
//
// # Differences from package gosdk
//
//   - mcp-go gives every error of a handler the code -32603 and no data: a refused
//     token is told by the message alone, "Invalid or expired requestState".
//   - mcp-go does not authenticate: the principal is the caller's [PrincipalFunc].
//   - Handlers of resources cannot leave a state. A token for one is verified.
//   - Arguments of prompts reach the boundary decoded.
//   - mcp-go runs a call that is augmented as a task without middleware: its
//     handler gets the client's requestState unverified, and must not read it.
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

// A PrincipalFunc names the principal of a request from its context, in which an
// HTTP server leaves it (server.WithHTTPContextFunc). nil stands for an
// unauthenticated one, which differs from an empty name.
type PrincipalFunc func(context.Context) (*string, error)

// Protect returns an option that puts a boundary around the server called
// service. If principal is nil, requests are unauthenticated. The boundary is
// returned for the rotation of its keys.
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

// rawArguments returns the arguments as they were received, or the JSON of
// arguments that were not. Handlers read either form: the boundary refuses bytes
// that could give two values.
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

// answer returns a message for the client: mcp-go sends the text of an error.
func answer(err error) error {
	if a, ok := errors.AsType[*boundary.Answer](err); ok {
		return errors.New(a.Message)
	}
	return err
}
