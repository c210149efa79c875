package boundary

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"

	"sealab/codecs"
)

// The methods whose requests and results carry a requestState.
const (
	CallTool     = "tools/call"
	GetPrompt    = "prompts/get"
	ReadResource = "resources/read"
)

// Carries reports whether requests and results of a method carry a requestState.
func Carries(method string) bool {
	return method == CallTool || method == GetPrompt || method == ReadResource
}

// A Boundary is a Policy made ready. It is safe for concurrent use. The adapters
// of the SDKs drive it: [Boundary.Begin], [Round.Open], the handler, [Round.Seal].
type Boundary struct {
	policy   Policy
	audience string // with the label of single use
	scheme   atomic.Pointer[codecs.Scheme]
	log      limitedLog
	warned   [2]sync.Once // of no principal, and of one without a name
}

// A Request is one request that may carry a token.
type Request struct {
	Method string
	Target string // name of the tool or prompt, or URI of the resource
	Token  string // "" if absent
	// Arguments returns the arguments as they were received, or nil. It is
	// called at most once, before the handler.
	Arguments func() json.RawMessage
	// ArgumentsSize is the length of the arguments in bytes.
	ArgumentsSize int
	// Principal returns the authenticated principal, nil if the request is
	// unauthenticated. It is called at most once.
	Principal func() (*string, error)
}

// A Round is one request on its way across the boundary. It is not safe for
// concurrent use.
type Round struct {
	boundary  *Boundary
	request   Request
	arguments json.RawMessage
	context   *codecs.Context // nil until a token is verified or minted
}

// Begin starts a round. It copies the arguments, because a handler may decode
// them in place: a token is bound to the bytes that the client sent.
func (b *Boundary) Begin(r Request) *Round {
	round := &Round{boundary: b, request: r}
	if r.Arguments != nil && r.ArgumentsSize <= b.policy.MaxArguments {
		round.arguments = r.Arguments()
	}
	return round
}

// Open returns the state of the request's token, "" if the request brings no
// token. The error is the [*Answer] for the client.
func (r *Round) Open(ctx context.Context) (state string, err error) {
	if r.request.Token == "" {
		return "", nil
	}
	b := r.boundary
	ctx, done := b.policy.Observer.Start(ctx, Verify, r.request.Method)
	event := Event{Token: len(r.request.Token), Arguments: r.request.ArgumentsSize}
	text, err := guard(func() ([]byte, error) { return r.verify(ctx, &event) })
	event.Outcome = outcome(err)
	done(event)
	if err != nil {
		return "", b.refuse(ctx, r.request.Method, err)
	}
	return string(text), nil
}

func (r *Round) verify(ctx context.Context, event *Event) ([]byte, error) {
	b := r.boundary
	if len(r.request.Token) > b.policy.MaxToken {
		return nil, errTooLong
	}
	if err := r.bind(ctx); err != nil {
		return nil, err
	}
	state, err := (*b.scheme.Load()).Verify(nil, []byte(r.request.Token), r.context)
	if err != nil {
		return nil, err
	}
	if b.policy.Store == nil {
		return unnumbered(state)
	}
	return r.spend(ctx, state, event)
}

// Seal returns the token of a state that the handler leaves. The error is the
// [*Answer] for the client.
func (r *Round) Seal(ctx context.Context, state string) (token string, err error) {
	b := r.boundary
	ctx, done := b.policy.Observer.Start(ctx, Mint, r.request.Method)
	text, err := guard(func() ([]byte, error) { return r.mint(ctx, state) })
	done(Event{Token: len(text), Arguments: r.request.ArgumentsSize, Outcome: outcome(err)})
	if err != nil {
		return "", b.unsealed(ctx, r.request.Method, err)
	}
	return string(text), nil
}

func (r *Round) mint(ctx context.Context, text string) ([]byte, error) {
	b := r.boundary
	if r.context == nil {
		if err := r.bind(ctx); err != nil {
			return nil, err
		}
	}
	now := b.policy.Now()
	state, err := []byte(text), error(nil)
	if b.policy.Store != nil {
		state = numbered(state, now.Add(b.policy.ttl()+2*skew))
	} else if state, err = unnumbered(state); err != nil {
		return nil, errReserved
	}
	r.context.Now = now
	token, err := (*b.scheme.Load()).Mint(nil, state, r.context)
	if err == nil && len(token) > b.policy.MaxToken {
		err = errUnreturnable
	}
	return token, err
}

// bind checks the arguments and the principal, and sets the context of the
// round. It fails if a token cannot be bound to them.
func (r *Round) bind(ctx context.Context) error {
	b := r.boundary
	if err := r.checkArguments(); err != nil {
		return err
	}
	var principal *string
	if r.request.Principal != nil {
		var err error
		if principal, err = r.request.Principal(); err != nil {
			return err
		}
	}
	if err := b.checkPrincipal(ctx, principal); err != nil {
		return err
	}
	r.context = &codecs.Context{
		Now:       b.policy.Now(),
		Method:    r.request.Method,
		Target:    r.request.Target,
		Arguments: r.arguments,
		Principal: principal,
		Audience:  &b.audience,
	}
	return nil
}
