package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the test binary stand in for the sealab command, so that the
// scripts run exactly what a user runs.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"sealab": main})
}

// TestScripts runs the commands of testdata/script as a user types them.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script"})
}
