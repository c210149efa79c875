package boundary

import (
	"fmt"
	"log/slog"
	"strings"
	"time"

	"sealab/codecs"
	"sealab/codecs/aesgcm"
	"sealab/codecs/claims"
	"sealab/codecs/internal/keyring"
)

// The defaults of a Policy.
const (
	DefaultTTL          = 10 * time.Minute
	DefaultMaxToken     = 64 << 10  // bytes
	DefaultMaxArguments = 256 << 10 // bytes
	DefaultStoreTimeout = 2 * time.Second
)

// A Policy configures the protection of requestState. The zero Policy is sound
// for one process: its tokens are encrypted under a key made at construction,
// which dies with the process; a warning is logged.
type Policy struct {
	// Secrets are the key ring, of at least codecs.MinSecret random bytes each:
	// the first seals, every one opens. They are copied. The design gets keys
	// that are derived from them for the boundary alone, so that the tokens of
	// another use of the same secrets are refused.
	//
	// To rotate without refusing a good token, roll out {old, new}, then {new,
	// old}, and, a TTL later, {new}; see [Boundary.Rotate].
	Secrets [][]byte
	// Design makes the tokens. nil: AES-256-GCM with claims. A codec of the
	// catalog gets claims around it; the guarantees of a scheme are its own.
	Design *codecs.Design
	// Options are those of the design.
	Options map[string]string
	// Scheme replaces Secrets, Design and Options by a scheme under its own
	// keys, such as mcppy.New to share tokens with a server in Python. Its
	// secrets must serve no other use: a client that gets text of its choice
	// sealed under them forges states.
	Scheme codecs.Scheme

	// TTL is the lifetime of a token. 0: DefaultTTL. Beside a Scheme, which has
	// a TTL of its own, it must be 0 without a Store; with one it is at least the
	// scheme's.
	TTL time.Duration
	// Audience names the service that mints and takes the tokens. "": the name of
	// the server. Give all servers of a fleet one audience, and services that
	// share keys different ones.
	Audience string
	// MaxToken is the length in bytes beyond which a token is refused before any
	// work is done on it, and not minted. 0: DefaultMaxToken.
	MaxToken int
	// MaxArguments is the length in bytes beyond which the arguments of a request
	// cannot be bound: a token beside them is refused before any work, and no
	// token is minted. 0: DefaultMaxArguments.
	MaxArguments int
	// RequirePrincipal refuses tokens, and does not mint any, if a request has
	// no principal, or one without a name (see [Principal]).
	RequirePrincipal bool
	// Store makes tokens single-use. nil: a token may be used again until it
	// expires. Every server that takes the tokens must share the store.
	Store Store
	// StoreTimeout bounds one call of the store. 0: DefaultStoreTimeout.
	StoreTimeout time.Duration
	// Observer sees every token that is minted or verified. nil: not observed.
	Observer Observer
	// Logger gets the reasons of refusals and faults: the method and a fixed
	// text, never a token, state, principal or key, and at most
	// [LogsPerMinute] lines a minute for each cause. nil: slog.Default().
	Logger *slog.Logger
	// Now is the clock. nil: time.Now.
	Now func() time.Time
}

// New returns the boundary of the server called service, which is the audience
// of its tokens unless the policy sets another.
func New(service string, p Policy) (*Boundary, error) {
	p.setDefaults(service)
	if err := p.check(); err != nil {
		return nil, err
	}
	b := &Boundary{policy: p, audience: p.Audience, log: limitedLog{Logger: p.Logger}}
	if p.Store != nil {
		b.audience += singleUseAudience
	}
	if p.Scheme != nil {
		b.scheme.Store(&p.Scheme)
		return b, nil
	}
	if p.Secrets == nil {
		p.Logger.Warn("requestState is sealed under a key of this process alone: its tokens die with the process, and no other server takes them; set Policy.Secrets")
		p.Secrets = [][]byte{keyring.Generate()}
	}
	if err := b.Rotate(p.Secrets); err != nil {
		return nil, err
	}
	b.policy.Secrets = nil // the caller's memory
	return b, nil
}

