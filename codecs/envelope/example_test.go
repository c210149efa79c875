package envelope_test

import (
	"encoding/json"
	"fmt"
	"time"

	"sealab/codecs"
	"sealab/codecs/envelope"
	"sealab/codecs/hmacsha256"
)

func Example() {
	scheme, err := envelope.New(hmacsha256.Ephemeral(), 10*time.Minute)
	if err != nil {
		fmt.Println(err)
		return
	}
	alice, mallory := "alice", "mallory"
	request := codecs.Binding{
		Method: "tools/call", Target: "deploy",
		Arguments: json.RawMessage(`{"env":"prod"}`), // as received
		Principal: &alice,
	}
	now := time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)
	token, err := scheme.Mint(nil, []byte(`{"step":1}`), &request, now)
	if err != nil {
		fmt.Println(err)
		return
	}
	state, err := scheme.Verify(nil, token, &request, now.Add(time.Minute))
	fmt.Println(string(state), err)

	_, err = scheme.Verify(nil, token, &request, now.Add(time.Hour))
	fmt.Println(codecs.Rejected(err).Stage)
	request.Principal = &mallory
	_, err = scheme.Verify(nil, token, &request, now.Add(time.Minute))
	fmt.Println(codecs.Rejected(err).Stage)
	// Output:
	// {"step":1} <nil>
	// expired
	// misbound
}
