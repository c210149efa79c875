package worker_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/worker"
	"sealab/internal/lab"
)

// impatient answers one request at a time, and exits if another is already
// waiting.
func impatient() {
	in := bufio.NewReaderSize(os.Stdin, 1<<16)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		switch {
		case strings.Contains(line, `"hello"`):
			fmt.Println(`{"ok":true,"protocol":1,"name":"impatient","version":"1","kind":"codec","abilities":[],"guarantees":{}}`)
		case strings.Contains(line, `"open"`):
			fmt.Println(`{"ok":true,"handle":1}`)
		case strings.Contains(line, `"unseal"`) && in.Buffered() > 0:
			os.Exit(3)
		case strings.Contains(line, `"unseal"`):
			fmt.Println(`{"ok":true,"payload_b64":"YWJj"}`)
		default:
			fmt.Println(`{"ok":false,"unsupported":true}`)
		}
	}
}

// TestWorkerThatWantsOneRequestAtATime checks that a worker may refuse several
// requests in flight. After it exits, it gets one request at a time, and no
// event is recorded.
func TestWorkerThatWantsOneRequestAtATime(t *testing.T) {
	c, remote := dialCodec(t, "impatient", worker.Limits{})
	for range 2 {
		verdicts, err := remote.(lab.BatchCodec).UnsealAll(bytes.Fields([]byte("a b c d")))
		require.NoError(t, err)
		require.Len(t, verdicts, 4)
		for _, v := range verdicts {
			require.Equal(t, lab.Answer{Payload: []byte("abc")}, v)
		}
	}
	require.Empty(t, c.Events())
}

// TestManyInFlight makes and judges more tokens than inFlight, and tokens
// longer than the buffer of a pipe.
func TestManyInFlight(t *testing.T) {
	for n, size := range map[int]int{300: 3, 130: 20_000} {
		_, remote := dialCodec(t, "codec", worker.Limits{})
		payloads := make([][]byte, n)
		for i := range payloads {
			payloads[i] = fmt.Appendf(nil, "%d%s", i, strings.Repeat("x", size))
		}
		sealed, err := remote.(lab.Sealer).SealAll(payloads, nil)
		require.NoError(t, err)
		require.Len(t, sealed, n)
		for i, a := range sealed {
			require.NoError(t, a.Err)
			got, err := remote.Unseal(nil, a.Payload)
			require.NoError(t, err)
			require.Equal(t, payloads[i], got)
		}
	}
}

// TestManyMinted mints each state in a context of its own. A context that the
// protocol cannot carry is an error of its token only.
func TestManyMinted(t *testing.T) {
	remote, err := dial(t, "scheme", worker.Limits{}).Design().NewScheme(codecs.Config{Secrets: secrets(), Options: map[string]string{"style": "plain"}})
	require.NoError(t, err)
	contexts := make([]*codecs.Context, 5)
	for i := range contexts {
		contexts[i] = &codecs.Context{Now: time.Unix(int64(i), 0), Method: fmt.Sprint("m", i), Principal: new("alice"), Audience: new("")}
	}
	contexts[3].Method = "\xff"
	sealed, err := remote.(lab.Sealer).SealAll(bytes.Fields([]byte("a b c d e")), contexts)
	require.NoError(t, err)
	for i, a := range sealed {
		if i == 3 {
			require.ErrorIs(t, a.Err, codecs.ErrUnsupported)
			continue
		}
		require.Contains(t, string(a.Payload), fmt.Sprintf(`m%d`, i))
	}
}

// witness verifies tokens: the state is the token and the method. It refuses
// "refused", exits at "fatal", and exits at "weary" if the next request is
// already waiting.
func witness() {
	in := bufio.NewReaderSize(os.Stdin, 1<<16)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var ask struct {
			Op, Token string
			Binding   struct{ Method string }
		}
		if err := json.Unmarshal(line, &ask); err != nil {
			os.Exit(2)
		}
		switch {
		case ask.Op == "hello":
			fmt.Println(`{"ok":true,"protocol":1,"name":"witness","version":"1","kind":"scheme","abilities":["clock"],"guarantees":{}}`)
		case ask.Op == "open":
			fmt.Println(`{"ok":true,"handle":1}`)
		case ask.Op != "verify":
			fmt.Println(`{"ok":false,"unsupported":true}`)
		case ask.Token == "fatal", ask.Token == "weary" && in.Buffered() > 0:
			os.Exit(3)
		case ask.Token == "refused":
			fmt.Printf(`{"ok":false,"rejected":"misbound","reason":"%s"}`+"\n", ask.Binding.Method)
		default:
			fmt.Printf(`{"ok":true,"state_b64":"%s"}`+"\n", base64.RawURLEncoding.EncodeToString([]byte(ask.Token+" "+ask.Binding.Method)))
		}
	}
}

// verifyEach verifies tokens. The method of their contexts is m0, m1 and so on.
func verifyEach(t *testing.T, tokens string) (*worker.Client, []lab.Answer, error) {
	t.Helper()
	c := dial(t, "witness", worker.Limits{})
	remote, err := c.Design().NewScheme(codecs.Config{Secrets: secrets()})
	require.NoError(t, err)
	texts := bytes.Fields([]byte(tokens))
	contexts := make([]*codecs.Context, len(texts))
	for i := range contexts {
		contexts[i] = &codecs.Context{Now: time.Unix(int64(i), 0), Method: fmt.Sprint("m", i)}
	}
	answers, err := remote.(lab.Verifier).VerifyEach(texts, contexts)
	return c, answers, err
}

// TestVerifyEach checks that each token gets its own answer, even if the worker
// exits between two answers.
func TestVerifyEach(t *testing.T) {
	for _, tokens := range []string{"a b refused d a f refused h", "a b refused weary a f refused weary", "weary b refused", "a", ""} {
		t.Run(tokens, func(t *testing.T) {
			c, answers, err := verifyEach(t, tokens)
			require.NoError(t, err)
			var want, got []string
			for i, token := range strings.Fields(tokens) {
				want = append(want, fmt.Sprintf("%s m%d", token, i))
			}
			for _, a := range answers {
				if r := codecs.Rejected(a.Err); r != nil {
					require.Equal(t, codecs.Misbound, r.Stage)
					got = append(got, "refused "+r.Reason)
					continue
				}
				require.NoError(t, a.Err)
				got = append(got, string(a.Payload))
			}
			require.Equal(t, want, got)
			require.Empty(t, c.Events())
		})
	}
}

// TestVerifyEachMeetsItsEnd checks that a token on which the worker exits is a
// fault, that its event holds the token, and that no answers are returned.
func TestVerifyEachMeetsItsEnd(t *testing.T) {
	c, answers, err := verifyEach(t, "a b fatal d")
	require.ErrorIs(t, err, codecs.ErrFault)
	require.Nil(t, answers)
	events := c.Events()
	require.Len(t, events, 1)
	require.Equal(t, worker.Died, events[0].Kind)
	require.Contains(t, string(events[0].Input), `"fatal"`)
}
