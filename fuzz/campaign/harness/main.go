package harness

import (
	"fmt"
	"os"
)

// Main is the main function of a command that does the job of EnvJob with the
// target that its argument names. It returns the exit status.
func Main(find func(name string) (Subject, error)) int {
	if len(os.Args) != 2 || os.Getenv(EnvJob) == "" {
		fmt.Fprintf(os.Stderr, "sealab: want one target and %s\n", EnvJob)
		return 2
	}
	s, err := find(os.Args[1])
	if err == nil {
		err = runJob(os.Getenv(EnvJob), s)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	return 0
}
