// Command program runs under valgrind. It opens one subject, seals, unseals, and has a token refused, with
// the keys or the payload declared undefined. Package bench/taint builds it with the build tag valgrind
// and reads valgrind's reports.
//
//	program SUBJECT none|key|payload
//	program --list
//
// SUBJECT is a design of the catalog or a control. With --list it prints the
// subjects and the instructions that it may use, as JSON.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
	"unsafe"

	"github.com/segmentio/asm/cpu"
	"github.com/segmentio/asm/cpu/x86"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/internal/lab"
	"sealab/internal/runfile"
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
		return fmt.Errorf("usage: program SUBJECT none|key|payload")
	case !underValgrind():
		return fmt.Errorf("this runs under valgrind, built with -tags valgrind")
	}
	secret := runfile.Secret(args[1])
	for _, c := range controls {
		if c.Subject == args[0] {
			c.run(secret)
			return nil
		}
	}
	return design(args[0], secret)
}

// A listing is the output of --list.
type listing struct {
	Subjects []runfile.Log
	AVX2     bool
	AVX512   bool
}

func list() error {
	l := listing{AVX2: cpu.X86.Has(x86.AVX2), AVX512: cpu.X86.Has(x86.AVX512F)}
	for _, c := range controls {
		l.Subjects = append(l.Subjects, c.Log)
	}
	for _, d := range catalog.All() {
		l.Subjects = append(l.Subjects, runfile.Log{Subject: d.Name})
	}
	return json.NewEncoder(os.Stdout).Encode(l)
}

// noon is the time of every call.
var noon = time.Unix(1_795_132_800, 0)

// design runs the operations of the design called name. It declares values that a server publishes defined
// again: the issued token, and the payload returned to the application. The refusal comes first, because
// an acceptance leaves traces of the payload in memory, such as the sizes of its parts.
func design(name string, secret runfile.Secret) error {
	d, err := catalog.Find(name)
	if err != nil {
		return err
	}
	key, payload := []byte(nil), []byte(`{"step":1,"note":"a state of the server, of some length"}`)
	for i := range max(d.KeySize, codecs.MinSecret) {
		key = append(key, byte(7*i+1))
	}
	switch secret {
	case runfile.Key:
		markSecret(key)
	case runfile.Payload:
		markSecret(payload)
	}
	c, err := open(&d, key)
	if err != nil {
		return err
	}
	token, err := seal(c, payload)
	if err != nil {
		return err
	}
	token = public(token)
	if secret == runfile.Payload {
		return nil // unsealing does not use the payload
	}
	if got, err := refuse(c, change(token)); err == nil {
		return fmt.Errorf("%s accepted a changed token as %d bytes", name, len(got))
	}
	_, err = unseal(c, token)
	return err
}

// public declares the bytes, length and address of b defined. The length of a token is public even if it
// depends on a secret.
func public(b []byte) []byte {
	p := &b
	markPublic(unsafe.Slice((*byte)(unsafe.Pointer(p)), unsafe.Sizeof(b)))
	markPublic(*p)
	return *p
}

// change returns the token with one letter near its end changed, which belongs to the tag.
func change(token []byte) []byte {
	changed := append([]byte(nil), token...)
	at := len(changed) - 10
	if changed[at] == 'A' {
		changed[at] = 'B'
	} else {
		changed[at] = 'A'
	}
	return changed
}

// The operations. Their names identify the operation in valgrind's stacks, so they must not be inlined.

//go:noinline
func open(d *codecs.Design, key []byte) (codecs.Codec, error) {
	return lab.OpenAt(*d, codecs.Config{Secrets: [][]byte{key}}, &codecs.Context{
		Now: noon, Method: "tools/call", Target: "deploy", Arguments: json.RawMessage(`{"env":"prod"}`),
		Principal: new("alice"), Audience: new("releases"),
	})
}

//go:noinline
func seal(c codecs.Codec, payload []byte) ([]byte, error) { return c.Seal(nil, payload) }

//go:noinline
func unseal(c codecs.Codec, token []byte) ([]byte, error) { return c.Unseal(nil, token) }

//go:noinline
func refuse(c codecs.Codec, token []byte) ([]byte, error) { return c.Unseal(nil, token) }
