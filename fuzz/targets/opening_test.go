package targets

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/internal/lab"
)

// An unsealing is a codec that opens only.
type unsealing func(dst, token []byte) ([]byte, error)

func (u unsealing) Seal([]byte, []byte) ([]byte, error)      { panic("it opens only") }
func (u unsealing) Unseal(dst, token []byte) ([]byte, error) { return u(dst, token) }

var errForged = codecs.Reject(codecs.Unauthentic, "tag")

// TestOpen tells answers that break the contract from the three that keep it.
func TestOpen(t *testing.T) {
	tests := map[string]struct {
		unseal unsealing
		want   string // in the error; "": no error
	}{
		"accepts":              {func(dst, _ []byte) ([]byte, error) { return append(dst, "state"...), nil }, ""},
		"refuses":              {func(dst, _ []byte) ([]byte, error) { return dst, errForged }, ""},
		"cannot":               {func(dst, _ []byte) ([]byte, error) { return dst, fmt.Errorf("a number: %w", codecs.ErrUnsupported) }, ""},
		"changes the token":    {func(dst, token []byte) ([]byte, error) { token[0]++; return dst, errForged }, "changes the token"},
		"overwrites dst":       {func(_, _ []byte) ([]byte, error) { return []byte("state"), nil }, "overwrites dst"},
		"fails":                {func(dst, _ []byte) ([]byte, error) { return dst, errors.New("no room") }, "without a refusal"},
		"appends and refuses":  {func(dst, _ []byte) ([]byte, error) { return append(dst, 's'), errForged }, "changes dst"},
		"appends and cannot":   {func(dst, _ []byte) ([]byte, error) { return append(dst, 's'), codecs.ErrUnsupported }, "changes dst"},
		"says why it refuses":  {func(dst, _ []byte) ([]byte, error) { return dst, fmt.Errorf("forged: %w", errForged) }, "a refusal has another text"},
		"refuses without dst":  {func(_, _ []byte) ([]byte, error) { return nil, errForged }, "changes dst"},
		"accepts without dst":  {func(_, _ []byte) ([]byte, error) { return nil, nil }, "overwrites dst"},
		"writes behind dst":    {func(dst, _ []byte) ([]byte, error) { clear(dst[:cap(dst)][len(dst):]); return dst, errForged }, ""},
		"grows the same state": {func(dst, _ []byte) ([]byte, error) { return append([]byte(nil), append(dst, "state"...)...), nil }, ""},
	}
	for name, tt := range tests {
		s := instance{Design: codecs.Design{Name: name}, codec: lab.OfCodec(tt.unseal).At(nil)}
		_, _, err := s.open([]byte("v1.token"))
		if tt.want == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorContains(t, err, tt.want, name)
	}
}
