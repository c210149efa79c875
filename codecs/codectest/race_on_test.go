//go:build race

package codectest_test

const raceEnabled = true
