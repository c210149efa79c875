package casefile

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs/internal/rawjson"
)

func TestSameValue(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 500) + "1" + strings.Repeat("}", 500)
	for _, c := range []struct {
		one, two string
		same     bool
	}{
		{`1`, `1.0`, true},
		{`1`, `"1"`, false},
		{`{"a":1,"b":[2]}`, `{"b":[2],"a":1}`, true},
		{`{"a":1,"a":2}`, `{"a":2}`, true},
		{`{"a":1,"a":2}`, `{"a":1}`, false},
		{`{"a":1}`, `{"a":1,"b":1}`, false},
		{`{"a":1,"b":1}`, `{"a":1}`, false},
		{`[1,2]`, `[2,1]`, false},
		{`[1]`, `[1,1]`, false},
		{`"a"`, `"b"`, false},
		{`null`, `false`, false},
		{deep, deep, true}, // each level is visited once
		{deep, strings.Replace(deep, "1", "2", 1), false},
	} {
		one, err := rawjson.Parse([]byte(c.one))
		require.NoError(t, err)
		two, err := rawjson.Parse([]byte(c.two))
		require.NoError(t, err)
		require.Equal(t, c.same, sameValue(&one, &two), "%.20s and %.20s", c.one, c.two)
		require.Equal(t, c.same, sameValue(&two, &one), "%.20s and %.20s", c.two, c.one)
	}
}
