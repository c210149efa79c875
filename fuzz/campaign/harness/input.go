package harness

import (
	"errors"
	"fmt"
	"os"
)

// runInput runs the one input in the file at path, after those in the folder of
// EnvHistory, under the limits that a campaign sets where the system has them.
// It lets a panic through.
func runInput(path, scratch string, run func([]byte) error) error {
	input, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	var inputs [][]byte
	if dir := os.Getenv(EnvHistory); dir != "" {
		if inputs, err = ReadSequence(dir); err != nil {
			return err
		}
	}
	inputs = append(inputs, input)
	n, err := watched(scratch, roomForInput)
	if errors.Is(err, errors.ErrUnsupported) {
		return Sequence(run, inputs...)
	}
	if err != nil {
		return err
	}
	return Sequence(func(input []byte) error {
		if err := n.begin(input); err != nil {
			return err
		}
		defer n.end()
		return run(input)
	}, inputs...)
}
