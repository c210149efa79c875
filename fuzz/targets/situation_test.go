package targets

import (
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/program"
)

// TestReadResource holds that a request without arguments gets none: no design
// that binds arguments promises to see those.
func TestReadResource(t *testing.T) {
	made := home
	made.Method = readResource
	for where := range byte(places) {
		for how := range byte(128) {
			read := made.change(program.New([]byte{where, how}))
			if read.Method == readResource {
				require.Empty(t, read.Arguments, "%d, %d", where, how)
			}
		}
	}
}
