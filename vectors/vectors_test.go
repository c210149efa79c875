package vectors_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/vectors"
)

func TestSecondsHaveOneSpelling(t *testing.T) {
	for _, c := range []struct {
		text string
		want time.Time
	}{
		{"0", time.Unix(0, 0)},
		{"1795132800.25", time.Unix(1795132800, 250_000_000)},
		{"-0.5", time.Unix(-1, 500_000_000)},
		{"253402300799.000000001", time.Unix(253402300799, 1)},
	} {
		got, err := vectors.Seconds(c.text).Time()
		require.NoError(t, err, c.text)
		require.True(t, c.want.Equal(got), "%s: want %s, got %s", c.text, c.want, got)
		require.Equal(t, vectors.Seconds(c.text), vectors.UnixSeconds(c.want))
	}
	for _, text := range []string{"", "1.0", "01", "+1", "-0", "1e3", ".5", "1.", "1.0000000001", "1.-5", "x", "99999999999999999999"} {
		_, err := vectors.Seconds(text).Time()
		require.Error(t, err, "%q", text)
	}
	_, err := vectors.Seconds("9999999999999").Duration()
	require.Error(t, err)
}

// sound returns a valid file with one accepted test and one refused test near it.
func sound() *vectors.File {
	return &vectors.File{
		Format: vectors.Format, Design: "d", Kind: codecs.KindCodec, Doc: "a design", Spec: "a page",
		Generator: "a test", Version: 1, License: vectors.License, Prefix: "d1.",
		Keys:  map[string]vectors.Hex{"k1": {1, 2}},
		Notes: map[string]vectors.Note{"sound": {BugClass: "b", Gain: "g"}},
		Rings: []vectors.Ring{}, NumberTests: 2,
		Tests: []vectors.Test{
			{
				ID: "d/base/00000000", Comment: "c", Keys: []string{"k1"}, Payload: vectors.AsHex(nil), Token: "d1.é<&>", Sealed: true,
				Expect: vectors.Accept, Released: vectors.AsHex(nil), Flags: []string{"sound"},
			},
			{
				ID: "d/other/00000001", Comment: "c", Near: "d/base/00000000", Keys: []string{"k1"}, Token: "d1.",
				Expect: vectors.Refuse, Stage: "malformed", Flags: []string{"sound"},
			},
		},
	}
}

func TestEncodeWritesOneTestPerLine(t *testing.T) {
	f := sound()
	data, err := f.Encode()
	require.NoError(t, err)
	require.NoError(t, vectors.Validate(data))
	require.Equal(t, 1, strings.Count(string(data), `{"id":"d/base`))
	for line := range bytes.Lines(data) {
		if bytes.HasPrefix(line, []byte(`{"id"`)) {
			require.True(t, json.Valid(bytes.TrimRight(line, ",\n]}")) || json.Valid(bytes.TrimRight(line, ",\n")), "%s", line)
		}
	}
	got, err := vectors.Decode(data)
	require.NoError(t, err)
	require.Equal(t, f, got)
}

// TestValidateRings checks that Validate notices each single defect of a valid file.
func TestValidateRings(t *testing.T) {
	for name, spoil := range map[string]func(*vectors.File){
		"format":               func(f *vectors.File) { f.Format = "sealab-vectors/2" },
		"license":              func(f *vectors.File) { f.License = "proprietary" },
		"kind":                 func(f *vectors.File) { f.Kind = "hash" },
		"count":                func(f *vectors.File) { f.NumberTests = 3 },
		"unknown key":          func(f *vectors.File) { f.Tests[0].Keys = []string{"k9"} },
		"no ring":              func(f *vectors.File) { f.Tests[0].Keys = []string{} },
		"flag without note":    func(f *vectors.File) { f.Tests[0].Flags = []string{"other"} },
		"no flag":              func(f *vectors.File) { f.Tests[0].Flags = []string{} },
		"twice":                func(f *vectors.File) { f.Tests[1].ID = f.Tests[0].ID },
		"id":                   func(f *vectors.File) { f.Tests[1].ID = "d/other" },
		"stage":                func(f *vectors.File) { f.Tests[1].Stage = "angry" },
		"no stage":             func(f *vectors.File) { f.Tests[1].Stage = "" },
		"stage of acceptance":  func(f *vectors.File) { f.Tests[0].Stage = "malformed" },
		"release with refusal": func(f *vectors.File) { f.Tests[1].Released = vectors.AsHex(nil) },
		"nothing released":     func(f *vectors.File) { f.Tests[0].Released = nil },
		"nothing near":         func(f *vectors.File) { f.Tests[1].Near = "" },
		"near a refusal":       func(f *vectors.File) { f.Tests[1].Near = f.Tests[1].ID },
		"neither payload":      func(f *vectors.File) { f.Tests[0].Payload = nil },
		"payload and state":    func(f *vectors.File) { f.Tests[0].State = vectors.AsHex(nil) },
		"time":                 func(f *vectors.File) { now := vectors.Seconds("1.50"); f.Tests[0].Now = &now },
	} {
		f := sound()
		spoil(f)
		data, err := f.Encode()
		require.NoError(t, err, name)
		require.Error(t, vectors.Validate(data), name)
	}
	data, err := sound().Encode()
	require.NoError(t, err)
	for name, text := range map[string]string{
		"unknown member of the file": strings.Replace(string(data), `"format"`, `"more":1,"format"`, 1),
		"unknown member of a test":   strings.Replace(string(data), `"id"`, `"more":1,"id"`, 1),
		"capital hex":                strings.Replace(string(data), `"0102"`, `"0A02"`, 1),
		"odd hex":                    strings.Replace(string(data), `"0102"`, `"010"`, 1),
		"number of tests as float":   strings.Replace(string(data), `"number_of_tests": 2`, `"number_of_tests": 2.5`, 1),
		"two documents":              string(data) + "{}",
		"no document":                "",
	} {
		require.Error(t, vectors.Validate([]byte(text)), name)
	}
}

func TestIdentifyHashesInputsOnly(t *testing.T) {
	a, b := sound().Tests[0], sound().Tests[0]
	require.NoError(t, a.Identify("d", "base"))
	b.Comment, b.Reason = "other words", "other reason"
	require.NoError(t, b.Identify("d", "base"))
	require.Equal(t, a.ID, b.ID)
	b.Token += "x"
	require.NoError(t, b.Identify("d", "base"))
	require.NotEqual(t, a.ID, b.ID)
}

func TestPathsOfAnEmptyFolderIsAnError(t *testing.T) {
	_, err := vectors.Paths(t.TempDir())
	require.ErrorContains(t, err, "holds no vectors")
}