// Rotate replaces the key ring. Calls under way end with the ring that they
// began with. On an error the ring stays as it was.
func (b *Boundary) Rotate(secrets [][]byte) error {
	if b.policy.Scheme != nil {
		return fmt.Errorf("boundary: the keys of a scheme cannot be rotated: set a design and secrets")
	}
	scheme, err := b.policy.open(secrets)
	if err != nil {
		return fmt.Errorf("boundary: %w", err)
	}
	b.scheme.Store(&scheme)
	return nil
}

func (p *Policy) setDefaults(service string) {
	if p.Audience == "" {
		p.Audience = service
	}
	if p.MaxToken == 0 {
		p.MaxToken = DefaultMaxToken
	}
	if p.MaxArguments == 0 {
		p.MaxArguments = DefaultMaxArguments
	}
	if p.StoreTimeout == 0 {
		p.StoreTimeout = DefaultStoreTimeout
	}
	if p.Observer == nil {
		p.Observer = unobserved{}
	}
	if p.Logger == nil {
		p.Logger = slog.Default()
	}
	if p.Now == nil {
		// Among the codecs only the boundary reads a clock: a middleware is the
		// edge of a program, and a server that forgot to give it one must not run
		// without expiry.
		p.Now = time.Now
	}
}

func (p *Policy) check() error {
	switch {
	case p.Audience == "":
		return fmt.Errorf("boundary: the server has no name: set an audience")
	case strings.HasSuffix(p.Audience, singleUseAudience):
		return fmt.Errorf("boundary: audience %q ends with %q, which single-use tokens add", p.Audience, singleUseAudience)
	case p.MaxToken < 0:
		return fmt.Errorf("boundary: a token limit of %d bytes: want a positive number", p.MaxToken)
	case p.MaxArguments < 0:
		return fmt.Errorf("boundary: a limit of %d bytes for arguments: want a positive number", p.MaxArguments)
	case p.TTL < 0:
		return fmt.Errorf("boundary: a TTL of %v: want a positive duration", p.TTL)
	case p.StoreTimeout < 0:
		return fmt.Errorf("boundary: a store timeout of %v: want a positive duration", p.StoreTimeout)
	case p.Scheme == nil:
		return nil
	case p.Secrets != nil || p.Design != nil || p.Options != nil:
		return fmt.Errorf("boundary: a scheme beside secrets, a design or options: want one of the two")
	case p.Store == nil && p.TTL != 0:
		return fmt.Errorf("boundary: a TTL has no effect on a scheme, which has its own")
	case p.Store != nil && p.TTL == 0:
		return fmt.Errorf("boundary: single use of a scheme's tokens: set TTL to the scheme's own or more")
	}
	return nil
}

func (p *Policy) ttl() time.Duration {
	if p.TTL == 0 {
		return DefaultTTL
	}
	return p.TTL
}

// trusted reports whether the reasons of refusals are fixed texts. Only designs of this
// module have hooks.
func (p *Policy) trusted() bool { return p.Scheme == nil && (p.Design == nil || p.Design.Hooks != nil) }

// keyLabel separates the boundary's keys from every other use of the secrets.
// The name of the design follows.
const keyLabel = "sealab/boundary/v1 "

// open sets up the design under keys of its own:
//
//	secret' = HKDF-SHA256(secret, "sealab/boundary/v1 " || design || " key", 32)
func (p *Policy) open(secrets [][]byte) (codecs.Scheme, error) {
	d := aesgcm.Design
	if p.Design != nil {
		d = *p.Design
	}
	if !d.IsScheme() {
		d = claims.Over(d)
	}
	var derived [][]byte
	_, err := keyring.New(secrets, keyLabel+d.Name, func(key []byte, _ keyring.ID) (struct{}, error) {
		derived = append(derived, append([]byte(nil), key...))
		return struct{}{}, nil
	})
	if err != nil {
		return nil, err
	}
	ttl := p.ttl()
	return d.OpenScheme(codecs.Config{Secrets: derived, TTL: &ttl, Options: p.Options, Clock: p.Now})
}
