package aesgcm_test

import (
	"fmt"

	"sealab/codecs"
	"sealab/codecs/aesgcm"
)

func Example() {
	ring := [][]byte{
		[]byte("a secret of 32 random bytes: new"), // seals
		[]byte("a secret of 32 random bytes: old"), // still unseals
	}
	codec, err := aesgcm.New(ring...)
	if err != nil {
		fmt.Println(err) // a short, repeated or colliding secret
		return
	}
	token, err := codec.Seal(nil, []byte(`{"step":1}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	state, err := codec.Unseal(nil, token)
	fmt.Println(string(state), err)

	_, err = codec.Unseal(nil, append(token, 'A'))
	fmt.Println(err, "- for the log:", codecs.Rejected(err).Stage)
	// Output:
	// {"step":1} <nil>
	// sealab: token refused - for the log: malformed
}
