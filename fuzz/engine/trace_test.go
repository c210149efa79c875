package engine

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

const stack = `goroutine 35 [running]:
runtime/debug.Stack()
	/go/src/runtime/debug/stack.go:26 +0x5e
panic({0x5f1a60?, 0xc00001e1b0?})
	/go/src/runtime/panic.go:783 +0x132
sealab/codecs/x.(*parser[...]).value(0xc0000a, 0x3)
	/src/codecs/x/parse.go:40 +0x1d
sealab/codecs/x.(*parser[...]).value(0xc0000b, 0x4)
	/src/codecs/x/parse.go:44 +0x1d
sealab/codecs/x.Open.func1.2()
	/src/codecs/x/open.go:12 +0x1d
sealab/fuzz/campaign/harness.observe(0x1, {0x2, 0x3, 0x4})
	/src/fuzz/harness/failure.go:40 +0x1d
sealab/codecs/x_test.FuzzOpen(0x1)
	/src/codecs/x_test.go:1 +0x1d

goroutine 1 [chan receive]:
main.main()
`

func TestFrames(t *testing.T) {
	require.Equal(t, []string{"sealab/codecs/x.(*parser).value", "sealab/codecs/x.Open"}, Frames(stack, "sealab/fuzz/campaign/harness.observe("))
	require.Empty(t, Frames("", "main."))
}

// TestFramesOfToolchain parses a stack trace of this toolchain.
func TestFramesOfToolchain(t *testing.T) {
	var trace string
	var nested generator[int]
	nested.call(func() { trace = string(debug.Stack()) })
	require.Equal(t, []string{"sealab/fuzz/engine.TestFramesOfToolchain", "sealab/fuzz/engine.(*generator).call", "sealab/fuzz/engine.TestFramesOfToolchain"},
		Frames(trace, "testing.tRunner("), "%s", trace)
}

type generator[T any] struct{ _ T }

//go:noinline
func (g *generator[T]) call(f func()) { f() }

func TestGoroutineOf(t *testing.T) {
	require.Equal(t, "goroutine 2\nmain.b()", GoroutineOf("goroutine 1\nmain.a()\n\ngoroutine 2\nmain.b()", "main.b("))
	require.Equal(t, "goroutine 1", GoroutineOf("goroutine 1", "main.b("))
}

func TestReason(t *testing.T) {
	require.Equal(t, "fatal error: all goroutines are asleep", Reason("noise\nfatal error: all goroutines are asleep\nSIGABRT: abort\n"))
	require.Empty(t, Reason("noise"))
	require.True(t, OutOfMemory("runtime/cgo: pthread_create failed: Resource temporarily unavailable"))
	require.False(t, OutOfMemory(stack))
}
