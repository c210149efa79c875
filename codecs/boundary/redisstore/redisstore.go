// Package redisstore remembers used tokens on Redis or Valkey, for a fleet whose
// tokens are single-use.
//
// A use is one SET with NX and PX, so that the server decides which presentation
// is the first. Keys:
//
//	prefix "use:" hex(ID)                        1, until the token has expired everywhere
//	prefix "quota:" hex(principal) ":" window    uses of a principal in a window
//
// # Faults
//
// If Redis cannot be reached or answers an error, the token is refused; it may
// be used up. The same holds if the clocks of Redis and of the server differ by
// more than two minutes, because Redis forgets by its own clock.
//
// Redis must keep the records: no eviction (maxmemory-policy noeviction; when it
// is full, SET fails and tokens are refused), and no FLUSHALL. A restart without
// persistence, and a failover to a replica that had not received the last
// writes, lose records: the tokens of lost records can be used once more until
// they expire. If that matters, set appendfsync always, and let writes wait
// for replicas (Options.Replicas).
package redisstore

import (
	"context"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"sealab/codecs/boundary"
)

// Options configure a Store. The zero value is useful.
type Options struct {
	// Prefix begins every key. "": "sealab:". Servers of one fleet share it.
	Prefix string
	// Quota is the number of tokens that one principal may use in a window. All
	// requests without a principal are one principal. 0: no limit.
	Quota int64
	// Window is the length of the window of a quota, at least the lifetime of a
	// token and two minutes. 0: 15 minutes.
	Window time.Duration
	// Replicas is the number of replicas that must have received a use before
	// its token is accepted (WAIT). 0: the use may be lost in a failover.
	Replicas int
}

// Store is a boundary.Store on Redis.
type Store struct {
	client  redis.UniversalClient
	options Options
}

// New returns a store on the server or cluster of client.
func New(client redis.UniversalClient, o Options) *Store {
	if o.Prefix == "" {
		o.Prefix = "sealab:"
	}
	if o.Window == 0 {
		o.Window = 15 * time.Minute
	}
	return &Store{client, o}
}

// replication is how long a use may take to reach its replicas.
const replication = 500 * time.Millisecond

// maxSkew is how far the clocks of the server and of Redis may differ.
const maxSkew = 2 * time.Minute

// Spend implements boundary.Store.
func (s *Store) Spend(ctx context.Context, u boundary.Use) (first bool, err error) {
	if s.options.Quota > 0 {
		if err := s.count(ctx, u); err != nil {
			return false, err
		}
	}
	var clock *redis.TimeCmd
	var set *redis.BoolCmd
	var received *redis.Cmd
	_, err = s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		clock = p.Time(ctx)
		set = p.SetNX(ctx, s.options.Prefix+"use:"+hex.EncodeToString(u.ID[:]), 1, max(u.Until.Sub(u.Now), time.Millisecond))
		if s.options.Replicas > 0 {
			received = p.Do(ctx, "WAIT", s.options.Replicas, replication.Milliseconds())
		}
		return nil
	})
	switch {
	case err != nil:
		return false, fmt.Errorf("redis: %w", err)
	case clock.Val().Sub(u.Now).Abs() > maxSkew:
		return false, boundary.ErrClock
	}
	if received != nil {
		if n, err := received.Int(); err != nil || n < s.options.Replicas {
			return false, boundary.Cause("too few replicas have received the use of the token")
		}
	}
	return set.Val(), nil
}

// count refuses a principal that has used up its quota.
func (s *Store) count(ctx context.Context, u boundary.Use) error {
	window := u.Now.UnixMilli() / s.options.Window.Milliseconds()
	key := s.options.Prefix + "quota:" + hex.EncodeToString(u.Principal[:]) + ":" + strconv.FormatInt(window, 10)
	var uses *redis.IntCmd
	_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		uses = p.Incr(ctx, key)
		p.PExpire(ctx, key, s.options.Window)
		return nil
	})
	switch {
	case err != nil:
		return fmt.Errorf("redis: %w", err)
	case uses.Val() > s.options.Quota:
		return boundary.ErrQuota
	}
	return nil
}
