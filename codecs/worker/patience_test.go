package worker_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/worker"
	"sealab/internal/testenv"
)

// late answers "trigger" after an interrupt, and uses no processor time until
// then.
func late() {
	woken := make(chan os.Signal, 1)
	signal.Notify(woken, os.Interrupt)
	respond(`{"ok":false,"unsupported":true}`, func() {
		<-woken
		fmt.Println(`{"ok":true,"payload_b64":"YWJj"}`)
	})
}

// A rush makes the first deadlines pass at once while it is armed. It calls
// then for the next deadline, which does not pass.
type rush struct {
	armed  atomic.Bool
	passed atomic.Int64
	first  int64
	then   func()
}

func (r *rush) afterFunc(_ time.Duration, f func()) worker.Timer {
	d := time.Hour
	if r.armed.Load() {
		if r.passed.Add(1) <= r.first {
			d = 0
		} else {
			r.then()
		}
	}
	return time.AfterFunc(d, f)
}

// TestPatience checks that an idle process gets Patience times its deadline,
// and no more.
func TestPatience(t *testing.T) {
	for _, row := range []struct {
		passes int64
		hung   bool
	}{{2, false}, {3, false}, {4, true}} {
		process := &os.Process{}
		deadlines := &rush{first: row.passes}
		deadlines.then = func() { process.Signal(os.Interrupt) } //nolint:errcheck // if it fails, a deadline ends the test
		client := dial(t, "late", worker.Limits{Patience: 4, AfterFunc: deadlines.afterFunc})
		if _, err := client.Work(); errors.Is(err, codecs.ErrUnsupported) {
			testenv.Skip(t, "%s", err)
		}
		remote, err := client.Design().NewCodec(codecs.Config{Secrets: secrets()})
		require.NoError(t, err)
		process, err = os.FindProcess(pid(t, remote))
		require.NoError(t, err)
		deadlines.armed.Store(true)
		out, err := remote.Unseal(nil, []byte("trigger"))
		deadlines.armed.Store(false)
		if row.hung {
			require.Equal(t, worker.Hung, requireFault(t, client, err).Kind)
			require.EqualValues(t, 4, deadlines.passed.Load())
			continue
		}
		require.NoError(t, err)
		require.Equal(t, "abc", string(out))
		require.Empty(t, client.Events())
	}
}

// TestWorkIsTold reads the processor time of a process that reads a long line.
func TestWorkIsTold(t *testing.T) {
	client, codec := dialCodec(t, "codec", worker.Limits{})
	before, err := client.Work()
	if errors.Is(err, codecs.ErrUnsupported) {
		testenv.Skip(t, "%s", err)
	}
	require.NoError(t, err)
	_, err = codec.Unseal(nil, bytes.Repeat([]byte("A"), 1<<20))
	require.NotNil(t, codecs.Rejected(err), "%v", err)
	after, err := client.Work()
	require.NoError(t, err)
	require.Greater(t, after, before)
	require.NoError(t, client.Close())
	_, err = client.Work()
	require.ErrorIs(t, err, codecs.ErrFault)
}

// TestShortNameOfALongState checks that an answer may be as long as the longest
// request so far: a server that keeps states returns them for a short name.
func TestShortNameOfALongState(t *testing.T) {
	client, remote := dialCodec(t, "long-answer", worker.Limits{})
	_, err := remote.Unseal(nil, []byte("trigger"))
	require.Equal(t, worker.Flooded, requireFault(t, client, err).Kind)
	_, err = remote.Seal(nil, make([]byte, 1<<20))
	require.ErrorIs(t, err, codecs.ErrUnsupported)
	out, err := remote.Unseal(nil, []byte("trigger"))
	require.NoError(t, err)
	require.Len(t, out, 3<<20)
}
