package tokens

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFlipsOfALongTokenAreBounded(t *testing.T) {
	for _, n := range []int{40, 500, 1_000, 12_000, 100_000} {
		token := strings.Repeat("Ab-_", n/4)
		all := Flips(token)
		require.LessOrEqual(t, len(all), min(n, 600))
		for i := range min(n/2, 100) {
			require.Equal(t, fmt.Sprintf("character %d", i), all[i].Name)
			require.Equal(t, fmt.Sprintf("character %d from the end", i+1), all[len(all)-1-i].Name)
		}
	}
}
