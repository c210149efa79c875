package timing

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/analysis/findings"
	"sealab/codecs/catalog"
	"sealab/internal/runfile"
	"sealab/internal/testenv"
	"sealab/internal/verdict"
)

// leakyRun writes two passes of a leak of 5 ns in the first design of the catalog, and of a control. It
// returns their folder and judgement.
func leakyRun(t *testing.T, property string) (string, *Judgement) {
	t.Helper()
	dir := t.TempDir()
	design := runfile.Probe{Subject: catalog.All()[0].Name, Pair: "tag-ends", A: "first", B: "last <&>", Tells: "the tag", Property: property}
	alike := runfile.Probe{Subject: "control-same", Pair: "control", Expect: runfile.Clean}
	var files []*runfile.Samples
	for pass := 1; pass <= 2; pass++ {
		files = append(files,
			newMachine(uint64(pass)).shift(5).run(design, pass, 4000),
			newMachine(uint64(pass)+10).run(alike, pass, 4000))
	}
	for _, f := range files {
		require.NoError(t, runfile.WriteSamples(dir, f))
	}
	if judged[property] == nil {
		j, err := Judge(files, LimitLibrary, func(int) {})
		require.NoError(t, err)
		judged[property] = j
	}
	return dir, judged[property]
}

// judged caches the judgement of leakyRun for each property, because judging takes longer than the rest of
// a test.
var judged = map[string]*Judgement{}

func TestFindingsAreOfTheCommonForm(t *testing.T) {
	testenv.SkipRace(t)
	for property, word := range map[string]verdict.Claim{"steady-timing": verdict.Stated, "": verdict.Silent} {
		dir, j := leakyRun(t, property)
		all, err := j.Findings(dir)
		require.NoError(t, err)
		require.Len(t, all, 1)
		require.Equal(t, word, all[0].Location.Word)
		data, err := findings.JSON(all)
		require.NoError(t, err)
		again, err := findings.Read(data)
		require.NoError(t, err)
		require.Equal(t, all, again)
		require.Equal(t, property != "", len(j.Refuted()) > 0)
	}
}

// TestPicturesAreXML parses every picture to its end.
func TestPicturesAreXML(t *testing.T) {
	dir, j := leakyRun(t, "steady-timing")
	drawn, err := j.WritePictures(dir, func(int) {})
	require.NoError(t, err)
	require.Equal(t, 2, drawn)
	paths, err := filepath.Glob(filepath.Join(dir, pictureFolder, "*.svg"))
	require.NoError(t, err)
	require.Len(t, paths, 2)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Contains(t, string(text), "<svg ")
		require.NotContains(t, string(text), "NaN")
		decoder := xml.NewDecoder(bytes.NewReader(text))
		for {
			if _, err := decoder.Token(); errors.Is(err, io.EOF) {
				break
			} else {
				require.NoError(t, err, path)
			}
		}
	}
}

func TestTableAndPage(t *testing.T) {
	dir, j := leakyRun(t, "steady-timing")
	var table strings.Builder
	require.NoError(t, j.WriteTable(&table, 0))
	require.Contains(t, table.String(), "refuted: trimmed mean: +")
	require.Contains(t, table.String(), "clean, as it must be")
	require.Contains(t, string(j.Markdown()), "| refuted: trimmed mean")
	require.NoError(t, j.Write(dir))
	again, err := Read(dir)
	require.NoError(t, err)
	require.Equal(t, j.Verdicts[0].Why, again.Verdicts[0].Why)
	_, err = Read(t.TempDir())
	require.ErrorContains(t, err, "run sealab leak judge first")
}

// TestWrittenJudgementHasAllThatAPageHas checks that a judgement read back gives the same page and
// findings. Their numbers have fewer digits than those of the file.
func TestWrittenJudgementHasAllThatAPageHas(t *testing.T) {
	dir, j := leakyRun(t, "steady-timing")
	require.NoError(t, j.Write(dir))
	again, err := Read(dir)
	require.NoError(t, err)
	require.Equal(t, string(j.Markdown()), string(again.Markdown()))
	want, err := j.Findings(dir)
	require.NoError(t, err)
	got, err := again.Findings(dir)
	require.NoError(t, err)
	require.Equal(t, want, got)
	for i, v := range j.Verdicts {
		require.Equal(t, v.Probe, again.Verdicts[i].Probe)
		for k, s := range []*Statistics{v.First, v.Second} {
			read := []*Statistics{again.Verdicts[i].First, again.Verdicts[i].Second}[k]
			require.Equal(t, s.Header, read.Header)
			require.InEpsilon(t, s.Sigma, read.Sigma, 1e-3)
			require.Len(t, read.Deciles.Difference, len(s.Deciles.Difference))
			require.InDelta(t, s.Deciles.largest().High, read.Deciles.largest().High, 1e-3*math.Abs(s.Deciles.largest().High))
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, judgementFile))
	require.NoError(t, err)
	require.Less(t, len(text)/len(j.Verdicts), 3000, "bytes for each pair")
	require.NotContains(t, string(text), "NaN")
	require.NoError(t, os.WriteFile(filepath.Join(dir, judgementFile), []byte(`{"verdicts":[{"subject":"a","First":{}}]}`), 0o600))
	_, err = Read(dir)
	require.ErrorContains(t, err, "want the statistics of a first pass")
}
