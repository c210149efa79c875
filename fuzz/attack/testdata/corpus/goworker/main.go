// Command goworker runs the worker NAME of the Go part of the corpus: goworker NAME.
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"sealab/codecs"
	"sealab/codecs/worker"
)

// The refusals.
var (
	malformed   error = codecs.Reject(codecs.Malformed, "refused")
	unauthentic error = codecs.Reject(codecs.Unauthentic, "refused")
	misbound    error = codecs.Reject(codecs.Misbound, "refused")
	expired     error = codecs.Reject(codecs.Expired, "refused")
)

// An asked value is a state or token, with its context and time.
type asked struct {
	now int64 // microseconds
	in  []byte
	b   codecs.Context
}

// An instance is a design under one ring. It is both a codec and a scheme.
type instance struct {
	mint, verify func(q asked) ([]byte, error)
}

func (i *instance) Seal(dst, payload []byte) ([]byte, error) {
	return call(i.mint, dst, payload, &codecs.Context{})
}

func (i *instance) Unseal(dst, token []byte) ([]byte, error) {
	return call(i.verify, dst, token, &codecs.Context{})
}

func (i *instance) Mint(dst, state []byte, c *codecs.Context) ([]byte, error) {
	return call(i.mint, dst, state, c)
}

func (i *instance) Verify(dst, token []byte, c *codecs.Context) ([]byte, error) {
	return call(i.verify, dst, token, c)
}

// call appends the answer to dst. A panic becomes a fault of this call only.
func call(do func(asked) ([]byte, error), dst, in []byte, c *codecs.Context) (_ []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	out, err := do(asked{c.Now.UnixMicro(), slices.Clone(in), *c})
	return append(dst, out...), err
}

var text = base64.RawURLEncoding.Strict()

// raw decodes s and refuses it unless it is the canonical encoding.
func raw(s string) ([]byte, error) {
	b, err := text.DecodeString(s)
	if err != nil || text.EncodeToString(b) != s {
		return nil, malformed
	}
	return b, nil
}

func mac(key []byte, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, key)
	for _, p := range parts {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(p))))
		h.Write(p)
	}
	return h.Sum(nil)
}

func optional(s *string) []byte {
	if s == nil {
		return []byte{0}
	}
	return append([]byte{1}, *s...)
}

// digest is the sound digest of a context. It covers every field as received.
func digest(b codecs.Context) []byte {
	return mac([]byte("context"), []byte(b.Method), []byte(b.Target), arguments(b), optional(b.Principal), optional(b.Audience))
}

func arguments(b codecs.Context) []byte {
	if b.Arguments == nil {
		return []byte{0}
	}
	return append([]byte{1}, b.Arguments...)
}

const (
	codecClaims  = "integrity canonical rotation key-separation strong-keys uniform-refusal total byte-exact inert private-keys"
	schemeClaims = codecClaims + " binds-method binds-target binds-arguments binds-principal binds-audience unambiguous expiry"
	secretClaims = " confidentiality fresh-nonces unlinkable"
)

// checked returns the derived keys of a ring, or an error if the ring is weak.
func checked(secrets [][]byte) ([][]byte, error) {
	var keys [][]byte
	for i, s := range secrets {
		if len(s) < 32 || slices.ContainsFunc(secrets[:i], func(t []byte) bool { return string(s) == string(t) }) {
			return nil, errors.New("different secrets of 32 bytes")
		}
		keys = append(keys, mac([]byte("corpus go"), s))
	}
	if len(keys) == 0 {
		return nil, errors.New("no secret")
	}
	return keys, nil
}

// An unbatched stream removes the ability batch from the worker's hello.
type unbatched struct{ io.Writer }

func (u unbatched) Write(p []byte) (int, error) {
	_, err := u.Writer.Write(bytes.Replace(p, []byte(`"abilities":["batch",`), []byte(`"abilities":[`), 1))
	return len(p), err
}

// guarantees returns what the design claims about every property that some worker of the corpus
// claims.
func (d design) guarantees() (all []codecs.Guarantee) {
	claimed := strings.Fields(d.claims)
	for _, p := range strings.Fields(schemeClaims + secretClaims + " single-use") {
		holds := slices.Contains(claimed, p) && !(d.codec && p == "unlinkable") // for schemes only
		all = append(all, codecs.Guarantee{Property: codecs.Property(p), Holds: holds})
	}
	return all
}

func main() {
	d, ok := designs[os.Args[1]]
	if !ok {
		fmt.Fprintf(os.Stderr, "there is no worker %q\n", os.Args[1])
		os.Exit(2)
	}
	row := codecs.Design{Name: os.Args[1], Guarantees: codecs.Always(d.guarantees())}
	if d.codec {
		row.NewCodec = func(c codecs.Config) (codecs.Codec, error) { return d.open(c) }
	} else {
		row.NewScheme = func(c codecs.Config) (codecs.Scheme, error) { return d.open(c) }
	}
	var out io.Writer = os.Stdout
	if d.single {
		out = unbatched{out}
	}
	s := worker.Server{Design: row, Version: "1"}
	if err := s.Serve(os.Stdin, out); err != nil {
		os.Exit(1)
	}
}
