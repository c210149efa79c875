// Package boundary protects the requestState of servers of the Model Context
// Protocol (revision 2026-07-28, basic/patterns/mrtr). It knows no SDK: package
// gosdk puts it around a server of the official Go SDK, and package mcpgo around
// one of github.com/mark3labs/mcp-go.
//
// # Binding
//
// By default a token is good for ten minutes, for the method, the target (name
// of the tool or prompt, URI of the resource), the arguments, the audience (the
// server's name) and the principal of the request it was minted for. It is
// AES-256-GCM (package aesgcm) over the claims of package claims. A [Policy]
// may choose another design of the catalog, whose guarantees then hold.
//
//	boundary.Policy{}                                      one process, a warning in the log
//	boundary.Policy{Secrets: [][]byte{newKey, oldKey}}     a fleet; keys rotate
//	boundary.Policy{Secrets: ring, Design: &xchacha.Design} another design
//	boundary.Policy{Scheme: s}                             a scheme under its own keys, such as mcppy.New:
//	                                                       a server in Python takes the next round
//
// Package keyfile reads a ring from a file, and [Boundary.Rotate] replaces it.
//
// # Arguments
//
// A token holds a salted digest of the request, with its arguments in one form of
// their JSON and numbers as they are spelled; the handler reads the bytes. Both
// agree because the boundary refuses arguments that two readers may read as two
// values: a repeated member name at any depth, also in another case; text that is
// not UTF-8, and lone surrogates; numbers that are not the shortest decimal of a
// float64, and -0; values that are not an object. A request with such arguments
// and a token gets the answer of a bad token. One without a token is served, and
// gets error -32602 with the data {"reason":"invalid_arguments"} if its result
// carries state.
//
// The boundary does not bind the order of members, white space, the choice of
// escapes, and whether the arguments are absent, null or {}.
//
// # Answers to clients
//
// Every refused token, whatever the cause, gets one answer: error -32602,
// "Invalid or expired requestState", with the data
// {"reason":"invalid_request_state"}. The cause is logged, as a fixed text beside
// the method. A state that cannot be sealed (the format cannot carry it, a
// callback fails) is error -32603, "Internal error". Errors and panics of
// designs, stores and principal functions refuse inbound and are internal errors
// outbound; only their types are logged, so let callbacks log their own failures.
//
// # Single use
//
// A token may be presented again until it expires. A [Store] makes it single-use:
// tokens then carry a random ID and the end of their life before the state,
// under the seal, and the store decides on the ID, so that all encodings of a
// token are one token. An ID is used up before the handler runs: a round that
// fails cannot be repeated. Servers with and without a store refuse each other's
// tokens.
//
// If the store fails or does not answer within Policy.StoreTimeout, the token is
// refused then, and it may be used up. The clocks of a fleet and of its store must be
// within a minute of the true time. [Memory] is a store for one process, package
// redisstore one for Redis and Valkey, package sqlstore one for SQL databases.
//
// # Limits
//
// Tokens are at most Policy.MaxToken bytes, arguments Policy.MaxArguments.
// Longer ones are refused before any work. The check and the digest of arguments
// take 4 bytes of heap each for a byte at most. The transport bounds the request.
//
// # Limitations
//
//   - A requestState that is absent, null or "" starts over: a client can always
//     leave it out. A client can begin a flow twice.
//   - inputResponses are the client's word in every round; keep in the state
//     whatever a later round must rely on.
//   - Whoever holds a token without a principal may use it. RequirePrincipal
//     refuses such requests.
//   - The length of a token shows the length of the state, and signed designs show
//     the state.
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
	context   codecs.Context // without a time until a token is verified or minted
}

// Begin starts a round. It copies the arguments, because a handler may decode
// them in place: a token is bound to the bytes that the client sent.
func (b *Boundary) Begin(r Request) *Round {
	round := &Round{boundary: b, request: r}
	if r.Arguments != nil && r.ArgumentsSize <= b.policy.MaxArguments {
		round.arguments = given(r.Arguments())
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
	state, err := (*b.scheme.Load()).Verify(nil, []byte(r.request.Token), &r.context)
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
		return "", b.sealFailed(ctx, r.request.Method, err)
	}
	return string(text), nil
}

func (r *Round) mint(ctx context.Context, text string) ([]byte, error) {
	b := r.boundary
	if r.context.Now.IsZero() {
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
	token, err := (*b.scheme.Load()).Mint(nil, state, &r.context)
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
	r.context = codecs.Context{
		Now:       b.policy.Now(),
		Method:    r.request.Method,
		Target:    r.request.Target,
		Arguments: r.arguments,
		Principal: principal,
		Audience:  &b.audience,
	}
	return nil
}
