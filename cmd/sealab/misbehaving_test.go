package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// misbehaviours are what a worker does with a token that is not its own, by name.
var misbehaviours = map[string]func(){
	"dies":   func() { os.Exit(3) },
	"hangs":  func() { select {} },
	"floods": flood,
	"out-of-order": func() {
		fmt.Println(`{"ok":false,"rejected":"malformed"}` + "\n" + `{"ok":true,"payload_b64":""}`)
	},
	"babbles": func() { fmt.Println("what?") },
	"lies":    func() { fmt.Println(`{"ok":false,"unsupported":true}`) },
	"behaves": func() { fmt.Println(`{"ok":false,"rejected":"malformed"}`) },
}

// flood writes a line without end.
func flood() {
	block := strings.Repeat("x", 1<<20)
	for {
		fmt.Print(block)
	}
}

// misbehaving is a worker that forgets nothing it sealed and misbehaves at every
// other token, in the way that its argument names. It says that it takes batches.
func misbehaving() {
	misbehave := misbehaviours[os.Args[1]]
	sealed, lines := map[string]string{}, bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var ask struct {
			Op, Token string
			Payload   string   `json:"payload_b64"`
			Tokens    []string `json:"tokens"`
		}
		if err := json.Unmarshal(line, &ask); err != nil {
			os.Exit(4)
		}
		payload, known := sealed[ask.Token]
		switch {
		case ask.Op == "hello":
			fmt.Printf(`{"ok":true,"protocol":1,"name":%q,"version":"1","kind":"codec","abilities":["batch"],"guarantees":{"total":true}}`+"\n", os.Args[1])
		case ask.Op == "open":
			fmt.Println(`{"ok":true,"handle":1}`)
		case ask.Op == "close":
			fmt.Println(`{"ok":true}`)
		case ask.Op == "seal":
			token := fmt.Sprintf("m1.%s", base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "token number %06d", len(sealed))))
			sealed[token] = ask.Payload
			fmt.Printf(`{"ok":true,"token":%q}`+"\n", token)
		case ask.Op == "unseal" && known:
			fmt.Printf(`{"ok":true,"payload_b64":%q}`+"\n", payload)
		case ask.Op == "unseal" && len(ask.Tokens) == 0:
			misbehave()
		default:
			fmt.Println(`{"ok":false,"unsupported":true}`)
		}
	}
}
