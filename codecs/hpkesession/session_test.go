package hpkesession

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/hpkekeys"
	"sealab/internal/lab"
)

var noon = time.Unix(1_795_132_800, 0)

func mustNew(t *testing.T, clock func() time.Time) *Codec {
	t.Helper()
	c, err := New(clock, bytes.Repeat([]byte("k3"), codecs.MinSecret/2))
	require.NoError(t, err)
	return c
}

func mustSeal(t *testing.T, c *Codec) []byte {
	t.Helper()
	token, err := c.Seal(nil, []byte("payload"))
	require.NoError(t, err)
	return token
}

// encOf returns the encapsulation in a token, in hexadecimal.
func encOf(t *testing.T, token []byte) string {
	t.Helper()
	_, raw, err := base64url.Parse(x25519.prefix, x25519.minRaw(), token)
	require.NoError(t, err)
	return hex.EncodeToString(raw[idSize:x25519.headSize()])
}

// kept counts the sessions in the cache.
func (c *cache) kept() (n int) {
	for i := range c {
		for j := range c[i].ways {
			if c[i].ways[j].Load() != nil {
				n++
			}
		}
	}
	return n
}

func TestCountBoundsSession(t *testing.T) {
	c := mustNew(t, nil)
	require.EqualValues(t, 1<<20, c.current.maxTokens)
	c.current.maxTokens = 3
	var encs []string
	for range 7 {
		encs = append(encs, encOf(t, mustSeal(t, c)))
	}
	for i, enc := range encs {
		require.Equal(t, encs[i/3*3], enc, "token %d", i)
	}
	require.NotEqual(t, encs[0], encs[3])
	require.NotEqual(t, encs[3], encs[6])
}

func TestAgeBoundsSession(t *testing.T) {
	now := noon
	c := mustNew(t, func() time.Time { return now })
	first := encOf(t, mustSeal(t, c))
	now = noon.Add(maxAge)
	require.Equal(t, first, encOf(t, mustSeal(t, c)), "at the age of maxAge")
	now = noon.Add(maxAge + 1)
	second := encOf(t, mustSeal(t, c))
	require.NotEqual(t, first, second, "past maxAge")
	now = noon
	require.NotEqual(t, second, encOf(t, mustSeal(t, c)), "after the clock was set back")
}

// TestCountHoldsUnderConcurrency checks that goroutines cannot draw more tokens
// from a session than its limit.
func TestCountHoldsUnderConcurrency(t *testing.T) {
	c := mustNew(t, nil)
	c.current.maxTokens = 10
	var running sync.WaitGroup
	drawn := make(chan *session, 400)
	for range 8 {
		running.Go(func() {
			for range 50 {
				if s, err := c.current.session(); err == nil {
					drawn <- s
				}
			}
		})
	}
	running.Wait()
	close(drawn)
	count := map[*session]int{}
	for s := range drawn {
		count[s]++
	}
	require.Len(t, count, 40)
	for _, n := range count {
		require.Equal(t, 10, n)
	}
}

// TestOvertakenReadingKeepsSession lets another goroutine set up a session
// after one has read the clock and before it uses the reading. The session is
// younger than the reading although the clock was not set back.
func TestOvertakenReadingKeepsSession(t *testing.T) {
	var c *Codec
	var other *session
	readings := 0
	c = mustNew(t, func() time.Time {
		readings++
		at := noon.Add(time.Duration(readings))
		if readings == 1 {
			var err error
			other, err = c.current.session()
			require.NoError(t, err)
		}
		return at
	})
	s, err := c.current.session()
	require.NoError(t, err)
	require.Same(t, other, s)
}

// TestFloodLeavesNoTrace checks that forgeries with encapsulations of their own
// do not change the cache, and that the context of a verified token is cached
// once.
func TestFloodLeavesNoTrace(t *testing.T) {
	c := mustNew(t, nil)
	token := mustSeal(t, c)
	_, err := c.Unseal(nil, token)
	require.NoError(t, err)
	require.Equal(t, 1, c.known.kept())
	_, raw, err := base64url.Parse(x25519.prefix, x25519.minRaw(), token)
	require.NoError(t, err)
	s := c.known.get(c.ring.First().Key, raw[idSize:x25519.headSize()])
	require.NotNil(t, s)

	for i := range 2000 {
		forged := bytes.Clone(raw)
		binary.LittleEndian.PutUint32(forged[idSize:], uint32(i))
		binary.LittleEndian.PutUint32(forged[idSize+4:], uint32(i))
		_, err := c.Unseal(nil, append([]byte(x25519.prefix), base64url.AppendEncode(nil, forged)...))
		require.NotNil(t, codecs.Rejected(err))
	}
	require.Equal(t, 1, c.known.kept())
	require.Same(t, s, c.known.get(c.ring.First().Key, raw[idSize:x25519.headSize()]))

	for range 3 {
		_, err = c.Unseal(nil, token)
		require.NoError(t, err)
	}
	require.Equal(t, 1, c.known.kept())
}

