// Package mcp is a server of the Model Context Protocol, revisions 2026-07-28 and 2025-03-26 to
// 2025-11-25, over streamable HTTP and standard streams. It is sound unless it is given faults,
// each of which breaks it in one way.
//
// The tools deploy (two questions) and remove (one) act on the state. The prompt report asks once.
// A token is base64url(nonce || AES-256-GCM(JSON)), single use, and bound to method, target,
// arguments, user and expiry. Faults of signed tokens write base64url(JSON) "."
// base64url(HMAC-SHA256).
//
// Time is an argument. Randomness comes from internal/lab.
package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"sealab/internal/lab"
)

// The revisions that the server speaks, the newest first.
const modernRevision = "2026-07-28"

var legacyRevisions = []string{"2025-11-25", "2025-06-18", "2025-03-26"}

// Older makes the server refuse the newest revision. It is not a fault.
const Older = "older revisions alone"

// A Clock tells the time and sleeps.
type Clock struct {
	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error
}

// A Server is one instance of the server.
type Server struct {
	// Users requires the credentials "Bearer alice" or "Bearer bob" over HTTP.
	Users bool
	// Secret is the key of the tokens. Instances with the same key accept each other's tokens.
	Secret []byte
	Clock  Clock
	// Runs counts the tools that ran to their end.
	Runs atomic.Int64

	booked   atomic.Int64 // totals
	carried  atomic.Int64 // calls that counted counts
	handled  atomic.Int64 // requests
	polluted atomic.Bool  // a fault makes every request inherit "jsonrpc"

	faults []string
	mu     sync.Mutex
	// meeting is where calls at the same time meet, with a fault.
	meeting chan struct{}
	// reading is held while a body is read, with a fault.
	reading sync.Mutex

	used   map[string]bool    // IDs of redeemed tokens
	held   map[string]claims  // states behind handles
	count  int                // of handles, sessions and lists
	live   map[string]session // by ID
	tasks  map[string]*task   // by ID
	waits  map[string]chan map[string]any
	users  map[string]string          // by connection
	events []event                    // of all sessions
	calls  []event                    // answers of calls that streams give again
	said   memory                     // texts of earlier calls
	hidden map[string]json.RawMessage // IDs of hidden requests by connection, with a fault
	grown  int                        // number of additional tools in the list
	news   []string                   // URIs of the resources that calls changed
	last   string                     // the ID of the last session that ended
	// letterLog has the letters that removals wrote.
	letterLog []letter
	outbox    []string // the messages of envelopeChoices
	dead      bool
	late      bool // the last cancellation was for no request in flight

	listeners map[string]func(message []byte) // write to the streams of calls, by progress token
}

// Elsewhere is a credential of alice for another server.
const Elsewhere = "alice-elsewhere"

// TTL is the time to live of a token.
const TTL = 10 * time.Second

// New returns a server with the named faults.
func New(clock Clock, faults ...string) *Server {
	return &Server{Clock: clock, Secret: randomBytes(32), faults: faults, meeting: make(chan struct{}), used: map[string]bool{}, held: map[string]claims{},
		live: map[string]session{}, tasks: map[string]*task{}, waits: map[string]chan map[string]any{}, users: map[string]string{}, hidden: map[string]json.RawMessage{},
		listeners: map[string]func([]byte){}}
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	lab.Random(b)
	return b
}

// Repair removes every fault.
func (s *Server) Repair() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// Forget simulates a restart of a sound server that draws its key when it starts.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Secret, s.used, s.live = randomBytes(32), map[string]bool{}, map[string]session{}
}

// Restart starts a server that stopped. With faults it forgets used tokens or its key.
func (s *Server) Restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dead = false
	if s.has("used tokens forgotten") {
		s.used = map[string]bool{}
	}
	if s.has("a key for each process") {
		s.Secret = randomBytes(32)
	}
}

// has reports whether the server has one of the faults.
func (s *Server) has(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(s.faults, n) })
}
