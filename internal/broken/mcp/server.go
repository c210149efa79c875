// Package mcp is a server of the Model Context Protocol, revisions 2026-07-28 and
// 2025-03-26 to 2025-11-25, over streamable HTTP and standard streams. It is sound
// unless it is given a fault: each fault of [Faults] breaks it in one way.
//
// The tools deploy (two questions) and remove (one) act on the state; the prompt
// report asks once. A token is base64url(nonce || AES-256-GCM(JSON)), single use,
// and bound to method, target, arguments, user and expiry. Faults of signed tokens
// write base64url(JSON) "." base64url(HMAC-SHA256).
//
// Time is an argument; randomness is that of internal/lab.
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
const modern = "2026-07-28"

var legacies = []string{"2025-11-25", "2025-06-18", "2025-03-26"}

// Older is the name of no fault: the server does not know the newest revision.
const Older = "older revisions alone"

// A Clock tells and passes time.
type Clock struct {
	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error
}

// A Server is one instance.
type Server struct {
	// Users requires the credentials "Bearer alice" or "Bearer bob" over HTTP.
	Users bool
	// Secret is the key of the tokens; instances that share it accept those of
	// each other.
	Secret []byte
	Clock  Clock
	// Runs counts the tools that ran to their end.
	Runs atomic.Int64

	booked   atomic.Int64 // totals
	polluted atomic.Bool  // every request has a "jsonrpc", with a fault

	faults []string
	mu     sync.Mutex
	// reading is held while a body is read, with a fault.
	reading sync.Mutex

	used   map[string]bool    // tokens that were redeemed
	held   map[string]claims  // states behind handles
	count  int                // of handles and sessions
	live   map[string]session // by id
	waits  map[string]chan map[string]any
	users  map[string]string          // by connection
	events []event                    // of all sessions
	said   map[string]string          // texts of questions by call, with a fault
	hidden map[string]json.RawMessage // ids of requests in bodies by connection, with a fault
	grown  int                        // more tools that are listed
	last   string                     // the id of the session that ended last
	dead   bool
	late   bool // a request that is not in flight was cancelled
}

// Elsewhere is a credential of alice for another server.
const Elsewhere = "alice-elsewhere"

// TTL is the time to live of a token.
const TTL = 10 * time.Second

// New returns a server with faults, which are names of Faults.
func New(clock Clock, faults ...string) *Server {
	return &Server{Clock: clock, Secret: random(32), faults: faults, used: map[string]bool{}, held: map[string]claims{},
		live: map[string]session{}, waits: map[string]chan map[string]any{}, users: map[string]string{}, said: map[string]string{}, hidden: map[string]json.RawMessage{}}
}

func random(n int) []byte {
	b := make([]byte, n)
	lab.Random(b)
	return b
}

// Repair takes every fault away.
func (s *Server) Repair() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// Forget is a restart of a sound server that draws its key when it starts.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Secret, s.used, s.live = random(32), map[string]bool{}, map[string]session{}
}

// Restart starts a server that ended. It forgets what the server keeps in memory,
// and with a fault its key.
func (s *Server) Restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dead = false
	if s.has("used tokens forgotten") {
		s.used = map[string]bool{}
	}
	if s.has("a key for each process") {
		s.Secret = random(32)
	}
}

// has reports whether the server is broken in one of some ways.
func (s *Server) has(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(s.faults, n) })
}
