package codectest

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/internal/lab"
	"sealab/internal/testenv"
)

// testAllocations checks that a design does not allocate when dst has room, nor
// when it refuses a forged tag. Designs whose row says why they allocate must do
// so. A scheme whose states come back as other bytes is not held to it.
func testAllocations(t *testing.T, s subject) {
	if s.IsScheme() && !s.holds(codecs.ByteExact) {
		return // the state is printed again from a tree
	}
	if testenv.Race() {
		testenv.Skip(t, "the race detector allocates; make test runs this part without it as well")
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

// otherLetter returns a letter other than c, so that the token stays base64url: the
// standard library allocates an error for text that is not.
func otherLetter(c byte) byte {
	if c == 'A' {
		return 'B'
	}
	return 'A'
}

// requireNoAllocation allows for the rare refill of a pool after a collection.
func requireNoAllocation(t *testing.T, op string, size int, call func()) {
	t.Helper()
	require.Less(t, testing.AllocsPerRun(200, call), 1.0, "%s of %d bytes", op, size)
}
