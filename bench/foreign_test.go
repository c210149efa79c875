package bench_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/bench"
	"sealab/codecs/catalog"
	"sealab/codecs/worker"
	"sealab/internal/runfile"
)

// workerVariable is the environment variable that makes the test binary serve a design.
const workerVariable = "SEALAB_TEST_SERVES"

func TestMain(m *testing.M) {
	name := os.Getenv(workerVariable)
	if name == "" {
		os.Exit(m.Run())
	}
	d, err := catalog.Find(name)
	if err == nil {
		s := worker.Server{Design: d, Version: "1", Clock: time.Now}
		err = s.Serve(os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

// TestForeignSubjects measures a codec and a scheme in workers. The worker times sealing and unsealing,
// and allocations are not counted.
func TestForeignSubjects(t *testing.T) {
	firstOfKind := map[bool]string{}
	for _, d := range catalog.All() {
		if firstOfKind[d.IsScheme()] == "" {
			firstOfKind[d.IsScheme()] = d.Name
		}
	}
	require.Len(t, firstOfKind, 2)
	for _, name := range firstOfKind {
		t.Run(name, func(t *testing.T) {
			self, err := os.Executable()
			require.NoError(t, err)
			c, err := worker.Dial(worker.Command{Args: []string{self}, Env: []string{workerVariable + "=" + name, "GORACE=atexit_sleep_ms=0"}}, worker.Limits{})
			require.NoError(t, err)
			defer c.Close()
			result, err := bench.Run(context.Background(), []bench.Subject{bench.FromWorker(c, name, 0)}, tiny)
			require.NoError(t, err)
			require.Equal(t, runfile.RoleSDK, result.Subjects[0].Role)
			ops := map[runfile.Op]int{}
			for _, m := range result.Measurements {
				ops[m.Op]++
				require.Positive(t, m.NsPerOp)
				require.Positive(t, m.TokenSize)
				require.False(t, m.Counted)
			}
			require.Equal(t, map[runfile.Op]int{runfile.Seal: tiny.Rounds, runfile.Unseal: tiny.Rounds}, ops)
			require.Empty(t, c.Events())
		})
	}
}
