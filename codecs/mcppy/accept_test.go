package mcppy

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
)

// requireSameAnswer checks that accept agrees with parse, isCanonical and
// check. Only accept refuses times that are integers. It reports whether the
// payload is accepted.
func requireSameAnswer(t *testing.T, payload []byte, c *codecs.Context) bool {
	t.Helper()
	work := room{payload: payload}
	state, fast := work.accept(nil, c)
	r, refused := parse(payload)
	slow := refused == nil && r.isCanonical(payload) && r.check(c, unixSeconds(c.Now)) == nil
	if fast {
		require.True(t, slow, "%q", payload)
		require.Equal(t, string(r.state.Text), string(state))
	}
	if slow && bytes.Contains(r.issued.Text, []byte(".")) && bytes.Contains(r.expires.Text, []byte(".")) {
		require.True(t, fast, "%q", payload)
	}
	return fast
}

// contexts returns the contexts that tests mint and verify in. Every claim
// differs between some two of them. The last three have a name that is not
// text, so they serve only to verify. Each differs from the one before them in
// a byte that U+FFFD could replace. text is the number of the others.
func contexts() (all []codecs.Context, text int) {
	alice, empty, svc, replaced, broken := "alice", "", `s"é`, "\ufffd", "\xff"
	base := codecs.Context{Now: time.Unix(1795164472, 250_000_000), Method: "tools/call", Target: "deploy"}
	with := func(change func(*codecs.Context)) codecs.Context {
		c := base
		change(&c)
		return c
	}
	all = []codecs.Context{
		base,
		with(func(c *codecs.Context) { c.Principal = &alice }),
		with(func(c *codecs.Context) { c.Principal, c.Audience = &empty, &svc }),
		with(func(c *codecs.Context) { c.Audience = &empty }),
		with(func(c *codecs.Context) { c.Method = "\xed\xa0\x80\n" }),
		with(func(c *codecs.Context) { c.Target = `"},"` }),
		with(func(c *codecs.Context) { c.Arguments = json.RawMessage(`{"b":[1.50,"\u00e9"],"a":null}`) }),
		with(func(c *codecs.Context) { c.Now = c.Now.Add(-61 * time.Second) }),
		with(func(c *codecs.Context) { c.Now = c.Now.Add(defaultTTL) }),
		with(func(c *codecs.Context) { c.Method, c.Target, c.Audience = replaced, replaced, &replaced }),
		with(func(c *codecs.Context) { c.Method, c.Target, c.Audience = broken, replaced, &replaced }),
		with(func(c *codecs.Context) { c.Method, c.Target, c.Audience = replaced, broken, &replaced }),
		with(func(c *codecs.Context) { c.Method, c.Target, c.Audience = replaced, replaced, &broken }),
	}
	return all, len(all) - 3
}

var states = []string{"", "plain", `{"step":1,"text":"a \"b\" \\ é 😀"}`, "\x00\x1f\x7f\n", "\xed\xa0\x80", string(bytes.Repeat([]byte("0123456789"), 100))}

// TestAcceptAnswersAsCheck presents every payload that Mint writes in every
// context, unchanged and with one byte changed.
func TestAcceptAnswersAsCheck(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	all, text := contexts()
	accepted, changed := 0, 0
	for i := range all {
		for _, state := range states {
			var work room
			err := work.claim(defaultTTL, salt{1}, []byte(state), &all[i])
			if i >= text {
				require.ErrorIs(t, err, codecs.ErrUnsupported)
				continue
			}
			require.NoError(t, err)
			require.True(t, requireSameAnswer(t, work.payload, &all[i]), "%q", work.payload)
			for j := range all {
				if requireSameAnswer(t, work.payload, &all[j]) {
					accepted++
				}
			}
			for range 200 {
				payload := bytes.Clone(work.payload)
				payload[random.IntN(len(payload))] = "\x00 \"\\,:{}019.eEnu\xc3"[random.IntN(17)]
				if requireSameAnswer(t, payload, &all[i]) {
					changed++
				}
			}
		}
	}
	require.GreaterOrEqual(t, accepted, text*len(states))
	require.NotZero(t, changed, "no changed state was accepted")
}

// FuzzAccept compares accept with the slow path for arbitrary payloads.
func FuzzAccept(f *testing.F) {
	all, text := contexts()
	for i := range text {
		var work room
		if err := work.claim(defaultTTL, salt{1}, []byte(states[i%len(states)]), &all[i]); err != nil {
			f.Fatal(err)
		}
		f.Add(work.payload, i)
	}
	f.Fuzz(func(t *testing.T, payload []byte, i int) {
		requireSameAnswer(t, payload, &all[uint(i)%uint(len(all))])
	})
}
