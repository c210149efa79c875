package main

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary stand in for the sealab command, so that the
// scripts run exactly what a user runs.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"sealab": main, "misbehaving": misbehaving})
}

// TestScripts runs the commands of testdata/script as a user types them.
func TestScripts(t *testing.T) {
	verdicts, err := filepath.Abs(filepath.Join("testdata", "verdicts"))
	require.NoError(t, err)
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Setup: func(e *testscript.Env) error {
		e.Setenv("VERDICTS", verdicts)
		return nil
	}})
}
