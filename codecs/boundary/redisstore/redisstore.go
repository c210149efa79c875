// Package redisstore remembers used tokens on Redis or Valkey, for a fleet whose
// tokens are single-use.
//
// A use is one SET with NX and PX, so that the server decides which presentation
// is the first. Keys:
//
//	prefix "use:" hex(ID)                        1, until two minutes after Use.Until
//	prefix "quota:" hex(principal) ":" window    first uses of a principal in a window
//
// # Faults
//
// If Redis cannot be reached or answers an error, the token is refused; it may
// be used up. The same holds if the clocks of Redis and of the server differ by
// more than two minutes, because Redis forgets by its own clock. Set
// ContextTimeoutEnabled in the options of the client: without it a call that the
// boundary has given up holds its connection until the client's own time limit.
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
	"errors"
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
	// requests without a principal are one principal. Tokens that are presented
	// again do not count. 0: no limit.
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

// New returns a store on the server or cluster of client: a redis.Client or a
// redis.ClusterClient. A redis.Ring is refused, because it moves keys when a server
// fails and so forgets uses.
func New(client redis.UniversalClient, o Options) (*Store, error) {
	switch client.(type) {
	case *redis.Client, *redis.ClusterClient:
	default:
		return nil, fmt.Errorf("redisstore: a client of type %T: want one of a server or of a cluster", client)
	}
	if o.Prefix == "" {
		o.Prefix = "sealab:"
	}
	if o.Window == 0 {
		o.Window = 15 * time.Minute
	}
	switch {
	case o.Quota < 0:
		return nil, fmt.Errorf("redisstore: a quota of %d tokens: want a positive number", o.Quota)
	case o.Window < time.Second:
		return nil, fmt.Errorf("redisstore: a window of %v: want a second at least", o.Window)
	case o.Replicas < 0:
		return nil, fmt.Errorf("redisstore: %d replicas: want a positive number", o.Replicas)
	}
	return &Store{client, o}, nil
}

// replication is how long a use may take to reach its replicas.
const replication = 500 * time.Millisecond

// maxSkew is how far the clocks of the server and of Redis may differ.
const maxSkew = 2 * time.Minute

// Spend implements boundary.Store.
func (s *Store) Spend(ctx context.Context, u boundary.Use) (first bool, err error) {
	quota := ""
	if s.options.Quota > 0 {
		window := u.Now.UnixMilli() / s.options.Window.Milliseconds()
		quota = s.options.Prefix + "quota:" + hex.EncodeToString(u.Principal[:]) + ":" + strconv.FormatInt(window, 10)
		used, err := s.client.Get(ctx, quota).Int64()
		switch {
		case err != nil && !errors.Is(err, redis.Nil):
			return false, fmt.Errorf("redis: %w", err)
		case used >= s.options.Quota:
			return false, boundary.ErrQuota
		}
	}
	if first, err = s.record(ctx, u); err != nil || !first || quota == "" {
		return first, err
	}
	return s.count(ctx, quota)
}

// record sets the key of a use on the server that has it.
func (s *Store) record(ctx context.Context, u boundary.Use) (first bool, err error) {
	key := s.options.Prefix + "use:" + hex.EncodeToString(u.ID[:])
	server, err := s.server(ctx, key)
	if err != nil {
		return false, fmt.Errorf("redis: %w", err)
	}
	var clock *redis.TimeCmd
	var set *redis.BoolCmd
	var received *redis.Cmd
	_, err = server.Pipelined(ctx, func(p redis.Pipeliner) error {
		clock = p.Time(ctx)
		set = p.SetNX(ctx, key, 1, max(u.Until.Sub(u.Now), 0)+maxSkew)
		if s.options.Replicas > 0 {
			received = p.Do(ctx, "WAIT", s.options.Replicas, replication.Milliseconds())
		}
		return nil
	})
	switch {
	case err != nil:
		if cluster, ok := s.client.(*redis.ClusterClient); ok {
			cluster.ReloadState(ctx) // the key may have moved
		}
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

// server returns the server that has a key. TIME and WAIT have none: a cluster would
// send them to any server, and WAIT speaks of the writes of its own connection.
func (s *Store) server(ctx context.Context, key string) (*redis.Client, error) {
	if cluster, ok := s.client.(*redis.ClusterClient); ok {
		return cluster.MasterForKey(ctx, key)
	}
	return s.client.(*redis.Client), nil
}

// count counts a first use, and refuses one beyond the quota: uses at the same time
// have all found room before.
func (s *Store) count(ctx context.Context, key string) (bool, error) {
	var uses *redis.IntCmd
	_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		uses = p.Incr(ctx, key)
		p.PExpire(ctx, key, s.options.Window)
		return nil
	})
	switch {
	case err != nil:
		return false, fmt.Errorf("redis: %w", err)
	case uses.Val() > s.options.Quota:
		return false, boundary.ErrQuota
	}
	return true, nil
}
