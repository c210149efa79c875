// Package boundary protects the requestState of servers of the Model Context
// Protocol (revision 2026-07-28, basic/patterns/mrtr). It does not depend on an
// SDK. Package gosdk adapts it to the official Go SDK, and package mcpgo to
// github.com/mark3labs/mcp-go.
//
// # Binding
//
// By default a token is valid for ten minutes. It is bound to the request that
// it was minted for: the method, the target (name of the tool or prompt, URI of
// the resource), the arguments, the audience (the server's name) and the
// principal. It is sealed with AES-256-GCM (package aesgcm) over the claims of
// package claims. A [Policy] may select another design of the catalog; then the
// guarantees of that design hold.
//
//	boundary.Policy{}                                      one process, a warning in the log
//	boundary.Policy{Secrets: [][]byte{newKey, oldKey}}     a fleet; keys rotate
//	boundary.Policy{Secrets: ring, Design: &xchacha.Design} another design
//	boundary.Policy{Scheme: s}                             a scheme under its own keys, such as mcppy.New:
//	                                                       a server in Python takes the next round
//
// Package sealab/codecs/keyfile reads a ring from a file. [Boundary.Rotate] replaces the ring
// of a running server.
//
// # Arguments
//
// A token holds a salted digest of its request. The digest covers the arguments
// in a canonical form of JSON that keeps the spelling of numbers, while the
// handler parses the received bytes. Both see the same value, because the
// boundary refuses arguments that two parsers may read differently:
//
//   - a member name that is repeated at any depth, also if only the case differs
//   - text that is not UTF-8, and lone surrogates
//   - numbers other than the shortest decimal of a float64, and -0
//   - values other than an object
//
// If a request with such arguments brings a token, it gets the answer of a
// refused token. Otherwise it is served. If its result then carries state, the
// client gets error -32602 with the data {"reason":"invalid_arguments"}.
//
// The digest ignores the order of members, white space and the choice of
// escapes. It also treats absent arguments, null and {} alike.
//
// # Answers to clients
//
// Every refused token gets the same answer: error -32602, "Invalid or expired
// requestState", with the data {"reason":"invalid_request_state"}. The log gets
// the method and the cause as a fixed text. If a state cannot be sealed,
// because the format cannot carry it or a callback fails, the answer is error
// -32603, "Internal error". If a design, store or principal function fails or
// panics, an inbound token is refused, and an outbound state is an internal
// error. Only the type of such an error is logged, so callbacks should log
// their own failures.
//
// # Single use
//
// By default a token may be presented again until it expires. A [Store] makes
// it single-use: the token then carries a random ID and its end of life, sealed
// with the state. The store decides by the ID, so that all encodings of a token
// count as one. An ID is used up before the handler runs: if a round fails, the
// client cannot repeat it. Servers with and without a store refuse each other's
// tokens.
//
// If the store fails or does not answer within Policy.StoreTimeout, the token
// is refused, and it may be used up. The clocks of a fleet and of its store
// must be within a minute of the true time. [Memory] is a store for one
// process. Package redisstore keeps used tokens on Redis or Valkey, package
// sqlstore in an SQL database.
//
// # Limits
//
// A token has at most Policy.MaxToken bytes, and arguments have at most
// Policy.MaxArguments. Longer ones are refused before any work. The check of
// the arguments and their digest each take at most 4 bytes of heap per byte.
// The transport must bound the size of a request.
//
// # Limitations
//
//   - An absent, null or empty requestState starts over. A client can always leave
//     it out, and can start a flow twice.
//   - The client chooses inputResponses freely in every round. Keep in the state
//     all data that a later round must rely on.
//   - Anyone who holds a token without a principal may use it. RequirePrincipal
//     refuses such requests.
//   - The length of a token shows the length of the state. Signed designs show the
//     state itself.
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

// A Boundary enforces a Policy. It is safe for concurrent use. The adapters of
// the SDKs call, in order, [Boundary.Begin], [Round.Open], the handler,
// [Round.Seal].
type Boundary struct {
	policy   Policy
	audience string // includes the label of single use
	scheme   atomic.Pointer[codecs.Scheme]
	log      limitedLog
	warned   [2]sync.Once // no principal; a principal without a name
}

// A Request is one request that may carry a token.
type Request struct {
	Method string
	Target string // name of the tool or prompt, or URI of the resource
	Token  string // "" if absent
	// Arguments returns a copy of the arguments as they were received, or nil.
	// It is called at most once, before the handler.
	Arguments func() json.RawMessage
	// ArgumentsSize is the length of the arguments in bytes.
	ArgumentsSize int
	// Principal returns the authenticated principal, nil if the request is
	// unauthenticated. It is called at most once.
	Principal func() (*string, error)
}

// A Round is one request and its result. It is not safe for concurrent use.
type Round struct {
	boundary  *Boundary
	request   Request
	arguments json.RawMessage
	context   codecs.Context // Now is zero until a token is verified or minted
}

// Begin starts a round. It reads the arguments before a handler can change them,
// because a token is bound to the bytes that the client sent.
func (b *Boundary) Begin(r Request) *Round {
	round := &Round{boundary: b, request: r}
	if r.Arguments != nil && r.ArgumentsSize <= b.policy.MaxArguments {
		round.arguments = nonEmptyArguments(r.Arguments())
	}
	return round
}

// Open returns the state of the request's token, or "" if the request has no
// token. The error is the [*Answer] for the client.
func (r *Round) Open(ctx context.Context) (state string, err error) {
	if r.request.Token == "" {
		return "", nil
	}
	b := r.boundary
	ctx, done := b.policy.Observer.Start(ctx, Verify, r.request.Method)
	event := Event{Token: len(r.request.Token), Arguments: r.request.ArgumentsSize}
	text, err := recoverPanic(func() ([]byte, error) { return r.verify(ctx, &event) })
	event.Outcome = outcomeOf(err)
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
		return requireNoHeader(state)
	}
	return r.spend(ctx, state, event)
}

// Seal returns a token for the state that the handler returned. The error is
// the [*Answer] for the client.
func (r *Round) Seal(ctx context.Context, state string) (token string, err error) {
	b := r.boundary
	ctx, done := b.policy.Observer.Start(ctx, Mint, r.request.Method)
	text, err := recoverPanic(func() ([]byte, error) { return r.mint(ctx, state) })
	done(Event{Token: len(text), Arguments: r.request.ArgumentsSize, Outcome: outcomeOf(err)})
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
		state = addSingleUseHeader(state, now.Add(b.policy.ttl()+2*clockSkew))
	} else if state, err = requireNoHeader(state); err != nil {
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
