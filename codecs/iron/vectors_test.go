package iron_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/iron"
	"sealab/internal/lab"
)

// TestPublished opens a token from the tests of hapi's iron
// (github.com/hapijs/iron, test/index.js), which has no expiry.
func TestPublished(t *testing.T) {
	const (
		password = "some_not_random_password_that_is_also_long_enough"
		token    = "Fe26.2**0cdd607945dd1dffb7da0b0bf5f1a7daa6218cbae14cac51dcbd91fb077aeb5b*aOZLCKLhCt0D5IU1qLTtYw*g0ilNDlQ3TsdFUqJCqAm9iL7Wa60H7eYcHL_5oP136TOJREkS3BzheDC1dlxz5oJ**05b8943049af490e913bbc3a2485bee2aaf7b823f4c41d0ff0b7c168371a3772*R8yscVdTBRMdsoVbdDiFmUL8zb-c3PQLGJn4Y8C-AqI"
	)
	for reading, accepted := range map[string]bool{"sdk": true, "strict": false} {
		in, err := lab.Open(iron.Design, codecs.Config{Secrets: [][]byte{[]byte(password)}, Options: map[string]string{"reading": reading, "payload": "json"}})
		require.NoError(t, err)
		state, err := in.Unseal(nil, []byte(token), &codecs.Context{Now: time.Unix(1, 0)})
		require.Equal(t, accepted, err == nil, "%v", err)
		if accepted {
			require.Equal(t, `{"a":1,"b":2,"c":[3,4,5],"d":{"e":"f"}}`, string(state))
		}
	}
}
