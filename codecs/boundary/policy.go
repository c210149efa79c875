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

// A Policy configures the protection of requestState. The zero Policy suits a
// single process: its tokens are encrypted under a key that New generates and
// that is lost when the process ends. New logs a warning about it.
type Policy struct {
	// Secrets is the key ring: the first secret seals, every one opens. Each
	// has at least codecs.MinSecret random bytes. They are copied. The design
	// gets keys that are derived from them for the boundary only. Tokens of
	// other uses of the same secrets are therefore refused.
	//
	// To rotate without refusing a valid token, deploy {old, new}, then {new,
	// old}, and, one TTL later, {new}; see [Boundary.Rotate].
	Secrets [][]byte
	// Design makes the tokens. nil: AES-256-GCM with claims. Claims are added
	// to a codec of the catalog; a scheme is used as it is, with its own
	// guarantees.
	Design *codecs.Design
	// Options are the options of the design.
	Options map[string]string
	// Scheme replaces Secrets, Design and Options by a scheme under its own
	// keys, such as mcppy.New to share tokens with a server in Python. Use its
	// secrets for nothing else: a client that can have chosen text sealed under
	// them can forge states.
	Scheme codecs.Scheme

	// TTL is the lifetime of a token. 0: DefaultTTL. A Scheme has a TTL of its
	// own: beside it, TTL must be 0 without a Store, and at least the scheme's
	// TTL with one.
	TTL time.Duration
	// Audience names the service that mints and accepts the tokens. "": the
	// name of the server. Give all servers of a fleet the same audience, and
	// give services that share keys different audiences.
	Audience string
	// MaxToken is the maximum length of a token in bytes. A longer one is
	// refused before any work is done on it, and is not minted. 0:
	// DefaultMaxToken.
	MaxToken int
	// MaxArguments is the maximum length of a request's arguments in bytes. If
	// they are longer, a token beside them is refused before any work, and no
	// token is minted. 0: DefaultMaxArguments.
	MaxArguments int
	// RequirePrincipal refuses to verify or mint tokens if a request has no
	// principal, or has one without a name (see [Principal]).
	RequirePrincipal bool
	// Store makes tokens single-use. nil: a token may be used again until it
	// expires. All servers that accept the tokens must share the store.
	Store Store
	// StoreTimeout bounds one call of the store. 0: DefaultStoreTimeout.
	StoreTimeout time.Duration
	// Observer sees every token that is minted or verified. nil: no observer.
	Observer Observer
	// Logger gets the reasons of refusals and faults: the method and a fixed
	// text, never a token, state, principal or key. It gets at most
	// [LogsPerMinute] lines per minute and cause. nil: slog.Default().
	Logger *slog.Logger
	// Now is the clock. nil: time.Now.
	Now func() time.Time
}

// New returns the boundary of the server called service. The service is the
// audience of its tokens unless the policy sets another.
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
	b.policy.Secrets = nil // the slice is the caller's
	return b, nil
}

// Rotate replaces the key ring. Calls in progress keep the ring that they
// started with. If Rotate fails, the ring stays unchanged.
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
		p.Observer = noObserver{}
	}
	if p.Logger == nil {
		p.Logger = slog.Default()
	}
	if p.Now == nil {
		// Among the packages below codecs only the boundary reads a clock. A
		// server that forgot to set one must not run without expiry.
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

// keyLabel separates the boundary's keys from all other keys derived from the
// secrets. The name of the design follows it.
const keyLabel = "sealab/boundary/v1 "

// open opens the design under keys derived for the boundary:
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
	return d.OpenScheme(codecs.Config{Secrets: derived, TTL: new(p.ttl()), Options: p.Options, Clock: p.Now})
}
