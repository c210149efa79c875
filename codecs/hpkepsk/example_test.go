package hpkepsk_test

import (
	"fmt"

	"sealab/codecs/hpkepsk"
	"sealab/codecs/internal/keyring"
)

// One service mints and another opens. Neither holds the secret.
func ExampleSplit() {
	minterKey, openerKey, err := hpkepsk.Split(keyring.Generate())
	if err != nil {
		fmt.Println(err)
		return
	}
	minter, err := hpkepsk.NewMinter(minterKey)
	if err != nil {
		fmt.Println(err)
		return
	}
	opener, err := hpkepsk.NewOpener(openerKey)
	if err != nil {
		fmt.Println(err)
		return
	}
	token, err := minter.Seal(nil, []byte(`{"step":1}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	payload, err := opener.Unseal(nil, token)
	fmt.Printf("%s %v\n", payload, err)
	// Output: {"step":1} <nil>
}
