package gosdk

import (
	"context"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sealab/codecs/boundary"
)

// Protect adds a boundary to server. The audience is impl.Name unless the
// policy sets one. If the policy is invalid, Protect returns an error and
// leaves server unchanged. Use the returned Boundary to rotate its keys.
//
// Middleware added to the server later runs outside the boundary and sees
// tokens; middleware added earlier runs inside and sees plaintext state.
func Protect(server *mcp.Server, impl *mcp.Implementation, p boundary.Policy) (*boundary.Boundary, error) {
	b, err := boundary.New(impl.Name, p)
	if err != nil {
		return nil, err
	}
	server.AddReceivingMiddleware(Middleware(b, TokenPrincipal))
	return b, nil
}

// Middleware returns a receiving middleware that puts b around a server. The
// function principal replaces TokenPrincipal.
func Middleware(b *boundary.Boundary, principal PrincipalFunc) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if !boundary.Carries(method) {
				return next(ctx, method, req)
			}
			m := message{ctx, b, method}
			r, ok := requestOf(method, req)
			if !ok {
				return nil, m.fault("the request is of an unknown type: %T", req)
			}
			r.Principal = func() (*string, error) { return principal(ctx, req) }
			return m.serve(r, next)
		}
	}
}

// A message is a request that passes through a boundary.
type message struct {
	ctx      context.Context
	boundary *boundary.Boundary
	method   string
}

// serve opens the token of r, calls the handler and seals the state of the
// result.
func (m message) serve(r request, next mcp.MethodHandler) (mcp.Result, error) {
	round := m.boundary.Begin(r.Request)
	req := r.sdk
	if r.Token != "" {
		state, err := round.Open(m.ctx)
		if err != nil {
			return nil, wire(err)
		}
		req = r.with(state)
	}
	res, err := next(m.ctx, m.method, req)
	if err != nil {
		return nil, err
	}
	a, ok := answerOf(res)
	if !ok {
		return nil, m.fault("the result is of an unknown type: %T", res)
	}
	if err := checkCapabilities(req, a.asks); err != nil {
		return nil, err
	}
	switch {
	case a.state == "":
		return res, nil
	case a.complete:
		return nil, wire(m.boundary.Fault(m.ctx, m.method, boundary.ErrComplete))
	}
	token, err := round.Seal(m.ctx, a.state)
	if err != nil {
		return nil, wire(err)
	}
	return a.with(token), nil
}

func (m message) fault(format string, value any) error {
	return wire(m.boundary.Fault(m.ctx, m.method, boundary.Cause(fmt.Sprintf(format, value))))
}

// wire converts an answer to the SDK's error type. It is not wrapped, because
// the SDK drops the data of a wrapped error.
func wire(err error) error {
	a, ok := errors.AsType[*boundary.Answer](err)
	if !ok {
		return err
	}
	return &jsonrpc.Error{Code: int64(a.Code), Message: a.Message, Data: a.Data}
}
