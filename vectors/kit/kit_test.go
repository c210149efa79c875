package kit_test

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/lab"
	"sealab/vectors/kit"
)

func TestAlterationsAlterWithoutHarm(t *testing.T) {
	for _, a := range kit.Alterations {
		for n := range 40 {
			value := kit.NewStream("alterations").Bytes(n)
			got := a.Change(bytes.Clone(value))
			if n > 1 {
				require.NotEqual(t, value, got, "%s of %d bytes changes nothing", a.Name, n)
			}
		}
	}
}

func TestFlipCountsFromEitherEnd(t *testing.T) {
	require.Equal(t, []byte{1, 0, 0}, kit.Flip(0, 1)(make([]byte, 3)))
	require.Equal(t, []byte{0, 0, 0x80}, kit.Flip(-1, 0x80)(make([]byte, 3)))
	require.Empty(t, kit.Flip(5, 1)(nil))
}

func TestMembersKeepSpelling(t *testing.T) {
	for _, text := range []string{`{}`, `{"v":1,"iat":1.50,"s":"\u0061\/","o":{"a":[1, 2]},"v":null}`} {
		members, ok := kit.Members([]byte(text))
		require.True(t, ok, text)
		require.Equal(t, text, string(kit.Object(members)))
	}
	for _, text := range []string{``, `[]`, `null`, `{"a":1`, `{"a":1}x`, `{"a":1} `, `{"a"}`, `{1:2}`} {
		_, ok := kit.Members([]byte(text))
		require.False(t, ok, text)
	}
}

func TestStreamIsSHA256InCounterMode(t *testing.T) {
	first := sha256.Sum256([]byte("label\x00\x00\x00\x00\x00\x00\x00\x00"))
	second := sha256.Sum256([]byte("label\x00\x00\x00\x00\x00\x00\x00\x01"))
	want := slices.Concat(first[:], second[:])
	s := kit.NewStream("label")
	require.Equal(t, want[:5], s.Bytes(5))
	require.Equal(t, want[5:64], s.Bytes(59))
	require.Len(t, s.Bytes(1000), 1000)
}

func TestRawPlacesFieldsInSegments(t *testing.T) {
	trace := kit.Trace{
		{At: kit.At{Step: lab.WirePrefix}, Value: []byte("v1.")},
		{At: kit.At{Step: lab.WireKeyID}, Value: []byte("id")},
		{At: kit.At{Step: lab.WireBody}, Value: []byte("body")},
		{At: kit.At{Step: lab.WireText}, Value: []byte("aWRib2R5")},
		{At: kit.At{Step: lab.WireSep}, Value: []byte(".")},
		{At: kit.At{Step: lab.WireTag}, Value: []byte("tag")},
		{At: kit.At{Step: lab.WireText, N: 1}, Value: []byte("dGFn")},
	}
	segments, fields := trace.Raw()
	require.Equal(t, [][]byte{[]byte("idbody"), []byte("tag")}, segments)
	require.EqualValues(t, [3]int{0, 2, 6}, fields["body"])
	require.EqualValues(t, [3]int{1, 0, 3}, fields["tag"])
	require.Len(t, fields, 3)
}
