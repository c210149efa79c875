package keyring_test

import (
	"crypto/sha256"
	"fmt"

	"sealab/codecs/internal/keyring"
)

// A design derives what it keeps of each secret under a label of its own, names
// the key that sealed in its tokens, and looks it up when they return.
func ExampleNew() {
	secrets := [][]byte{
		[]byte("a secret of 32 random bytes: new"), // seals
		[]byte("a secret of 32 random bytes: old"), // still unseals
	}
	ring, err := keyring.New(secrets, "example/v1", func(key []byte, _ keyring.ID) ([sha256.Size]byte, error) {
		return sha256.Sum256(key), nil // what the design keeps; the key itself is cleared afterwards
	})
	if err != nil {
		fmt.Println(err) // a short, repeated or colliding secret
		return
	}
	id := ring.First().ID
	fmt.Println(ring.Lookup(id[:]) == ring.First(), ring.Lookup([]byte("none")) == nil)
	// Output: true true
}
