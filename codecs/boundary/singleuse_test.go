package boundary_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/boundary"
)

func TestSingleUse(t *testing.T) {
	store, err := boundary.NewMemory(100)
	require.NoError(t, err)
	for _, c := range calls {
		b := newBench(t, boundary.Policy{Store: store})
		first, second := b.mint(c), b.mint(c)
		for _, c.token = range []string{first, second} {
			_, err := b.call(c)
			require.NoError(t, err, "two tokens of one state are two tokens")
			require.Equal(t, "a state", b.seen[len(b.seen)-1])
			_, err = b.call(c)
			requireRefused(t, err)
			require.Contains(t, b.log.String(), "used before")
		}
	}
}

// TestReuseWithoutAStore is the control: what TestSingleUse refuses is
// otherwise accepted.
func TestReuseWithoutAStore(t *testing.T) {
	b := newBench(t, boundary.Policy{})
	c := calls[0]
	c.token = b.mint(c)
	for range 3 {
		_, err := b.call(c)
		require.NoError(t, err)
	}
}

// TestSpellingsShareOneUse presents one token in other spellings of a scheme
// that takes them.
func TestSpellingsShareOneUse(t *testing.T) {
	store, err := boundary.NewMemory(100)
	require.NoError(t, err)
	b := newBench(t, boundary.Policy{Scheme: lenient{}, TTL: time.Minute, Store: store})
	c := calls[0]
	token := b.mint(c)
	for i, spelling := range []string{token, token + " ", token + "\n\n"} {
		c.token = spelling
		_, err := b.call(c)
		if i == 0 {
			require.NoError(t, err)
		} else {
			requireRefused(t, err)
		}
	}
}

// lenient is a scheme without any protection that takes white space after its
// tokens.
type lenient struct{}

func (lenient) Mint(dst, state []byte, _ *codecs.Context) ([]byte, error) {
	return append(dst, state...), nil
}

func (lenient) Verify(dst, token []byte, _ *codecs.Context) ([]byte, error) {
	for len(token) > 0 && (token[len(token)-1] == ' ' || token[len(token)-1] == '\n') {
		token = token[:len(token)-1]
	}
	return append(dst, token...), nil
}

// TestRefusedTokensAreNotUsedUp refuses a token for another reason first.
func TestRefusedTokensAreNotUsedUp(t *testing.T) {
	store, err := boundary.NewMemory(100)
	require.NoError(t, err)
	b := newBench(t, boundary.Policy{Store: store})
	c := calls[0]
	c.token = b.mint(c)
	wrong := c
	wrong.user = alice
	_, err = b.call(wrong)
	requireRefused(t, err)
	require.Zero(t, store.Len())
	_, err = b.call(c)
	require.NoError(t, err)
}

// TestTokensMintedWithoutAStore have no ID to use up.
func TestTokensMintedWithoutAStore(t *testing.T) {
	store, err := boundary.NewMemory(100)
	require.NoError(t, err)
	for _, state := range []string{"a state", "", "AAAAAAAAAAAAAAAAAAAAA!.x", "short.x", "AAAAAAAAAAAAAAAAAAAAAB.x"} {
		plain := newBench(t, boundary.Policy{})
		plain.next = askWith(state + " ")
		c := calls[0]
		c.token = plain.mint(c)
		b := newBench(t, boundary.Policy{Store: store})
		_, err := b.call(c)
		requireRefused(t, err)
		require.Contains(t, b.log.String(), "not a single-use token")
	}
}

func TestFailingStoreRefuses(t *testing.T) {
	for name, store := range map[string]storeFunc{
		"fails":  func() (bool, error) { return true, errors.New("connection refused") },
		"panics": func() (bool, error) { panic("store") },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, boundary.Policy{Store: store})
			c := calls[0]
			c.token = b.mint(c)
			_, err := b.call(c)
			requireRefused(t, err)
		})
	}
}

type storeFunc func() (bool, error)

func (f storeFunc) Spend(context.Context, boundary.ID, time.Time, time.Time) (bool, error) {
	return f()
}

func TestMemoryIsBounded(t *testing.T) {
	const limit = 10
	m, err := boundary.NewMemory(limit)
	require.NoError(t, err)
	ctx := context.Background()
	for i := range limit {
		first, err := m.Spend(ctx, boundary.ID{byte(i)}, noon, noon.Add(time.Duration(limit-i)*time.Second))
		require.NoError(t, err)
		require.True(t, first)
	}
	_, err = m.Spend(ctx, boundary.ID{limit}, noon, noon.Add(time.Hour))
	require.ErrorContains(t, err, "full")
	first, err := m.Spend(ctx, boundary.ID{0}, noon, noon.Add(time.Hour))
	require.NoError(t, err)
	require.False(t, first, "what was used stays used while the store is full")

	first, err = m.Spend(ctx, boundary.ID{limit}, noon.Add(2*time.Second), noon.Add(time.Hour))
	require.NoError(t, err, "records that expired make room")
	require.True(t, first)
	require.Equal(t, limit-1, m.Len())
}

// TestMemoryCountsOneUse races many presentations of one token.
func TestMemoryCountsOneUse(t *testing.T) {
	m, err := boundary.NewMemory(10)
	require.NoError(t, err)
	var firsts atomic.Int32
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if first, err := m.Spend(context.Background(), boundary.ID{1}, noon, noon.Add(time.Hour)); first && err == nil {
				firsts.Add(1)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 1, firsts.Load())
}
