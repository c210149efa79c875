// Package ladder has a fuzz function that fails at a word, which coverage reveals step by step.
package ladder

import "testing"

func FuzzLadder(f *testing.F) {
	f.Add([]byte("none"))
	f.Fuzz(func(t *testing.T, input []byte) {
		if climb(input) {
			t.Error("the top of the ladder")
		}
	})
}

func FuzzFlat(f *testing.F) {
	f.Fuzz(func(_ *testing.T, input []byte) { climb(input) })
}

func climb(input []byte) bool {
	if len(input) < 4 || input[0] != 's' {
		return false
	}
	if input[1] != 'e' {
		return false
	}
	if input[2] != 'a' {
		return false
	}
	return input[3] == 'l'
}
