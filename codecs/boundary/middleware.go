package boundary

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sealab/codecs"
)

// Protect adds the boundary to server. The audience is impl.Name unless the
// policy sets one. A wrong policy is an error, and server is then unchanged.
//
// Middleware added to the server later runs outside the boundary and sees
// tokens; middleware added earlier runs inside and sees plaintext state.
func Protect(server *mcp.Server, impl *mcp.Implementation, p Policy) error {
	m, err := New(impl.Name, p)
	if err != nil {
		return err
	}
	server.AddReceivingMiddleware(m)
	return nil
}

// New returns the boundary as a receiving middleware of the server called
// service, which is the audience of its tokens unless the policy sets another.
func New(service string, p Policy) (mcp.Middleware, error) {
	b, err := p.boundary(service)
	if err != nil {
		return nil, err
	}
	return b.wrap, nil
}

// A boundary is a Policy made ready. It does not change after construction.
type boundary struct {
	scheme                 codecs.Scheme
	audience               string
	principal              PrincipalFunc
	maxToken, maxArguments int // bytes
	requirePrincipal       bool
	ttl                    time.Duration
	store                  Store // nil: tokens may be used again
	log                    *slog.Logger
	now                    func() time.Time
	warned                 [2]sync.Once // of tokens for no principal, and for one without a name
}

func (b *boundary) wrap(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if !carries(method) {
			return next(ctx, method, req)
		}
		r, ok := roundOf(method, req, b.maxArguments)
		if !ok {
			return nil, b.fault(ctx, method, cause("the request is of an unknown type: "+fmt.Sprintf("%T", req)))
		}
		return b.serve(ctx, r, next)
	}
}

// serve takes one round across the boundary: in, to the handler, and out.
func (b *boundary) serve(ctx context.Context, r round, next mcp.MethodHandler) (mcp.Result, error) {
	var binding *codecs.Context // nil until the round needs it
	if r.token != "" {
		state, bound, err := b.verify(ctx, r)
		if err != nil {
			return nil, b.refuse(ctx, r.method, err)
		}
		r.request, binding = r.with(state), bound
	}
	res, err := next(ctx, r.method, r.request)
	if err != nil {
		return nil, err
	}
	a, ok := answerOf(res)
	if !ok {
		return nil, b.fault(ctx, r.method, cause("the result is of an unknown type: "+fmt.Sprintf("%T", res)))
	}
	if a.state == "" {
		return res, nil
	}
	token, err := b.mint(ctx, r, a, binding)
	if unbindable(err) {
		return nil, b.refuseArguments(ctx, r.method, err)
	}
	if err != nil {
		return nil, b.fault(ctx, r.method, err)
	}
	return a.with(token), nil
}

// verify returns the state of the round's token and the binding that it was
// verified against.
func (b *boundary) verify(ctx context.Context, r round) (string, *codecs.Context, error) {
	if len(r.token) > b.maxToken {
		return "", nil, errTooLong
	}
	var binding *codecs.Context
	state, err := guard(func() (_ []byte, err error) {
		if binding, err = b.bind(ctx, r); err != nil {
			return nil, err
		}
		state, err := b.scheme.Verify(nil, []byte(r.token), binding)
		if err != nil || b.store == nil {
			return state, err
		}
		return b.spend(ctx, state, binding.Now)
	})
	return string(state), binding, err
}

// mint returns the token of an answer's state. binding is nil where the round
// brought no token.
func (b *boundary) mint(ctx context.Context, r round, a answer, binding *codecs.Context) (string, error) {
	if a.complete {
		return "", errComplete
	}
	token, err := guard(func() (_ []byte, err error) {
		if binding == nil {
			if binding, err = b.bind(ctx, r); err != nil {
				return nil, err
			}
		}
		state := []byte(a.state)
		if b.store != nil {
			state = numbered(state)
		}
		binding.Now = b.now()
		return b.scheme.Mint(nil, state, binding)
	})
	if err == nil && len(token) > b.maxToken {
		err = errUnreturnable
	}
	return string(token), err
}

// bind returns what a token of the round is bound to.
func (b *boundary) bind(ctx context.Context, r round) (*codecs.Context, error) {
	if err := b.checkArguments(r); err != nil {
		return nil, err
	}
	principal, err := b.principal(ctx, r.request)
	if err != nil {
		return nil, err
	}
	if err := b.checkPrincipal(ctx, principal); err != nil {
		return nil, err
	}
	return &codecs.Context{
		Now:       b.now(),
		Method:    r.method,
		Target:    r.target,
		Arguments: r.arguments,
		Principal: principal,
		Audience:  &b.audience,
	}, nil
}
