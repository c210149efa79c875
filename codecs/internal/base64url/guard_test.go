//go:build unix

package base64url

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestReadsAndWritesNothingElse encodes and decodes at the beginning and at the end of a page whose
// neighbors can be neither read nor written. An access outside of the slices ends the test.
func TestReadsAndWritesNothingElse(t *testing.T) {
	source, target := guardedPage(t), guardedPage(t)
	eachCoder(t, func(t *testing.T, c coder) {
		for n := 1; n < 300; n++ {
			bytes := randomBytes(n)
			text := appendEncode(c, nil, bytes)
			for _, atEnd := range []bool{false, true} {
				from := place(source, n, atEnd)
				copy(from, bytes)
				require.Equal(t, text, appendEncode(c, place(target, len(text), atEnd)[:0], from))

				from = place(source, len(text), atEnd)
				copy(from, text)
				got, ok := appendDecode(c, place(target, n, atEnd)[:0], from)
				require.True(t, ok)
				require.Equal(t, bytes, got)
			}
		}
	})
}

// place returns n bytes at the beginning or at the end of page.
func place(page []byte, n int, atEnd bool) []byte {
	if atEnd {
		page = page[len(page)-n:]
	}
	return page[:n:n]
}

// guardedPage returns one page of memory between two pages without access.
func guardedPage(t *testing.T) []byte {
	t.Helper()
	size := os.Getpagesize()
	pages, err := unix.Mmap(-1, 0, 3*size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, unix.Munmap(pages)) })
	require.NoError(t, unix.Mprotect(pages[:size], unix.PROT_NONE))
	require.NoError(t, unix.Mprotect(pages[2*size:], unix.PROT_NONE))
	return pages[size : 2*size : 2*size]
}
