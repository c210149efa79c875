// Package taint runs every design under valgrind with its secrets declared
// undefined, and writes what valgrind says. It decides nothing; package
// analysis/taint judges.
//
// Each subject runs in processes of its own: under memcheck once with nothing
// secret, once with its keys and once with its payload undefined, so that the
// noise of the Go runtime can be told from what a secret brings about; and once
// under callgrind, which lists the divisions that were executed. Memcheck does
// not look at divisions, whose time depends on their operands on many
// processors.
//
// The program that runs is built for the purpose: with the build
// tag valgrind, which lets the runtime and package memcheck speak to valgrind;
// without DWARF 5, which valgrind 3.19 cannot read; and with the heap at a fixed
// place, on one thread and without the garbage collector, which makes the noise
// the same in every run.
//
// valgrind 3.19 hides SHA-NI, AVX-512 and VAES from the program. What is judged
// are the paths that run then: for SHA-256 the AVX2 one, for AES-GCM the one
// with AES-NI and PCLMULQDQ.
//
// What it does not give: anything about code that these few operations do not
// reach, about microarchitecture, or about paths that valgrind hides.
package taint

import (
	"errors"
	"fmt"
	"os/exec"
)

// ErrMissing says that valgrind is not there, and how to get it.
var ErrMissing = errors.New("sealab: valgrind is not there; install it with: apt-get install valgrind")

// findValgrind returns the path of valgrind.
func findValgrind() (string, error) {
	path, err := exec.LookPath("valgrind")
	if err != nil {
		return "", ErrMissing
	}
	return path, nil
}

// failed returns the error of a command with what it said.
func failed(what string, output []byte, err error) error {
	const most = 500
	if len(output) > most {
		output = output[len(output)-most:]
	}
	return fmt.Errorf("sealab: %s: %w: %s", what, err, output)
}
