// Package ladder has a word that is found step by step, or never.
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
