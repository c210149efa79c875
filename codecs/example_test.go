package codecs_test

import (
	"errors"
	"fmt"

	"sealab/codecs"
	"sealab/codecs/aesgcm"
)

// A client gets the same text for every refused token. The server's log gets
// the stage.
func ExampleRejected() {
	codec := aesgcm.Ephemeral()
	for _, token := range []string{"", "sa1.AAAA", "sa1.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"} {
		_, err := codec.Unseal(nil, []byte(token))
		switch refused := codecs.Rejected(err); {
		case refused != nil:
			fmt.Printf("%v - for the log: %s\n", refused, refused.Stage)
		case errors.Is(err, codecs.ErrUnsupported):
			fmt.Println("this design cannot say")
		case err != nil:
			fmt.Println("a fault:", err)
		}
	}
	// Output:
	// sealab: token refused - for the log: malformed
	// sealab: token refused - for the log: malformed
	// sealab: token refused - for the log: unknown-key
}

// Instruments open designs from catalog rows and never import a design's
// package.
func ExampleDesign_OpenCodec() {
	design := aesgcm.Design // a row, as catalog.Find returns it
	codec, err := design.OpenCodec(codecs.Config{Secrets: [][]byte{[]byte("a secret of 32 random bytes: new")}})
	if err != nil {
		fmt.Println(err)
		return
	}
	token, err := codec.Seal(nil, []byte("payload"))
	fmt.Println(len(token), err)

	_, err = design.OpenCodec(codecs.Config{Secrets: [][]byte{[]byte("too short")}})
	fmt.Println(err)
	// Output:
	// 56 <nil>
	// secret 1 of 1 must have at least 32 bytes and has 9: make one with: (umask 077; head -c 32 /dev/urandom > secret.key)
}
