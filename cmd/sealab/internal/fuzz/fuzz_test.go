package fuzz

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/cmd/sealab/internal/subject"
	"sealab/internal/cli"
	"sealab/internal/schema"
)

// TestInterruptedCampaigns checks the exit status and the message of an
// interrupted campaign.
func TestInterruptedCampaigns(t *testing.T) {
	const kept = "everything is kept in c, and the same command resumes"
	fault := errors.New("disk full")
	for name, row := range map[string]struct {
		limit       time.Duration
		interrupted bool
		failed      error
		status      int
		want        string
	}{
		"its time was over":              {time.Hour, false, nil, cli.OK, ""},
		"until an interrupt":             {0, true, nil, cli.OK, "interrupted: " + kept + "\n"},
		"before its time was over":       {time.Hour, true, nil, cli.Fault, "sealab: interrupted before the end of --for 1h0m0s: " + kept + "\n"},
		"with crashers":                  {time.Hour, true, cli.ErrRefuted, cli.Refuted, "interrupted: " + kept + "\n"},
		"with crashers, not interrupted": {time.Hour, false, cli.ErrRefuted, cli.Refuted, ""},
		"with a fault beside":            {0, true, fault, cli.Fault, "sealab: interrupted: " + kept + ": disk full\n"},
		"with a fault, and no interrupt": {0, false, fault, cli.Fault, "sealab: disk full\n"},
	} {
		t.Run(name, func(t *testing.T) {
			f := runFlags{limit: row.limit, campaignFolder: campaignFolder{dir: "c"}}
			var stderr bytes.Buffer
			require.Equal(t, row.status, subject.PrintError(&stderr, f.end(&stderr, row.interrupted, row.failed)))
			require.Equal(t, row.want, stderr.String())
		})
	}
}

// TestCoverage parses the table of coverage and validates the documents of long
// runs against their schemas.
func TestCoverage(t *testing.T) {
	covered, err := coverageOf([]byte("sealab/codecs coverage: 81.2% of statements\nsealab/codecs/aesgcm coverage: 100.0% of statements\n"))
	require.NoError(t, err)
	require.Equal(t, []coveredDocument{{"sealab/codecs", 81.2}, {"sealab/codecs/aesgcm", 100}}, covered.Packages)
	_, err = coverageOf([]byte("no table\n"))
	require.ErrorContains(t, err, "want a package")
	for name, document := range map[string]any{
		"cover":    covered,
		"minimize": MinimizeDocument{MinimizeFormat, []minimizedDocument{{"text", 9, 4, 120}}},
	} {
		text, err := json.Marshal(document)
		require.NoError(t, err)
		form, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "vectors", "schemas", name+".json"))
		require.NoError(t, err)
		require.NoError(t, schema.New("urn:sealab:"+name+":1", form).Validate(text), "%s", text)
	}
}