// TestCacheIsBounded verifies tokens of more sessions than the cache holds.
// Every token must still open, including those of evicted sessions.
func TestCacheIsBounded(t *testing.T) {
	c := mustNew(t, nil)
	seed := make([]byte, assembler{c}.SeedSize())
	var tokens [][]byte
	for i := range 3000 {
		binary.LittleEndian.PutUint32(seed, uint32(i))
		token, err := assembler{c}.SealSeeded(nil, seed, []byte("payload"))
		require.NoError(t, err)
		tokens = append(tokens, token)
		_, err = c.Unseal(nil, token)
		require.NoError(t, err)
	}
	kept := c.known.kept()
	require.LessOrEqual(t, kept, sets*ways)
	require.Greater(t, kept, sets*ways*9/10, "the encapsulations do not spread over the sets")
	for _, token := range tokens[:100] {
		_, err := c.Unseal(nil, token)
		require.NoError(t, err)
	}
}

// TestDisplacesTheOldest puts five sessions into one set of four.
func TestDisplacesTheOldest(t *testing.T) {
	var c cache
	k := &ringKey{}
	var all []*session
	for i := range ways + 1 {
		s := &session{enc: make([]byte, hpkekeys.EncSize), key: k}
		s.enc[31] = byte(i)
		all = append(all, s)
		c.put(s)
		c.put(s)
	}
	require.Nil(t, c.get(k, all[0].enc))
	for _, s := range all[1:] {
		require.Same(t, s, c.get(k, s.enc))
	}
	require.Nil(t, c.get(&ringKey{}, all[1].enc[:]), "the session of another ring key")
}

// TestSharedEncapsulationOfTwoKeys opens tokens with the same encapsulation
// under two ring keys. The cache must distinguish them.
func TestSharedEncapsulationOfTwoKeys(t *testing.T) {
	a, b := bytes.Repeat([]byte("k3"), 16), bytes.Repeat([]byte("k4"), 16)
	one, err := New(nil, a, b)
	require.NoError(t, err)
	two, err := New(nil, b, a)
	require.NoError(t, err)
	seed := make([]byte, assembler{one}.SeedSize())
	first, err := assembler{one}.SealSeeded(nil, seed, []byte("first"))
	require.NoError(t, err)
	second, err := assembler{two}.SealSeeded(nil, seed, []byte("second"))
	require.NoError(t, err)
	require.Equal(t, encOf(t, first), encOf(t, second))
	for range 2 {
		got, err := one.Unseal(nil, first)
		require.NoError(t, err)
		require.Equal(t, "first", string(got))
		got, err = one.Unseal(nil, second)
		require.NoError(t, err)
		require.Equal(t, "second", string(got))
	}
}

// TestEncapsulationSpelledOtherwise seals an authentic token under an
// encapsulation whose unused bit is set. It is presented before and after its
// canonical twin.
func TestEncapsulationSpelledOtherwise(t *testing.T) {
	c := mustNew(t, nil)
	sealed := func(step lab.Step, change func([]byte)) []byte {
		token, err := assembler{c}.SealEdited(nil, make([]byte, assembler{c}.SeedSize()), []byte("payload"), func(at lab.Step, value []byte) []byte {
			if at == step {
				change(value)
			}
			return value
		})
		require.NoError(t, err)
		return token
	}
	topBit := func(enc []byte) { enc[hpkekeys.EncSize-1] |= 0x80 }
	requireStage(t, c, sealed(lab.StepEnc, topBit), codecs.Malformed)
	requireStage(t, c, sealed(lab.WireEnc, func(enc []byte) { clear(enc) }), codecs.Unauthentic)
	_, err := c.Unseal(nil, sealed(lab.StepEnc, func([]byte) {}))
	require.NoError(t, err)
	requireStage(t, c, sealed(lab.WireEnc, topBit), codecs.Malformed)
}

func requireStage(t *testing.T, c *Codec, token []byte, want codecs.Stage) {
	t.Helper()
	_, err := c.Unseal(nil, token)
	refused := codecs.Rejected(err)
	require.NotNil(t, refused, "want a refusal, got %v", err)
	require.Equal(t, want, refused.Stage)
}

// TestShortestToken truncates the token of an empty payload by one byte, so
// that the tag does not fit.
func TestShortestToken(t *testing.T) {
	c := mustNew(t, nil)
	token, err := c.Seal(nil, nil)
	require.NoError(t, err)
	_, raw, err := base64url.Parse(x25519.prefix, x25519.minRaw(), token)
	require.NoError(t, err)
	require.Len(t, raw, x25519.minRaw())
	requireStage(t, c, base64url.AppendEncode([]byte(x25519.prefix), raw[:x25519.minRaw()-1]), codecs.Malformed)
	_, err = c.Unseal(nil, token)
	require.NoError(t, err)
}
