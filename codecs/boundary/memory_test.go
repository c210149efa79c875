package boundary

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var noon = time.Unix(1_795_164_472, 0)

func use(id byte, now, until time.Time) Use { return Use{ID: ID{id}, Now: now, Until: until} }

func TestMemoryIsBounded(t *testing.T) {
	const limit = 10
	m, err := NewMemory(limit, limit)
	require.NoError(t, err)
	ctx := context.Background()
	for i := range limit {
		first, err := m.Spend(ctx, use(byte(i), noon, noon.Add(time.Duration(limit-i)*time.Second)))
		require.NoError(t, err)
		require.True(t, first)
	}
	_, err = m.Spend(ctx, use(limit, noon, noon.Add(time.Hour)))
	require.ErrorContains(t, err, "full")
	first, err := m.Spend(ctx, use(0, noon, noon.Add(time.Hour)))
	require.NoError(t, err)
	require.False(t, first, "what was used stays used while the store is full")

	first, err = m.Spend(ctx, use(limit, noon.Add(2*time.Second), noon.Add(time.Hour)))
	require.NoError(t, err, "records that expired make room")
	require.True(t, first)
	require.Equal(t, limit-1, m.Len())
}

// TestMemoryCountsOneUse races many presentations of one token.
func TestMemoryCountsOneUse(t *testing.T) {
	m, err := NewMemory(10, 10)
	require.NoError(t, err)
	var firsts atomic.Int32
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if first, err := m.Spend(context.Background(), use(1, noon, noon.Add(time.Hour))); first && err == nil {
				firsts.Add(1)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 1, firsts.Load())
}
