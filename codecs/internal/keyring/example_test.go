package keyring_test

import (
	"crypto/sha256"
	"fmt"

	"sealab/codecs/internal/keyring"
)

// A design derives a value from each secret under its own label. It writes the
// key ID of the sealing key into tokens, and looks the key up when they return.
func ExampleNew() {
	secrets := [][]byte{
		[]byte("a secret of 32 random bytes: new"), // seals
		[]byte("a secret of 32 random bytes: old"), // still unseals
	}
	ring, err := keyring.New(secrets, "example/v1", func(key []byte, _ keyring.ID) ([sha256.Size]byte, error) {
		return sha256.Sum256(key), nil // the derived key itself is cleared afterwards
	})
	if err != nil {
		fmt.Println(err) // a short, repeated or colliding secret
		return
	}
	id := ring.First().ID
	fmt.Println(ring.Lookup(id[:]) == ring.First(), ring.Lookup([]byte("none")) == nil)
	// Output: true true
}
