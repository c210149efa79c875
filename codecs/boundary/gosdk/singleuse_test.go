package gosdk_test

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/boundary"
	"sealab/codecs/claims"
	"sealab/codecs/hmacsha256"
)

func TestSingleUse(t *testing.T) {
	store, err := boundary.NewMemory(100, 100)
	require.NoError(t, err)
	for _, c := range calls {
		b := newBench(t, boundary.Policy{Store: store})
		first, second := b.mint(c), b.mint(c)
		for _, token := range []string{first, second} {
			c.token = token
			_, err := b.call(c)
			require.NoError(t, err, "two tokens of one state are two tokens")
			require.Equal(t, "a state", b.seen[len(b.seen)-1])
			_, err = b.call(c)
			requireRefused(t, err)
			require.Contains(t, b.log.String(), "used before")
		}
	}
}

// TestReuseWithoutAStore is the control of TestSingleUse: without a store, the
// token is accepted again.
func TestReuseWithoutAStore(t *testing.T) {
	b := newBench(t, boundary.Policy{})
	c := calls[0]
	c.token = b.mint(c)
	for range 3 {
		_, err := b.call(c)
		require.NoError(t, err)
	}
}

// TestSpellingsShareOneUse presents a token in several encodings to a scheme
// that accepts them.
func TestSpellingsShareOneUse(t *testing.T) {
	store, err := boundary.NewMemory(100, 100)
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

// lenient is an unprotected scheme that accepts white space after its tokens.
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

// TestRefusedTokensAreNotUsedUp first presents a token that is refused for
// another reason.
func TestRefusedTokensAreNotUsedUp(t *testing.T) {
	store, err := boundary.NewMemory(100, 100)
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

// TestTokensMintedWithoutAStore checks that tokens without an ID are refused,
// even under a scheme that accepts any state as its own token.
func TestTokensMintedWithoutAStore(t *testing.T) {
	store, err := boundary.NewMemory(100, 100)
	require.NoError(t, err)
	for _, state := range []string{"a state", "AAAAAAAAAAAAAAAAAAAAA!.x", "once1", "once1.x", "once1." + strings.Repeat("A", 31) + "!.x", "once1." + strings.Repeat("A", 32) + "x",
		"once1." + strings.Repeat("A", 32), "once2." + strings.Repeat("A", 32) + ".x"} {
		b := newBench(t, boundary.Policy{Scheme: lenient{}, TTL: time.Minute, Store: store})
		c := calls[0]
		c.token = state
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

// TestLateStoreRefuses checks that the boundary stops waiting for a store that
// ignores its context.
func TestLateStoreRefuses(t *testing.T) {
	answer := make(chan struct{})
	defer close(answer)
	b := newBench(t, boundary.Policy{StoreTimeout: time.Millisecond, Store: storeFunc(func() (bool, error) { <-answer; return true, nil })})
	c := calls[0]
	c.token = b.mint(c)
	_, err := b.call(c)
	requireRefused(t, err)
	require.Contains(t, b.log.String(), `"reason":"timeout"`)
}

type storeFunc func() (bool, error)

func (f storeFunc) Spend(context.Context, boundary.Use) (bool, error) {
	return f()
}

// TestRecordsOutliveTheirTokens presents a token repeatedly during its hour of
// life to a server with the same ring and store but a shorter TTL.
func TestRecordsOutliveTheirTokens(t *testing.T) {
	store, err := boundary.NewMemory(100, 100)
	require.NoError(t, err)
	c := calls[0]
	c.token = newBench(t, boundary.Policy{Store: store, TTL: time.Hour}).mint(c)
	b := newBench(t, boundary.Policy{Store: store, TTL: time.Minute})
	accepted := 0
	for ; b.now.Before(noon.Add(2 * time.Hour)); b.now = b.now.Add(time.Minute) {
		if _, err := b.call(c); err == nil {
			accepted++
		}
	}
	require.Equal(t, 1, accepted)
}

// TestSteppingClocks presents a token while the clock jumps ahead and back by
// various steps. Other tokens are used in between.
func TestSteppingClocks(t *testing.T) {
	for _, step := range []time.Duration{time.Minute, 2 * time.Minute, 5 * time.Minute, 12 * time.Minute, time.Hour, 24 * time.Hour} {
		store, err := boundary.NewMemory(100, 100)
		require.NoError(t, err)
		b := newBench(t, boundary.Policy{Store: store})
		c, other := calls[0], calls[0]
		c.token = b.mint(c)
		_, err = b.call(c)
		require.NoError(t, err)
		for _, at := range []time.Duration{step, 0, -step, 0, 5 * time.Minute, step, 9 * time.Minute} {
			b.now = noon.Add(at)
			other.token = b.mint(other)
			if _, err := b.call(other); at > 0 && at < step {
				require.NoError(t, err, "a token minted after the step of %v is taken", step)
			}
			_, err = b.call(c)
			requireRefused(t, err)
		}
		for at := range 40 {
			b.now = noon.Add(time.Duration(at) * time.Minute)
			_, err := b.call(c)
			requireRefused(t, err)
		}
	}
}

// TestNumberedAndUnnumberedTokens exchanges tokens between servers with and
// without a store, under a scheme that binds the audience and one that binds no
// context.
func TestNumberedAndUnnumberedTokens(t *testing.T) {
	store, err := boundary.NewMemory(100, 100)
	require.NoError(t, err)
	for name, p := range map[string]boundary.Policy{"bound": {}, "unbound": {Scheme: lenient{}}} {
		t.Run(name, func(t *testing.T) {
			single := p
			single.Store = store
			if p.Scheme != nil {
				single.TTL = time.Minute
			}
			with, without := newBench(t, single), newBench(t, p)
			c := calls[0]
			c.token = with.mint(c)
			_, err := without.call(c)
			requireRefused(t, err)
			for _, state := range []string{"AAAAAAAAAAAAAAAAAAAAAA.role=admin", "once1.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA.role=admin"} {
				without.next = askWith(state)
				res, err := without.call(calls[0])
				if err != nil {
					requireFault(t, err)
					require.Contains(t, without.log.String(), "as the states of single-use tokens do")
					continue
				}
				c.token = tokenOf(res)
				_, err = with.call(c)
				requireRefused(t, err)
			}
		})
	}
}

// TestNumberedStatesOfOtherServers mints a numbered state on a server of
// another SDK that lets its client choose the state. The audience differs.
func TestNumberedStatesOfOtherServers(t *testing.T) {
	store, err := boundary.NewMemory(100, 100)
	require.NoError(t, err)
	codec, err := hmacsha256.New(secret(1))
	require.NoError(t, err)
	scheme, err := claims.New(codec, time.Minute)
	require.NoError(t, err)
	b := newBench(t, boundary.Policy{Scheme: scheme, TTL: time.Minute, Store: store})
	audience, c := service, calls[2]
	number := binary.BigEndian.AppendUint64(make([]byte, 16), uint64(noon.Add(time.Hour).Unix()))
	state := "once1." + base64.RawURLEncoding.EncodeToString(number) + ".forged"
	for name, want := range map[string]bool{audience: false, audience + " (single use)": true} {
		token, err := scheme.Mint(nil, []byte(state), &codecs.Context{Now: noon, Method: c.method, Target: c.target, Audience: &name})
		require.NoError(t, err)
		c.token = string(token)
		_, err = b.call(c)
		require.Equal(t, want, err == nil, name)
	}
}

// TestOneClientCannotFillTheStore uses tokens of mallory until the store
// refuses them, and then one of alice.
func TestOneClientCannotFillTheStore(t *testing.T) {
	store, err := boundary.NewMemory(200, 20)
	require.NoError(t, err)
	b := newBench(t, boundary.Policy{Store: store})
	c := calls[0]
	c.user = &auth.TokenInfo{UserID: "mallory"}
	for i := range 200 {
		c.token = b.mint(c)
		_, err := b.call(c)
		require.Equal(t, i < 20, err == nil)
	}
	require.Contains(t, b.log.String(), "as many tokens as it may")
	c.user = alice
	c.token = b.mint(c)
	_, err = b.call(c)
	require.NoError(t, err)
}
