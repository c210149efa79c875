//go:build !race

package codectest_test

const raceEnabled = false
