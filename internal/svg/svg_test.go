package svg_test

import (
	"encoding/xml"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/svg"
)

func TestDrawingIsXML(t *testing.T) {
	d := svg.New(100, 50, `<a> & "b"`)
	d.Rect(1, 2, -3, 4, svg.Dark)
	d.Line(1, 2, 3, 4, svg.Grey)
	d.Dot(1, 2, 2.5, svg.Red)
	d.Bars(svg.Dark, [][4]float64{{1, 2, 3, 4}, {5, 6, 7.25, 8}})
	d.Dots(svg.Red, 2, [][2]float64{{1, 2}})
	var any struct{}
	require.NoError(t, xml.Unmarshal(d.Bytes(), &any))
	require.Contains(t, string(d.Bytes()), `width="0.0"`)
	require.Contains(t, string(d.Bytes()), `d="M1 2h3v4h-3zM5 6h7.25v8h-7.25z"`)
	require.Contains(t, string(d.Bytes()), `d="M1 2h0"`)
}

func TestScale(t *testing.T) {
	s := svg.Scale{From: 0, To: 10, First: 100, Last: 200}
	require.Equal(t, 150.0, s.At(5))
	require.Equal(t, 100.0, s.At(-1))
	require.Equal(t, 200.0, s.At(11))
	for _, s := range []svg.Scale{{From: 0, To: 10}, {From: 1664, To: 4372}, {From: -0.03, To: 0.02}} {
		ticks := s.Ticks()
		require.GreaterOrEqual(t, len(ticks), 2, "%v", s)
		require.LessOrEqual(t, len(ticks), 7, "%v", s)
		require.GreaterOrEqual(t, ticks[0], s.From)
		require.LessOrEqual(t, ticks[len(ticks)-1], s.To)
	}
}
