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

// TestLastVerdict tells the ends of a process apart.
func TestLastVerdict(t *testing.T) {
	for _, c := range []struct {
		lastWords, output string
		kind              Kind
		text              string
	}{
		{"", "", KindMemory, "killed"},
		{hangs + " for 5s\n\n" + stack, "", KindHang, "hangs for 5s"},
		{stack, "fatal error: concurrent map writes", KindFatal, "concurrent map writes"},
		{"panic: elsewhere\n\n" + stack, "", KindFatal, "elsewhere"},
		{stack, "fatal error: runtime: out of memory", KindMemory, "out of memory"},
		{dumped, "runtime/cgo: pthread_create failed: Resource temporarily unavailable", KindMemory, "SIGABRT"},
		{"SIGSEGV: segmentation violation\n\ngoroutine 0 [idle]:\nruntime.(*spanQueue).tryDrain(0x1)\n\n" + stack, "", KindMemory, "SIGSEGV"},
		{"noise", "", KindFatal, "ended"},
	} {
		v := LastVerdict(c.lastWords, c.output)
		require.Equal(t, c.kind, v.Kind, "%q", c.output)
		require.Contains(t, v.Text, c.text)
		require.True(t, v.Kind.Deadly())
	}
	require.Equal(t, []string{"sealab/codecs/x.grow", "sealab/codecs/x.Open"}, Frames(LastVerdict(dumped, "pthread_create failed").Stack))
}

// TestLostVerdict gives every lost input a bucket where there is no stack to
// tell them apart by.
func TestLostVerdict(t *testing.T) {
	require.NotEqual(t, LostVerdict([]byte("a"), "").Bucket, LostVerdict([]byte("b"), "").Bucket)
	require.Equal(t, LostVerdict([]byte("a"), stack).Bucket, LostVerdict([]byte("b"), stack).Bucket)
}
