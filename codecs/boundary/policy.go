package boundary

import (
	"fmt"
	"log/slog"
	"time"

	"sealab/codecs"
	"sealab/codecs/claims"
	"sealab/codecs/internal/keyring"
	"sealab/codecs/mcppy"
)

// The defaults of a Policy.
const (
	DefaultTTL      = 10 * time.Minute
	DefaultMaxToken = 64 << 10 // bytes
	// DefaultMaxArguments is in bytes.
	DefaultMaxArguments = 256 << 10
)

// A Policy says how a server protects its requestState. The zero Policy is
// sound for one process: its tokens are encrypted under a key made at
// construction, which dies with the process; a warning is logged.
type Policy struct {
	// Secrets are the key ring, of at least codecs.MinSecret random bytes each:
	// the first seals, every one unseals. They are copied. Tokens are those of
	// the Python SDK, so that both verify each other's under one ring.
	//
	// To rotate without refusing anybody, roll out {old, new}, then {new, old},
	// and, a TTL later, {new}.
	Secrets [][]byte
	// Codec seals in the place of the ring, under the same claims.
	Codec codecs.Codec
	// Scheme replaces codec and claims alike. What a token is bound to and how
	// long it lives is then the scheme's word: see its guarantees. At most one of
	// Secrets, Codec and Scheme is set.
	Scheme codecs.Scheme

	// TTL is how long a token is good. 0: DefaultTTL. Beside a Scheme, which
	// has a TTL of its own, it must be 0 without a Store, and with one it says
	// how long used tokens are remembered: at least the scheme's TTL.
	TTL time.Duration
	// Audience names the service that mints and takes the tokens. "": the name of
	// the server. Give all servers of a fleet one audience, and services that
	// share keys different ones.
	Audience string
	// Principal names who sent a request. nil: TokenPrincipal.
	Principal PrincipalFunc
	// MaxToken is the length in bytes beyond which a token is refused before any
	// work is done on it, and not minted. 0: DefaultMaxToken.
	MaxToken int
	// MaxArguments is the length in bytes beyond which the arguments of a request
	// cannot be bound: a token beside them is refused before any work, and none
	// is minted. 0: DefaultMaxArguments.
	MaxArguments int
	// RequirePrincipal refuses tokens and mints none if a request has no
	// principal, or one that names nobody (see [TokenPrincipal]).
	RequirePrincipal bool
	// Store makes tokens single-use. nil: a token may be used again until it
	// expires. Every server that takes the tokens must share the store.
	Store Store
	// Logger gets the reasons of refusals and faults: the method and a fixed
	// text, never a token, state, principal or key. nil: slog.Default().
	Logger *slog.Logger
	// Now is the clock. nil: time.Now.
	Now func() time.Time
}

// boundary checks the policy and makes it ready for the named service.
func (p Policy) boundary(service string) (*boundary, error) {
	p.setDefaults(service)
	switch {
	case p.Audience == "":
		return nil, fmt.Errorf("sealab: boundary: the server has no name: set an audience")
	case p.MaxToken < 0:
		return nil, fmt.Errorf("sealab: boundary: a token limit of %d bytes: want a positive number", p.MaxToken)
	case p.MaxArguments < 0:
		return nil, fmt.Errorf("sealab: boundary: a limit of %d bytes for arguments: want a positive number", p.MaxArguments)
	case p.TTL < 0:
		return nil, fmt.Errorf("sealab: boundary: a TTL of %v: want a positive duration", p.TTL)
	}
	scheme, err := p.scheme()
	if err != nil {
		return nil, err
	}
	return &boundary{
		scheme:           scheme,
		audience:         p.Audience,
		principal:        p.Principal,
		requirePrincipal: p.RequirePrincipal,
		maxToken:         p.MaxToken,
		maxArguments:     p.MaxArguments,
		ttl:              p.ttl(),
		store:            p.Store,
		log:              p.Logger,
		now:              p.Now,
	}, nil
}

func (p *Policy) setDefaults(service string) {
	if p.Audience == "" {
		p.Audience = service
	}
	if p.Principal == nil {
		p.Principal = TokenPrincipal
	}
	if p.MaxToken == 0 {
		p.MaxToken = DefaultMaxToken
	}
	if p.MaxArguments == 0 {
		p.MaxArguments = DefaultMaxArguments
	}
	if p.Logger == nil {
		p.Logger = slog.Default()
	}
	if p.Now == nil {
		// The one clock that is read below the command: a middleware is the edge
		// of a program, and a server that forgot to give it one must not run
		// without expiry.
		p.Now = time.Now
	}
}

func (p Policy) ttl() time.Duration {
	if p.TTL == 0 {
		return DefaultTTL
	}
	return p.TTL
}

// scheme returns what mints and verifies the tokens.
func (p Policy) scheme() (codecs.Scheme, error) {
	if given(p.Secrets != nil, p.Codec != nil, p.Scheme != nil) > 1 {
		return nil, fmt.Errorf("sealab: boundary: more than one of secrets, codec and scheme is set")
	}
	switch {
	case p.Scheme != nil:
		return p.Scheme, p.checkSchemeTTL()
	case p.Codec != nil:
		return claims.New(p.Codec, p.ttl())
	case p.Secrets != nil:
		return mcppy.New(claims.Strict, p.ttl(), p.Secrets...)
	}
	p.Logger.Warn("requestState is sealed under a key of this process alone: its tokens die with the process, and no other server takes them; set Policy.Secrets")
	return mcppy.New(claims.Strict, p.ttl(), keyring.Generate())
}

// checkSchemeTTL refuses a TTL that would have no effect, and a store that
// would not know how long to remember.
func (p Policy) checkSchemeTTL() error {
	if p.Store == nil && p.TTL != 0 {
		return fmt.Errorf("sealab: boundary: a TTL has no effect on a scheme, which has its own")
	}
	if p.Store != nil && p.TTL == 0 {
		return fmt.Errorf("sealab: boundary: single use of a scheme's tokens: set TTL to the scheme's own or more")
	}
	return nil
}

func given(set ...bool) (n int) {
	for _, s := range set {
		if s {
			n++
		}
	}
	return n
}
