package draw

import (
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/program"
)

// TestReadResource requires contexts of resources/read to have no arguments.
func TestReadResource(t *testing.T) {
	made := Context
	made.Method = readResource
	for where := range byte(Places) {
		for how := range byte(128) {
			read := ChangeContext(program.New([]byte{where, how}), made)
			if read.Method == readResource {
				require.Empty(t, read.Arguments, "%d, %d", where, how)
			}
		}
	}
}
