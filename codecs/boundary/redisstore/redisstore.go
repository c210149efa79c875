// Package redisstore records used tokens on Redis or Valkey, for a fleet with
// single-use tokens.
//
// A use is one SET with NX and PX, so that the Redis server decides which
// presentation is the first. Keys:
//
//	prefix "use:" hex(ID)                        1, until two minutes after Use.Until
//	prefix "quota:" hex(principal) ":" window    first uses of a principal in a window
//
// # Faults
//
// If Redis cannot be reached or answers with an error, the token is refused,
// and it may be used up. The same happens if the clocks of Redis and of the
// server differ by more than two minutes, because Redis expires keys by its own
// clock. Set ContextTimeoutEnabled in the options of the client. Otherwise a
// call that the boundary has abandoned holds its connection until the client's
// own timeout.
//
// Redis must keep the records. Disable eviction (maxmemory-policy noeviction):
// when Redis is full, SET then fails and tokens are refused. Never run
// FLUSHALL. A restart without persistence, or a failover to a replica that
// lacks the last writes, loses records. A token whose record is lost can be
// used once more until it expires. If that matters, set appendfsync always, and
// wait for replicas (Options.Replicas).
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
	// Prefix begins every key. "": "sealab:". Servers of one fleet use the
	// same.
	Prefix string
	// Quota is the maximum number of tokens that one principal may use in a
	// window. All requests without a principal count as one principal. Repeated
	// presentations do not count. 0: no limit.
	Quota int64
	// Window is the length of the quota's window. It must be at least the
	// lifetime of a token plus two minutes. 0: 15 minutes.
	Window time.Duration
	// Replicas is the number of replicas that must acknowledge a use before its
	// token is accepted (WAIT). 0: a failover may lose the use.
	Replicas int
}

// Store is a boundary.Store on Redis.
type Store struct {
	client  redis.UniversalClient
	options Options
}

// New returns a store on the server or cluster of client, which must be a
// *redis.Client or a *redis.ClusterClient. A *redis.Ring is refused: it moves
// keys when a server fails, and so loses uses.
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

// replication is the maximum time to wait for replicas.
const replication = 500 * time.Millisecond

// maxSkew is the maximum difference between the clocks of the server and of
// Redis.
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

// record sets the key of a use on the server that holds it.
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

// server returns a client of the server that holds a key. TIME and WAIT carry
// no key: a cluster client would send them to any server, and WAIT covers only
// the writes of its own connection.
func (s *Store) server(ctx context.Context, key string) (*redis.Client, error) {
	if cluster, ok := s.client.(*redis.ClusterClient); ok {
		return cluster.MasterForKey(ctx, key)
	}
	return s.client.(*redis.Client), nil
}

// count counts a first use and refuses it if it exceeds the quota. The check in
// Spend alone would let concurrent uses exceed it.
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
