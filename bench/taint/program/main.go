// Command program is what runs under valgrind's memcheck: it sets one subject
// up, seals, unseals and has a token refused, with its keys or its payload
// declared undefined. Package bench/taint builds it with the build tag valgrind
// and reads what memcheck says.
//
//	program SUBJECT none|key|payload
//	program --list
//
// SUBJECT is a design of the catalog or a control. With --list it prints the
// subjects as JSON, and which instructions it may use.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/segmentio/asm/cpu"
	"github.com/segmentio/asm/cpu/x86"

	"sealab/codecs/catalog"
	"sealab/internal/memcheck"
	"sealab/internal/taintfile"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 1 && args[0] == "--list":
		return list()
	case len(args) != 2:
		return fmt.Errorf("sealab: usage: program SUBJECT none|key|payload")
	case !memcheck.Running():
		return fmt.Errorf("sealab: this runs under valgrind, built with -tags valgrind")
	}
	secret := taintfile.Secret(args[1])
	for _, c := range controls {
		if c.Subject == args[0] {
			c.run(secret)
			return nil
		}
	}
	return design(args[0], secret)
}

// A listing is what --list prints.
type listing struct {
	Subjects []taintfile.Log
	AVX2     bool
	AVX512   bool
}

func list() error {
	l := listing{AVX2: cpu.X86.Has(x86.AVX2), AVX512: cpu.X86.Has(x86.AVX512F)}
	for _, c := range controls {
		l.Subjects = append(l.Subjects, c.Log)
	}
	for _, d := range catalog.All() {
		l.Subjects = append(l.Subjects, taintfile.Log{Subject: d.Name})
	}
	return json.NewEncoder(os.Stdout).Encode(l)
}
