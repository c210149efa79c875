package redisstore_test

import (
	"context"
	"flag"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"sealab/codecs/boundary"
	"sealab/codecs/boundary/redisstore"
	"sealab/codecs/boundary/storetest"
)

var tokens = flag.Int("tokens", 200, "tokens that are presented 20 times each")

func client(t *testing.T, s *storetest.Server) redis.UniversalClient {
	t.Helper()
	c := redis.NewClient(&redis.Options{Network: "unix", Addr: s.Socket, MaxRetries: -1, DialerRetries: 1})
	t.Cleanup(func() { c.Close() })
	return c
}

func TestStore(t *testing.T) {
	server := storetest.Redis(t)
	storetest.Run(t, func(t *testing.T, quota int) boundary.Store {
		return redisstore.New(client(t, server), redisstore.Options{Quota: int64(quota)})
	})
	t.Run("Presentations", func(t *testing.T) {
		stores := []boundary.Store{redisstore.New(client(t, server), redisstore.Options{}), redisstore.New(client(t, server), redisstore.Options{})}
		storetest.Race(t, stores, *tokens, 20)
	})
	t.Run("Expiry", func(t *testing.T) {
		c := client(t, server)
		u := storetest.Fresh(1)
		_, err := redisstore.New(c, redisstore.Options{Prefix: "expiry:"}).Spend(context.Background(), u)
		require.NoError(t, err)
		keys, err := c.Keys(context.Background(), "expiry:*").Result()
		require.NoError(t, err)
		require.Len(t, keys, 1)
		left, err := c.PTTL(context.Background(), keys[0]).Result()
		require.NoError(t, err)
		require.InDelta(t, 10*time.Minute, left, float64(30*time.Second))
	})
	t.Run("Clocks", func(t *testing.T) {
		for _, step := range []time.Duration{-time.Hour, -3 * time.Minute, 3 * time.Minute, time.Hour} {
			u := storetest.Fresh(2)
			u.Now, u.Until = u.Now.Add(step), u.Until.Add(step)
			_, err := redisstore.New(client(t, server), redisstore.Options{}).Spend(context.Background(), u)
			require.ErrorIs(t, err, boundary.ErrClock, "%v", step)
		}
	})
	t.Run("Replicas", func(t *testing.T) {
		first, err := redisstore.New(client(t, server), redisstore.Options{Replicas: 1}).Spend(context.Background(), storetest.Fresh(3))
		require.ErrorContains(t, err, "too few replicas")
		require.False(t, first)
	})
}

// TestFaults also uses a token that was refused while Redis was down.
func TestFaults(t *testing.T) {
	server := storetest.Redis(t)
	store := redisstore.New(client(t, server), redisstore.Options{})
	first, err := store.Spend(context.Background(), storetest.Faults(t, server, store))
	require.NoError(t, err)
	require.True(t, first)
}

// TestFullStore fills Redis up to its memory: uses are refused, and none is
// forgotten to make room.
func TestFullStore(t *testing.T) {
	server := storetest.Redis(t)
	c := client(t, server)
	store := redisstore.New(c, redisstore.Options{})
	used := storetest.Fresh(1)
	_, err := store.Spend(context.Background(), used)
	require.NoError(t, err)
	require.NoError(t, c.ConfigSet(context.Background(), "maxmemory", "1mb").Err())
	first, err := store.Spend(context.Background(), storetest.Fresh(2))
	require.Error(t, err)
	require.False(t, first)
	require.NoError(t, c.ConfigSet(context.Background(), "maxmemory", "64mb").Err())
	first, err = store.Spend(context.Background(), used)
	require.NoError(t, err)
	require.False(t, first)
}
