package redisstore_test

import (
	"context"
	"flag"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
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

// store returns a store with valid options.
func store(t *testing.T, c redis.UniversalClient, o redisstore.Options) *redisstore.Store {
	t.Helper()
	s, err := redisstore.New(c, o)
	require.NoError(t, err)
	return s
}

func TestStore(t *testing.T) {
	server := storetest.Redis(t)
	storetest.Run(t, func(t *testing.T, quota int) boundary.Store {
		return store(t, client(t, server), redisstore.Options{Quota: int64(quota)})
	})
	t.Run("Presentations", func(t *testing.T) {
		stores := []boundary.Store{store(t, client(t, server), redisstore.Options{}), store(t, client(t, server), redisstore.Options{})}
		storetest.Race(t, stores, *tokens, 20)
	})
	t.Run("Expiry", func(t *testing.T) {
		c := client(t, server)
		u := storetest.Fresh(1)
		_, err := store(t, c, redisstore.Options{Prefix: "expiry:"}).Spend(context.Background(), u)
		require.NoError(t, err)
		keys, err := c.Keys(context.Background(), "expiry:*").Result()
		require.NoError(t, err)
		require.Len(t, keys, 1)
		left, err := c.PTTL(context.Background(), keys[0]).Result()
		require.NoError(t, err)
		require.InDelta(t, 12*time.Minute, left, float64(30*time.Second))
	})
	t.Run("Clocks", func(t *testing.T) {
		for _, step := range []time.Duration{-time.Hour, -3 * time.Minute, 3 * time.Minute, time.Hour} {
			u := storetest.Fresh(2)
			u.Now, u.Until = u.Now.Add(step), u.Until.Add(step)
			_, err := store(t, client(t, server), redisstore.Options{}).Spend(context.Background(), u)
			require.ErrorIs(t, err, boundary.ErrClock, "%v", step)
		}
	})
	t.Run("Replicas", func(t *testing.T) {
		first, err := store(t, client(t, server), redisstore.Options{Replicas: 1}).Spend(context.Background(), storetest.Fresh(3))
		require.ErrorContains(t, err, "too few replicas")
		require.False(t, first)
	})
}

// TestFaults runs the suite of faults. It then uses the token that was refused
// while Redis was down.
func TestFaults(t *testing.T) {
	server := storetest.Redis(t)
	s := store(t, client(t, server), redisstore.Options{})
	first, err := s.Spend(context.Background(), storetest.Faults(t, server, s))
	require.NoError(t, err)
	require.True(t, first)
}

// TestFullStore fills the memory of Redis. Further uses are refused, and no
// record is evicted.
func TestFullStore(t *testing.T) {
	server := storetest.Redis(t)
	c := client(t, server)
	s := store(t, c, redisstore.Options{})
	used := storetest.Fresh(1)
	_, err := s.Spend(context.Background(), used)
	require.NoError(t, err)
	require.NoError(t, c.ConfigSet(context.Background(), "maxmemory", "1mb").Err())
	first, err := s.Spend(context.Background(), storetest.Fresh(2))
	require.Error(t, err)
	require.False(t, first)
	require.NoError(t, c.ConfigSet(context.Background(), "maxmemory", "64mb").Err())
	first, err = s.Spend(context.Background(), used)
	require.NoError(t, err)
	require.False(t, first)
}

// cluster returns the client of a cluster of two servers, each with half of the
// slots.
func cluster(t *testing.T, servers [2]*storetest.Server) *redis.ClusterClient {
	t.Helper()
	at := map[string]string{"first:1": servers[0].Socket, "second:1": servers[1].Socket}
	c := redis.NewClusterClient(&redis.ClusterOptions{
		MaxRedirects: -1,
		ClusterSlots: func(context.Context) ([]redis.ClusterSlot, error) {
			return []redis.ClusterSlot{
				{Start: 0, End: 8191, Nodes: []redis.ClusterNode{{Addr: "first:1"}}},
				{Start: 8192, End: 16383, Nodes: []redis.ClusterNode{{Addr: "second:1"}}},
			}, nil
		},
		Dialer: func(ctx context.Context, _, addr string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", at[addr])
		},
	})
	t.Cleanup(func() { c.Close() })
	return c
}

// TestCluster checks that TIME and WAIT go to the server that holds the key of
// a use.
func TestCluster(t *testing.T) {
	servers := [2]*storetest.Server{storetest.Redis(t), storetest.Redis(t)}
	ctx, c := context.Background(), cluster(t, servers)
	s, waiting := store(t, c, redisstore.Options{Quota: 100}), store(t, c, redisstore.Options{Replicas: 1})
	var waits sync.WaitGroup // for half a second each
	for i := range uint64(20) {
		u := storetest.Fresh(i)
		for _, want := range []bool{true, false} {
			first, err := s.Spend(ctx, u)
			require.NoError(t, err)
			require.Equal(t, want, first)
		}
		waits.Go(func() {
			_, err := waiting.Spend(ctx, storetest.Fresh(100+i))
			assert.ErrorContains(t, err, "too few replicas")
		})
	}
	waits.Wait()
	for _, server := range servers {
		stats, err := client(t, server).Info(ctx, "commandstats").Result()
		require.NoError(t, err)
		calls := func(command string) string {
			_, rest, _ := strings.Cut(stats, "cmdstat_"+command+":calls=")
			n, _, _ := strings.Cut(rest, ",")
			return n
		}
		require.NotEmpty(t, calls("wait"))
		require.Equal(t, calls("set"), calls("time"))
	}
}

func TestOptions(t *testing.T) {
	c := redis.NewClient(&redis.Options{})
	defer c.Close()
	for _, o := range []redisstore.Options{{Quota: -1}, {Window: time.Millisecond}, {Replicas: -1}} {
		_, err := redisstore.New(c, o)
		require.Error(t, err, "%+v", o)
	}
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"a": "localhost:1"}})
	defer ring.Close()
	_, err := redisstore.New(ring, redisstore.Options{})
	require.ErrorContains(t, err, "*redis.Ring")
}
