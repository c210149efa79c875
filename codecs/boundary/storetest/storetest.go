// Package storetest is the conformance suite of stores of used tokens. It also
// starts the servers that the tests of stores need.
package storetest

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs/boundary"
)

// Fresh returns a use of a new token at the current time.
func Fresh(seed uint64) boundary.Use {
	var u boundary.Use
	binary.BigEndian.PutUint64(u.ID[:], seed)
	binary.BigEndian.PutUint64(u.ID[8:], rand.Uint64())
	u.Now = time.Now()
	u.Until = u.Now.Add(10 * time.Minute)
	return u
}

// Run checks that a store keeps its contract. open returns a store on the same
// server; a quota of 0 means no quota.
func Run(t *testing.T, open func(t *testing.T, quota int) boundary.Store) {
	t.Run("Once", func(t *testing.T) { once(t, open(t, 0), open(t, 0)) })
	t.Run("Race", func(t *testing.T) { Race(t, []boundary.Store{open(t, 0), open(t, 0)}, 20, 20) })
	t.Run("Quota", func(t *testing.T) { quota(t, open(t, 5)) })
	t.Run("Canceled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		first, err := open(t, 0).Spend(ctx, Fresh(1))
		require.Error(t, err)
		require.False(t, first)
	})
}

// once uses a token on one store and then on both.
func once(t *testing.T, one, two boundary.Store) {
	ctx := context.Background()
	u := Fresh(2)
	first, err := one.Spend(ctx, u)
	require.NoError(t, err)
	require.True(t, first)
	for _, s := range []boundary.Store{one, two} {
		first, err = s.Spend(ctx, u)
		require.NoError(t, err)
		require.False(t, first)
	}
	other := u
	other.ID[15]++
	first, err = two.Spend(ctx, other)
	require.NoError(t, err)
	require.True(t, first)
}

// Faults uses a token, kills the server and starts it again. It checks that the
// store refuses tokens while the server is down, and that the used token stays
// used. It returns the use of a token that was presented while the server was
// down.
func Faults(t *testing.T, server *Server, store boundary.Store) (refused boundary.Use) {
	t.Helper()
	ctx := context.Background()
	used, refused := Fresh(1), Fresh(2)
	first, err := store.Spend(ctx, used)
	require.NoError(t, err)
	require.True(t, first)
	server.Kill(t)
	for _, u := range []boundary.Use{used, refused} {
		first, err = store.Spend(ctx, u)
		require.Error(t, err)
		require.False(t, first)
	}
	server.Start(t)
	recovered := func() bool { first, err = store.Spend(ctx, used); return err == nil }
	require.Eventually(t, recovered, 30*time.Second, 10*time.Millisecond)
	require.False(t, first, "the use was lost in the restart")
	return refused
}

// Race presents each token several times concurrently, to all stores in turn.
// It checks that exactly one use of each token is the first.
func Race(t *testing.T, stores []boundary.Store, tokens, presentations int) {
	t.Helper()
	uses := make([]boundary.Use, tokens)
	for i := range uses {
		uses[i] = Fresh(uint64(i))
	}
	const workers = 16
	var next, firsts, failed atomic.Int64
	taken := make([]atomic.Int64, tokens)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= tokens*presentations {
					return
				}
				first, err := stores[(w+i)%len(stores)].Spend(context.Background(), uses[i/presentations])
				switch {
				case err != nil:
					failed.Add(1)
				case first:
					firsts.Add(1)
					taken[i/presentations].Add(1)
				}
			}
		})
	}
	all.Wait()
	require.Zero(t, failed.Load(), "failed calls")
	for i := range taken {
		require.EqualValues(t, 1, taken[i].Load(), "token %d", i)
	}
	t.Logf("%d presentations of %d tokens: %d accepted", tokens*presentations, tokens, firsts.Load())
}

// quota uses more than 5 tokens of one principal, and then one of another.
func quota(t *testing.T, s boundary.Store) {
	ctx := context.Background()
	mallory, alice := Fresh(3).ID, Fresh(4).ID
	for i := range uint64(10) {
		u := Fresh(i)
		u.Principal = mallory
		first, err := s.Spend(ctx, u)
		require.Equal(t, i < 5, first, "use %d", i)
		if i >= 5 {
			require.ErrorIs(t, err, boundary.ErrQuota)
		}
		for again := 0; i == 0 && again < 5; again++ { // does not count
			first, err := s.Spend(ctx, u)
			require.NoError(t, err)
			require.False(t, first)
		}
	}
	u := Fresh(5)
	u.Principal = alice
	first, err := s.Spend(ctx, u)
	require.NoError(t, err)
	require.True(t, first)
}
