package worker_test

import (
	"bufio"
	"bytes"
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

// impatient answers one request at a time, and ends if the next one is there already.
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

// TestWorkerThatWantsOneRequestAtATime shows that a worker need not take several requests
// in flight: if it breaks, it gets one request at a time from then on, without an event.
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

// TestManyInFlight makes and judges more tokens than are in flight at once, and longer
// ones than a pipe holds.
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

// TestManyMinted mints each state in its own context. A context that cannot cross is an
// error of its token alone.
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
