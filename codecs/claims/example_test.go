package claims_test

import (
	"encoding/json"
	"fmt"
	"time"

	"sealab/codecs"
	"sealab/codecs/claims"
	"sealab/codecs/hmacsha256"
)

func Example() {
	scheme, err := claims.New(hmacsha256.Ephemeral(), 10*time.Minute)
	if err != nil {
		fmt.Println(err)
		return
	}
	alice, mallory := "alice", "mallory"
	now := time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)
	request := codecs.Context{
		Now:    now,
		Method: "tools/call", Target: "deploy",
		Arguments: json.RawMessage(`{"env":"prod"}`), // as received
		Principal: &alice,
	}
	token, err := scheme.Mint(nil, []byte(`{"step":1}`), &request)
	if err != nil {
		fmt.Println(err)
		return
	}
	request.Now = now.Add(time.Minute)
	state, err := scheme.Verify(nil, token, &request)
	fmt.Println(string(state), err)

	request.Now = now.Add(time.Hour)
	_, err = scheme.Verify(nil, token, &request)
	fmt.Println(codecs.Rejected(err).Stage)
	request.Principal = &mallory
	request.Now = now.Add(time.Minute)
	_, err = scheme.Verify(nil, token, &request)
	fmt.Println(codecs.Rejected(err).Stage)
	// Output:
	// {"step":1} <nil>
	// expired
	// misbound
}
