package vectors

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Identify sets the id of t. The id is the design, the case and eight hex
// digits of a SHA-256. The hash covers every input of an implementation under
// test. If the inputs of a test change, its id changes too.
func (t *Test) Identify(design, name string) error {
	inputs := Test{
		Near: t.Near, Keys: t.Keys, Options: t.Options, Binding: t.Binding, Now: t.Now, TTL: t.TTL, Minted: t.Minted,
		Seed: t.Seed, Payload: t.Payload, State: t.State, Token: t.Token,
	}
	var err error
	t.ID, err = identify(design, name, inputs)
	return err
}

// Identify sets the id of r in the manner of Test.Identify.
func (r *Ring) Identify(design, name string) error {
	var err error
	r.ID, err = identify(design, "ring/"+name, Ring{Secrets: r.Secrets, TTL: r.TTL})
	return err
}

func identify(design, name string, inputs any) (string, error) {
	data, err := marshal(inputs, "")
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return fmt.Sprintf("%s/%s/%s", design, name, hex.EncodeToString(sum[:4])), nil
}
