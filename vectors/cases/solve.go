package cases

import "slices"

// solve returns the columns whose sum over GF(2) is target. It reports false if
// target is not such a sum.
func solve(columns [][]byte, target []byte) (chosen []int, ok bool) {
	type row struct {
		value []byte
		from  []bool // columns that sum to value
		pivot int
	}
	var basis []row
	reduce := func(r row) row {
		for _, b := range basis {
			if bit(r.value, b.pivot) {
				r.value = xor(r.value, b.value)
				for i, in := range b.from {
					r.from[i] = r.from[i] != in
				}
			}
		}
		return r
	}
	for i, c := range columns {
		r := row{value: slices.Clone(c), from: make([]bool, len(columns))}
		r.from[i] = true
		r = reduce(r)
		if r.pivot = firstBit(r.value); r.pivot >= 0 {
			basis = append(basis, r)
		}
	}
	r := reduce(row{value: slices.Clone(target), from: make([]bool, len(columns))})
	if firstBit(r.value) >= 0 {
		return nil, false
	}
	for i, in := range r.from {
		if in {
			chosen = append(chosen, i)
		}
	}
	return chosen, true
}

func bit(b []byte, i int) bool { return b[i/8]>>(i%8)&1 == 1 }

// firstBit returns the index of the first set bit, or -1 if all are clear.
func firstBit(b []byte) int {
	for i := range 8 * len(b) {
		if bit(b, i) {
			return i
		}
	}
	return -1
}
