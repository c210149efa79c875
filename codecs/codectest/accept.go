package codectest

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
)

// FastPath holds the reading of claims in one pass to the reading with a parser,
// for claims that a scheme mints, whole and with one byte changed. The function
// open returns the claims of a state in a context, and a function that reports
// whether either reading accepts other claims in that context.
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
