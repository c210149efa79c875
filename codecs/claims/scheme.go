// Package claims makes a scheme of any codec. It stamps a time to live, the
// originating request, the audience and the principal beside the state, seals all
// of it with the codec, and verifies every claim when the token returns.
//
// The claims are those of the Python MCP SDK (mcp.server.request_state,
// modelcontextprotocol/python-sdk 57394b0). The payload is compact JSON (package
// compactjson) with its members in this order:
//
//	v    1
//	iat  time of issue in Unix seconds, a float
//	exp  iat + time to live, a float
//	m    method
//	t    target: name of the tool or prompt, URI of the resource
//	a    base64url(SHA-256(compact_json(arguments, sorted))[:16]), 22 characters
//	s    state
//	aud  audience, only if there is one
//	p    base64url(salt[8] || SHA-256("mcp/request-state/principal:" || salt ||
//	     principal)[:16]), 32 characters, only if there is a principal
//
// A token is refused from exp on (exp itself is too late), and if it was issued
// more than 60 seconds in the future. Times are floats of Unix seconds, with a
// resolution of about a quarter of a microsecond.
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
// Limitations: no single use. Absent arguments and those that are false in Python
// (null, {}, [], "", 0, false) share one digest. The arguments of resources/read
// are not bound. A holder of a key can mint any token.
package claims

import (
	"fmt"
	"time"

	"sealab/codecs"
	"sealab/internal/lab"
)

// DefaultTTL is the time to live if the configuration has no other.
const DefaultTTL = 600 * time.Second

// skew is how far in the future, in seconds, a token may have been issued.
const skew = 60.0

// A Reading is how claims are read after the codec has authenticated them.
type Reading uint8

// The readings.
const (
	// Strict accepts claims only as Mint writes them.
	Strict Reading = iota
	// Faithful accepts the claims that the Python SDK accepts: any JSON that
	// json.loads reads, true or 1.0 for the version, integers for times.
	Faithful
)

// scheme is a codecs.Scheme over any codec.
type scheme struct {
	codec   codecs.Codec
	ttl     time.Duration
	reading Reading
}

// New returns the scheme that puts claims over codec. A ttl that is not
// positive is an error. The scheme is a lab.SeededScheme if the codec is
// lab.Seeded, and a lab.SchemeAssembler if it is a lab.Assembler.
func New(codec codecs.Codec, ttl time.Duration) (codecs.Scheme, error) {
	return NewReading(codec, ttl, Strict)
}

// NewReading is New with a choice of the reading.
func NewReading(codec codecs.Codec, ttl time.Duration, reading Reading) (codecs.Scheme, error) {
	//mutant:equivalent every row of the catalog gives a codec
	if codec == nil {
		return nil, fmt.Errorf("claims need a codec")
	}
	if ttl <= 0 {
		return nil, fmt.Errorf("the time to live is %v and must be positive", ttl)
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

// unixSeconds returns a time as Python's time.time has it.
func unixSeconds(t time.Time) float64 {
	return float64(t.Unix()) + float64(t.Nanosecond())/1e9
}
