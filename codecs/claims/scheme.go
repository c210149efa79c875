// Package claims is claims over any codec: it stamps a time to live, the
// originating request, the audience and the principal beside the state, seals
// all of it with the codec, and verifies every claim when the token returns.
//
// The claims are those of the Python MCP SDK (mcp.server.request_state,
// modelcontextprotocol/python-sdk 57394b0), so that tokens of the laboratory's
// codecs and tokens of the SDK share one language. The payload is compact JSON
// (package compactjson) with its members in this order:
//
//	v    1
//	iat  time of issue in Unix seconds, a float
//	exp  iat + time to live, a float
//	m    method
//	t    target: name of the tool or prompt, URI of the resource
//	a    base64url(SHA-256(compact_json(arguments, sorted))[:16]), 22 characters
//	s    state
//	aud  audience, only where there is one
//	p    base64url(salt[8] || SHA-256("mcp/request-state/principal:" || salt ||
//	     principal)[:16]), 32 characters, only where there is a principal
//
// A token is refused from exp on (exp itself is too late), and when issued more
// than 60 seconds in the future. The format of times is a float of Unix seconds,
// good to about a quarter of a microsecond.
//
// State and names are WTF-8 (UTF-8, and lone surrogates in three bytes, as
// Python's surrogatepass has them): Mint returns codecs.ErrUnsupported for
// other bytes and for arguments that are not JSON, and Verify refuses them. A
// principal may be any bytes.
//
// Seeds are the codec's seed followed by the salt's 8 bytes.
//
// Limits: the codec's. Arguments nest 10000 deep at most.
//
// It does not give: single use; a distinction between arguments that are absent
// and those that Python takes for false (null, {}, [], "", 0, false), which
// share one digest; any binding of the arguments of resources/read; anything
// against whoever holds a key.
package claims

import (
	"fmt"
	"time"

	"sealab/codecs"
	"sealab/internal/lab"
)

// DefaultTTL is the time to live where none is set.
const DefaultTTL = 600 * time.Second

// skew is how far in the future, in seconds, a token may have been issued.
const skew = 60.0

// A Reading is how claims are read after the codec has authenticated them.
type Reading uint8

// The readings.
const (
	// Strict takes the one spelling of the claims that Mint gives them.
	Strict Reading = iota
	// Faithful takes what the Python SDK takes: any spelling that json.loads
	// understands, true or 1.0 for the version, integers for times.
	Faithful
)

// scheme is a codecs.Scheme over any codec.
type scheme struct {
	codec   codecs.Codec
	ttl     time.Duration
	reading Reading
}

// New returns the scheme that puts claims over codec. A ttl that is not
// positive is an error. The scheme is a lab.SeededScheme where the codec is
// lab.Seeded, and a lab.SchemeAssembler where it is a lab.Assembler.
func New(codec codecs.Codec, ttl time.Duration) (codecs.Scheme, error) {
	return NewReading(codec, ttl, Strict)
}

// NewReading is New with a choice of the reading.
func NewReading(codec codecs.Codec, ttl time.Duration, reading Reading) (codecs.Scheme, error) {
	if codec == nil {
		return nil, fmt.Errorf("sealab: the envelope needs a codec")
	}
	if ttl <= 0 {
		return nil, fmt.Errorf("sealab: the time to live is %v and must be positive", ttl)
	}
	s := scheme{codec, ttl, reading}
	switch c := codec.(type) {
	case lab.Assembler:
		return &assembler{seeded{s, c}, c}, nil
	case lab.Seeded:
		return &seeded{s, c}, nil
	default:
		return &s, nil
	}
}

// TTLOf returns the time to live that a configuration asks for, DefaultTTL
// where it asks for none.
func TTLOf(c codecs.Config) time.Duration {
	if c.TTL == nil {
		return DefaultTTL
	}
	return *c.TTL
}

// unixSeconds returns a time as Python's time.time has it.
func unixSeconds(t time.Time) float64 {
	return float64(t.Unix()) + float64(t.Nanosecond())/1e9
}
