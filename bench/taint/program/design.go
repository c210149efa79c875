package main

import (
	"encoding/json"
	"fmt"
	"time"
	"unsafe"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/internal/lab"
	"sealab/internal/memcheck"
	"sealab/internal/taintfile"
)

// noon is when tokens of schemes are minted and verified.
var noon = time.Unix(1_795_132_800, 0)

// design runs the operations of the design called name. What a server gives away
// is declared defined again as it is given away: the token, and the payload that
// goes back to the application, whose own business it is then. The refusal comes
// before the acceptance, which leaves traces of the payload behind, such as how
// much memory its parts took.
func design(name string, secret taintfile.Secret) error {
	d, err := catalog.Find(name)
	if err != nil {
		return err
	}
	key, payload := []byte(nil), []byte(`{"step":1,"note":"what the server keeps to itself, of some length"}`)
	for i := range max(d.KeySize, codecs.MinSecret) {
		key = append(key, byte(7*i+1))
	}
	switch secret {
	case taintfile.Key:
		memcheck.MakeUndefined(key)
	case taintfile.Payload:
		memcheck.MakeUndefined(payload)
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
	if secret == taintfile.Payload {
		return nil // what comes back is made of the token and the key alone
	}
	if got, err := refuse(c, change(token)); err == nil {
		return fmt.Errorf("sealab: %s accepted a changed token as %d bytes", name, len(got))
	}
	_, err = unseal(c, token)
	return err
}

// public declares b defined: its bytes, its length and its place, since the
// length of a token may follow from a secret and is seen by everybody.
func public(b []byte) []byte {
	p := &b
	memcheck.MakeDefined(unsafe.Slice((*byte)(unsafe.Pointer(p)), unsafe.Sizeof(b)))
	memcheck.MakeDefined(*p)
	return *p
}

// change returns the token with one letter near its end changed, where tags are.
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

// The operations. Their names in memcheck's stacks say which one was at work,
// so they must not be inlined.

//go:noinline
func open(d *codecs.Design, key []byte) (codecs.Codec, error) {
	in, err := lab.Open(*d, codecs.Config{Secrets: [][]byte{key}})
	if err != nil {
		return nil, err
	}
	principal, audience := "alice", "releases"
	return in.At(&codecs.Context{
		Now: noon, Method: "tools/call", Target: "deploy", Arguments: json.RawMessage(`{"env":"prod"}`),
		Principal: &principal, Audience: &audience,
	}), nil
}

//go:noinline
func seal(c codecs.Codec, payload []byte) ([]byte, error) { return c.Seal(nil, payload) }

//go:noinline
func unseal(c codecs.Codec, token []byte) ([]byte, error) { return c.Unseal(nil, token) }

//go:noinline
func refuse(c codecs.Codec, token []byte) ([]byte, error) { return c.Unseal(nil, token) }
