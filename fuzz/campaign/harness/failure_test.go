package harness

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const dumped = `SIGABRT: abort

goroutine 0 [idle]:
runtime.fatal()

goroutine 7 [running]:
sealab/codecs/x.grow()
sealab/codecs/x.Open()
sealab/fuzz/campaign/harness.observe(0x1)
`

// TestDeathFailure checks that the ways in which a process ends are distinguished.
func TestDeathFailure(t *testing.T) {
	for _, c := range []struct {
		crash, output string
		kind          Kind
		text          string
	}{
		{"", "", KindMemory, "killed"},
		{hangText + " for 5s\n\n" + stack, "", KindHang, "hangs for 5s"},
		{stack, "fatal error: concurrent map writes", KindFatal, "concurrent map writes"},
		{"panic: elsewhere\n\n" + stack, "", KindFatal, "elsewhere"},
		{stack, "fatal error: runtime: out of memory", KindMemory, "out of memory"},
		{dumped, "runtime/cgo: pthread_create failed: Resource temporarily unavailable", KindMemory, "SIGABRT"},
		{"SIGSEGV: segmentation violation\n\ngoroutine 0 [idle]:\nruntime.(*spanQueue).tryDrain(0x1)\n\n" + stack, "", KindMemory, "SIGSEGV"},
		{"noise", "", KindFatal, "ended"},
	} {
		v := DeathFailure(c.crash, c.output)
		require.Equal(t, c.kind, v.Kind, "%q", c.output)
		require.Contains(t, v.Text, c.text)
		require.True(t, v.Kind.EndsProcess())
	}
	require.Equal(t, []string{"sealab/codecs/x.grow", "sealab/codecs/x.Open"}, DeathFailure(dumped, "pthread_create failed").Frames())
}

// TestLostFailure checks that lost inputs without a stack have separate buckets.
func TestLostFailure(t *testing.T) {
	require.NotEqual(t, LostFailure([]byte("a"), "").Bucket, LostFailure([]byte("b"), "").Bucket)
	require.Equal(t, LostFailure([]byte("a"), stack).Bucket, LostFailure([]byte("b"), stack).Bucket)
}
