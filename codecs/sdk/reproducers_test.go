package sdk_test

import (
	"flag"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/sdk"
	"sealab/internal/testenv"
)

var allReproducers = flag.Bool("reproducers", false, "run the reproducers of all libraries: half a minute")

// sampled is the library whose reproducers run by default, because they are the
// fastest.
const sampled = "pymacaroons"

// TestReproducers runs the reproducers of the installed libraries. If one
// prints something else, the fault was fixed or never existed.
func TestReproducers(t *testing.T) {
	reproducers, err := sdk.Reproducers(".")
	require.NoError(t, err)
	require.NotEmpty(t, reproducers)
	for _, r := range reproducers {
		t.Run(r.Subject+"/"+r.Property, func(t *testing.T) {
			_, err := codecs.ParseProperty(r.Property)
			require.NoError(t, err)

			if filepath.Base(r.Dir) != "go-libs" {
				s, err := sdk.Find(".", r.Subject)
				require.NoError(t, err)
				if why := s.Unavailable(); why != "" {
					testenv.Skip(t, "%s", why)
				}
			}
			if !*allReproducers && r.Subject != sampled {
				testenv.Skip(t, "make reproducers runs it")
			}
			cmd := exec.CommandContext(t.Context(), "sh", "-c", r.Line)
			cmd.Dir = r.Dir
			cmd.Env = append(cmd.Environ(), "TMPDIR="+t.TempDir())
			out, err := cmd.CombinedOutput()
			require.True(t, strings.HasSuffix(strings.TrimSpace(string(out)), r.Prints), "want %q at the end, got %s (%v)", r.Prints, out, err)
		})
	}
}

func TestBrokenReproducers(t *testing.T) {
	for want, content := range map[string]string{
		"want subject":                 `[{"subject":"x","property":"total","shows":"s","line":"true"}]`,
		`unknown field "command"`:      `[{"command":"x"}]`,
		"reproducers.json: unexpected": `[`,
	} {
		_, err := sdk.Reproducers(house(t, map[string]string{"codecs/sdk/x/reproducers.json": content}))
		require.ErrorContains(t, err, want)
	}
}
