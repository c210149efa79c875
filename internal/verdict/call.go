package verdict

import (
	"encoding/json"
	"time"

	"sealab/codecs"
)

// An Op is what a Call did.
type Op string

// The operations.
const (
	OpOpen   Op = "open"   // set up a ring; the answer says whether it was taken
	OpSeal   Op = "seal"   // seal a payload or mint a token
	OpUnseal Op = "unseal" // unseal or verify a token
)

// MaxToken is the longest token, in bytes, that a witness carries whole. A
// longer one is cut and its call says so: the attack makes it again from the seed.
const MaxToken = 1 << 20

// A Call is one call of a subject and its answer.
type Call struct {
	Op    Op             `json:"op"`
	Keys  [][]byte       `json:"keys"`
	TTL   *time.Duration `json:"ttl_ns,omitempty"`
	State []byte         `json:"state,omitempty"` // sealed
	Token []byte         `json:"token,omitempty"` // presented
	Cut   int            `json:"cut,omitempty"`   // length of the token that was presented, where Token is only its head
	// Context is that of a scheme; nil for codecs.
	Context *Context `json:"context,omitempty"`
	Answer  Answer   `json:"answer"`
}

// A Context is the binding and the time of a call.
type Context struct {
	Method    string          `json:"method"`
	Target    string          `json:"target"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Principal *string         `json:"principal,omitempty"`
	Audience  *string         `json:"audience,omitempty"`
	Now       time.Time       `json:"now"`
}

// An Outcome is the kind of an answer.
type Outcome string

// The outcomes.
const (
	Done        Outcome = "done"
	Refused     Outcome = "refused"
	Unsupported Outcome = "unsupported"
	Fault       Outcome = "fault"
)

// An Answer is what came back.
type Answer struct {
	Outcome Outcome `json:"outcome"`
	Out     []byte  `json:"out,omitempty"`    // token or state
	Stage   string  `json:"stage,omitempty"`  // of refused
	Reason  string  `json:"reason,omitempty"` // of refused
	Text    string  `json:"text,omitempty"`   // of the error, as the presenter may see it
}

// Codecs returns the context for a call.
func (c *Context) Codecs() *codecs.Context {
	return &codecs.Context{Method: c.Method, Target: c.Target, Arguments: c.Arguments,
		Principal: c.Principal, Audience: c.Audience, Now: c.Now}
}
