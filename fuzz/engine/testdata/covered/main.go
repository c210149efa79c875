// Command covered prints the number of features of two inputs.
package main

import (
	"fmt"

	"sealab/fuzz/engine"
)

func main() {
	for _, n := range []int{0, 9} {
		all, err := engine.Features(func() error {
			walk(n)
			return nil
		})
		if err != nil {
			panic(err)
		}
		fmt.Println(len(all))
	}
}

func walk(n int) {
	if n > 5 {
		n--
	}
	if n > 2 {
		walk(n - 3)
	}
}
