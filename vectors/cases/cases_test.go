package cases_test

import (
	"bytes"
	"crypto/sha256"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/internal/lab"
	"sealab/internal/testenv"
	"sealab/vectors"
	"sealab/vectors/cases"
)

// TestTwoKeysFindsPolynomialsOverBits searches for a ciphertext with one tag under two keys. The search
// must succeed only for designs whose tag is affine in the ciphertext bits.
func TestTwoKeysFindsPolynomialsOverBits(t *testing.T) {
	testenv.SkipSample(t)
	found := 0
	for _, d := range catalog.Formats() {
		if d.IsScheme() {
			continue
		}
		pair := withCase(t, d, "-two-keys-")
		if len(pair) == 0 {
			continue
		}
		found++
		require.Len(t, pair, 2, d.Name)
		require.NotEqual(t, pair[0].Released, pair[1].Released, "%s: the two payloads are the same", d.Name)
		word, _ := d.Guarantee(codecs.KeyCommitting, nil)
		require.False(t, word.Holds, "%s states %s", d.Name, codecs.KeyCommitting)
		for _, test := range pair {
			require.Equal(t, vectors.Accept, test.Expect, test.ID)
		}
	}
	require.NotZero(t, found, "no design has a tag that two keys share")
	for _, d := range catalog.Formats() {
		if word, _ := d.Guarantee(codecs.KeyCommitting, nil); word.Holds && !d.IsScheme() {
			require.Empty(t, withCase(t, d, "-two-keys-"), d.Name)
		}
	}
}

// withCase returns the committed tests of d whose id contains part.
func withCase(t *testing.T, d codecs.Design, part string) []vectors.Test {
	t.Helper()
	f, err := vectors.Read(vectors.Path(filepath.Join("..", "files"), d.Name))
	require.NoError(t, err)
	return slices.DeleteFunc(f.Tests, func(test vectors.Test) bool { return !strings.Contains(test.ID, part) })
}

func TestNotesAreComplete(t *testing.T) {
	for flag, n := range cases.Notes {
		require.NotEmpty(t, n.BugClass, flag)
		require.NotEmpty(t, n.Gain, flag)
	}
}

func TestAlterationsAlterWithoutHarm(t *testing.T) {
	for _, a := range cases.Alterations {
		for n := range 40 {
			value := cases.NewStream("alterations").Bytes(n)
			got := a.Change(bytes.Clone(value))
			if n > 1 {
				require.NotEqual(t, value, got, "%s of %d bytes changes nothing", a.Name, n)
			}
		}
	}
}

func TestFlipCountsFromEitherEnd(t *testing.T) {
	require.Equal(t, []byte{1, 0, 0}, cases.Flip(0, 1)(make([]byte, 3)))
	require.Equal(t, []byte{0, 0, 0x80}, cases.Flip(-1, 0x80)(make([]byte, 3)))
	require.Empty(t, cases.Flip(5, 1)(nil))
}

func TestMembersKeepSpelling(t *testing.T) {
	for _, text := range []string{`{}`, `{"v":1,"iat":1.50,"s":"\u0061\/","o":{"a":[1, 2]},"v":null}`} {
		members, ok := cases.Members([]byte(text))
		require.True(t, ok, text)
		require.Equal(t, text, string(cases.Object(members)))
	}
	for _, text := range []string{``, `[]`, `null`, `{"a":1`, `{"a":1}x`, `{"a":1} `, `{"a"}`, `{1:2}`} {
		_, ok := cases.Members([]byte(text))
		require.False(t, ok, text)
	}
}

func TestStreamIsSHA256InCounterMode(t *testing.T) {
	first := sha256.Sum256([]byte("label\x00\x00\x00\x00\x00\x00\x00\x00"))
	second := sha256.Sum256([]byte("label\x00\x00\x00\x00\x00\x00\x00\x01"))
	want := slices.Concat(first[:], second[:])
	s := cases.NewStream("label")
	require.Equal(t, want[:5], s.Bytes(5))
	require.Equal(t, want[5:64], s.Bytes(59))
	require.Len(t, s.Bytes(1000), 1000)
}

func TestRawPlacesFieldsInSegments(t *testing.T) {
	trace := cases.Trace{
		{At: cases.At{Step: lab.WirePrefix}, Value: []byte("v1.")},
		{At: cases.At{Step: lab.WireKeyID}, Value: []byte("id")},
		{At: cases.At{Step: lab.WireBody}, Value: []byte("body")},
		{At: cases.At{Step: lab.WireText}, Value: []byte("aWRib2R5")},
		{At: cases.At{Step: lab.WireSep}, Value: []byte(".")},
		{At: cases.At{Step: lab.WireTag}, Value: []byte("tag")},
		{At: cases.At{Step: lab.WireText, N: 1}, Value: []byte("dGFn")},
	}
	segments, fields := trace.Raw()
	require.Equal(t, [][]byte{[]byte("idbody"), []byte("tag")}, segments)
	require.EqualValues(t, [3]int{0, 2, 6}, fields["body"])
	require.EqualValues(t, [3]int{1, 0, 3}, fields["tag"])
	require.Len(t, fields, 3)
}
