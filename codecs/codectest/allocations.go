package codectest

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/internal/lab"
	"sealab/internal/testenv"
)

// testAllocations checks that a design does not allocate if dst has room, nor
// when it refuses a forged tag. If the row states why a design allocates, it
// must allocate. A scheme whose states are not byte-exact is exempt.
func testAllocations(t *testing.T, s subject) {
	if s.IsScheme() && !s.holds(codecs.ByteExact) {
		return // the state is printed from a tree
	}
	if testenv.Race() {
		testenv.Skip(t, "the race detector allocates; make matrices runs this part without it")
	}
	c := s.codec(t)
	hooks := lab.HooksOf(s.Design)
	if testenv.PureGo() && hooks.AllocatesInGo != "" {
		testenv.Skip(t, "%s: %s", s.Name, hooks.AllocatesInGo)
	}
	if why := hooks.Allocates; why != "" {
		token := mustSeal(t, c, nil)
		wrong := bytes.Clone(token)
		wrong[len(wrong)-8] = otherLetter(wrong[len(wrong)-8])
		room := make([]byte, 0, 2*len(token))
		require.GreaterOrEqual(t, testing.AllocsPerRun(10, func() {
			c.Seal(room, nil)
			c.Unseal(room, token)
			c.Unseal(room, wrong)
		}), 1.0, "the row says: %s", why)
		return
	}
	for _, n := range []int{0, 64, 1024, 64 << 10} {
		payload := jsonText(n)
		token := mustSeal(t, c, payload)
		forToken, forPayload := make([]byte, 0, len(token)), make([]byte, 0, len(payload))
		requireNoAllocation(t, "seal", n, func() { c.Seal(forToken, payload) })
		requireNoAllocation(t, "unseal", n, func() { c.Unseal(forPayload, token) })
		token[len(token)-8] = otherLetter(token[len(token)-8])
		requireNoAllocation(t, "refuse", n, func() { c.Unseal(forPayload, token) })
	}
}

// otherLetter returns a letter other than c, so that the token stays base64url.
// The standard library would allocate an error for other text.
func otherLetter(c byte) byte {
	if c == 'A' {
		return 'B'
	}
	return 'A'
}

// requireNoAllocation checks that call does not allocate. It tolerates the rare
// refill of a pool after a garbage collection.
func requireNoAllocation(t *testing.T, op string, size int, call func()) {
	t.Helper()
	require.Less(t, testing.AllocsPerRun(200, call), 1.0, "%s of %d bytes", op, size)
}

// FastPath checks that the fast path of a scheme agrees with its parser, on
// claims that it mints and on claims with one byte changed. open returns the
// claims of a state in a context, and a function that reports whether the fast
// path and the parser accept claims in that context.
func FastPath(t *testing.T, open func(t *testing.T, state []byte, c *codecs.Context) (minted []byte, answers func(claims []byte) (fast, slow bool))) {
	alice, quoted := "alice", `a"é</`
	random := rand.New(rand.NewPCG(1, 2))
	changed := 0
	for _, c := range []codecs.Context{
		{},
		{Method: "tools/call", Target: "deploy", Principal: &alice},
		{Method: "prompts/get", Target: quoted, Principal: &quoted, Audience: &alice, Arguments: json.RawMessage(`{"b":[1.50],"a":"x"}`)},
	} {
		c.Now = time.Unix(1795164472, 250_000_000)
		for _, state := range []string{"", "plain", `{"step":1,"text":"a \"b\" \\ </é 😀"}`, "\x00\x1f\x7f\n"} {
			minted, answers := open(t, []byte(state), &c)
			fast, slow := answers(minted)
			require.True(t, fast && slow, "%q", minted)
			for range 500 {
				claims := bytes.Clone(minted)
				claims[random.IntN(len(claims))] = "\x00 \"\\,:{}019.eEnu/\xc3"[random.IntN(18)]
				if fast, slow := answers(claims); fast || slow {
					require.Equal(t, slow, fast, "%q", claims)
					changed++
				}
			}
		}
	}
	require.NotZero(t, changed, "no changed claims were accepted")
}
