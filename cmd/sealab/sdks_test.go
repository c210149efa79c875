package main

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/codecs/sdk"
	"sealab/codecs/worker"
	"sealab/internal/broken"
	"sealab/internal/golibs"
	"sealab/internal/testenv"
)

// TestSubjectsHaveOneName checks that all designs, Go libraries, SDKs and
// controls have different names, regardless of the names in their hellos.
func TestSubjectsHaveOneName(t *testing.T) {
	known := map[string]bool{}
	add := func(name string) {
		require.False(t, known[name], name)
		known[name] = true
	}
	for _, d := range slices.Concat(catalog.Variants(), golibs.All()) {
		add(d.Name)
	}
	sdks, err := sdk.All(".")
	require.NoError(t, err)
	for _, s := range sdks {
		add(s.Name)
	}
	for _, c := range broken.Controls() {
		require.False(t, known[c.Name], c.Name)
	}
}

// TestTokensCrossBetweenProcesses runs each SDK and the design that it mirrors
// in two processes with the same ring. Each must verify the other's tokens, and
// both must refuse the same alterations for the same reason.
func TestTokensCrossBetweenProcesses(t *testing.T) {
	sealab := selfAs(t, "sealab")
	sdks, err := sdk.Mirrors(".")
	require.NoError(t, err)
	for _, s := range sdks {
		t.Run(s.Name, func(t *testing.T) {
			if why := s.Unavailable(); why != "" {
				testenv.Skip(t, "%s", why)
			}
			design, err := catalog.Find(s.Mirrors)
			require.NoError(t, err)
			here, err := worker.Dial(workerOf(sealab, s.Mirrors), worker.Limits{})
			require.NoError(t, err)
			defer here.Close()
			there, err := s.Dial(worker.Limits{})
			require.NoError(t, err)
			defer there.Close()
			if len(there.Hello().Guarantees) > 0 {
				requireSameGuarantees(t, design, there.Design())
			}

			config := codecs.Config{Secrets: [][]byte{secret(design, 1)}}
			goSide, sdkSide := sealer(t, here.Design(), config), sealer(t, there.Design(), config)
			requireAgreement(t, goSide, sdkSide)
			requireAgreement(t, sdkSide, goSide)
			require.Empty(t, slices.Concat(here.Events(), there.Events()))
		})
	}
}
