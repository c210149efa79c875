package program

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadResource checks that contexts of resources/read have no arguments.
func TestReadResource(t *testing.T) {
	made := Context
	made.Method = readResource
	for where := range byte(Places) {
		for how := range byte(128) {
			read := ChangeContext(New([]byte{where, how}), made)
			if read.Method == readResource {
				require.Empty(t, read.Arguments, "%d, %d", where, how)
			}
		}
	}
}

// TestRing checks that each name is chosen about equally often, and that one more name
// leaves nearly all choices unchanged.
func TestRing(t *testing.T) {
	for _, n := range []int{1, 2, 150, 1000} {
		var names []string
		for i := range n {
			names = append(names, strconv.Itoa(i))
		}
		before := newRing(names, names)
		after := newRing(append([]string{"another"}, names...), append([]string{"another"}, names...))
		weights, moved := map[string]int{}, 0
		for number := range 1 << 16 {
			was, is := before.at(number), after.at(number)
			weights[was]++
			if was != is {
				require.Equal(t, "another", is, "only what is new takes")
				moved++
			}
		}
		requireEven(t, weights, n)
		require.Less(t, moved, 2*(1<<16)/(n+1))
	}
}

// TestLiteralsAreEven checks the same for the words and numbers of the source.
func TestLiteralsAreEven(t *testing.T) {
	words, numbers := map[string]int{}, map[int]int{}
	for number := range 1 << 16 {
		words[string(sourceLiterals().words.at(number))]++
		numbers[sourceLiterals().numbers.at(number)]++
	}
	requireEven(t, words, len(sourceLiterals().words.things))
	requireEven(t, numbers, len(sourceLiterals().numbers.things))
}

// requireEven checks that each of n things has between a third of the mean weight and three
// times the mean.
func requireEven[T comparable](t *testing.T, weights map[T]int, n int) {
	t.Helper()
	require.Len(t, weights, n)
	mean := (1 << 16) / n
	for thing, weight := range weights {
		require.GreaterOrEqual(t, 3*weight, mean, "%v", thing)
		require.LessOrEqual(t, weight, 3*mean, "%v", thing)
	}
}
