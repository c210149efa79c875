package worker

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
)

func TestTimesCross(t *testing.T) {
	for _, c := range []struct {
		at   time.Time
		want string
	}{
		{time.Unix(1795132800, 250_000_000), "1795132800.25"},
		{time.Unix(1795132800, 1_000), "1795132800.000001"},
		{time.Unix(0, 0), "0"},
		{time.Unix(-1, 500_000_000), "-0.5"},
		{time.Unix(-2, 250_000_000), "-1.75"},
		{time.Unix(-2, 0), "-2"},
	} {
		l := new(line).time("now", c.at)
		require.Equal(t, `{"now":`+c.want+`}`, string(l.end()))
		back, err := parseTime([]byte(c.want))
		require.NoError(t, err)
		require.True(t, c.at.Equal(back), "%s: %s", c.want, back)
	}
}

func TestDurationsCross(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"600": 10 * time.Minute, "0": 0, "-0.5": -time.Second / 2, "-3": -3 * time.Second, "0.000001": time.Microsecond,
	} {
		l := new(line).duration("ttl", d)
		require.Equal(t, `{"ttl":`+want+`}`, string(l.end()))
		back, err := parseDuration([]byte(want))
		require.NoError(t, err)
		require.Equal(t, d, back)
	}
	for _, n := range []string{"1e300", "1e11", "-1e11", "x"} {
		_, err := parseDuration([]byte(n))
		require.Error(t, err, n)
	}
	_, err := parseTime([]byte("1e16"))
	require.Error(t, err)
	require.Less(t, math.MaxInt64/float64(time.Second), 1e11)
}

func TestAbsentMembers(t *testing.T) {
	for _, c := range []struct {
		context codecs.Context
		binding string
	}{
		{codecs.Context{Method: "m"}, `{"binding":{"method":"m","target":""}}`},
		{codecs.Context{Method: "m", Target: Absent}, `{"binding":{"method":"m"}}`},
		{codecs.Context{Method: Absent, Target: "t"}, `{"binding":{"target":"t"}}`},
	} {
		var l line
		require.Equal(t, c.binding, string(l.binding(&c.context).end()))
	}
}
