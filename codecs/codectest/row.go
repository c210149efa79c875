package codectest

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/internal/lab"
)

var (
	nameForm  = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
	tokenForm = regexp.MustCompile(`^[A-Za-z0-9._~-]*$`) // RFC 3986, unreserved
)

// testRow checks that the design's row is complete and answers for itself.
func testRow(t *testing.T, d codecs.Design) {
	require.Regexp(t, nameForm, d.Name)
	require.NotEmpty(t, d.Doc)
	require.NotEmpty(t, d.Spec)
	require.True(t, (d.NewCodec == nil) != (d.NewScheme == nil), "want one constructor, of a codec or of a scheme")
	require.NotNil(t, lab.HooksOf(d).Inspect)
	if !d.IsScheme() {
		require.NotNil(t, lab.HooksOf(d).TokenSize)
	}
	testGuarantees(t, d)
	testOptions(t, d)
}

// testGuarantees checks that the design answers every property that applies to
// it, once, and gives a reason for each that it disclaims.
func testGuarantees(t *testing.T, d codecs.Design) {
	answers := map[codecs.Property]int{}
	for _, g := range d.GuaranteesFor(nil) {
		answers[g.Property]++
		require.True(t, g.Holds || g.Reason != "", "%s is disclaimed without a reason", g.Property)
	}
	for _, p := range codecs.Properties() {
		want := 1
		if p.SchemeOnly && !d.IsScheme() {
			g, answered := d.Guarantee(p.Property, nil)
			require.False(t, g.Holds, "a codec cannot have %s", p.Property)
			if want = 0; answered {
				want = 1 // disclaimed for the scheme over it as well
			}
		}
		require.Equal(t, want, answers[p.Property], "answers on %s", p.Property)
		delete(answers, p.Property)
	}
	require.Empty(t, answers, "answers on what is not a property")
}

func testOptions(t *testing.T, d codecs.Design) {
	for _, o := range d.Options {
		require.NotEmpty(t, o.Doc, o.Name)
		require.NotEmpty(t, o.Values, o.Name)
		for _, v := range o.Values {
			requireConstructor(t, d, map[string]string{o.Name: v}, true)
		}
		requireConstructor(t, d, map[string]string{o.Name: "no such value"}, false)
	}
	requireConstructor(t, d, map[string]string{"no-such-option": "x"}, false)
}

func requireConstructor(t *testing.T, d codecs.Design, options map[string]string, want bool) {
	t.Helper()
	config := codecs.Config{Secrets: subject{d}.ring(0), Options: options}
	_, err := lab.Open(d, config)
	require.Equal(t, want, err == nil, "options %v: %v", options, err)
}
