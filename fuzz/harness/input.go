package harness

import (
	"errors"
	"fmt"
	"os"
)

// runInput runs the one input in the file at path, under the limits that a
// campaign sets where the system has them, and lets a panic through.
func runInput(path, scratch string, run func([]byte) error) error {
	input, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	n, err := watched(scratch)
	if errors.Is(err, errors.ErrUnsupported) {
		return run(input)
	}
	if err != nil {
		return err
	}
	if err := n.begin(input); err != nil {
		return err
	}
	defer n.end()
	return run(input)
}
