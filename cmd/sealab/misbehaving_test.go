package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
)

// misbehaviors maps names to the answers of a worker to a token that it did
// not seal.
var misbehaviors = map[string]func(token string){
	"dies":   func(string) { os.Exit(3) },
	"hangs":  func(string) { select {} },
	"floods": flood,
	"out-of-order": func(string) {
		fmt.Println(`{"ok":false,"rejected":"malformed"}` + "\n" + `{"ok":true,"payload_b64":""}`)
	},
	"babbles":   func(string) { fmt.Println("what?") },
	"lies":      func(string) { fmt.Println(`{"ok":false,"unsupported":true}`) },
	"allocates": allocate,
	"hoards":    hoard,
	"behaves":   refuse,
}

// refuse answers that a token is malformed.
func refuse(string) { fmt.Println(`{"ok":false,"rejected":"malformed"}`) }

// buffer is the memory that allocate holds. It is kept, because the runtime
// would zero memory that it hands out again.
var buffer []byte

// allocate allocates the length that a token states, up to 768 MiB. It does not
// touch the memory, so that only the address space grows.
func allocate(token string) {
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(token, "m1."))
	if err == nil && len(raw) >= 4 {
		if n := min(binary.BigEndian.Uint32(raw), 768<<20); int(n) > len(buffer) {
			buffer = make([]byte, n)
		}
	}
	refuse(token)
}

// hoard keeps 128 copies of a token of more than 1 MiB while it judges it: more
// than linear memory allows.
func hoard(token string) {
	if len(token) > 1<<20 {
		copies := bytes.Repeat([]byte(token), 128)
		runtime.KeepAlive(copies)
	}
	refuse(token)
}

// flood writes an endless line.
func flood(string) {
	block := strings.Repeat("x", 1<<20)
	for {
		fmt.Print(block)
	}
}

// misbehaving is a worker that opens the tokens that it sealed. At any other
// token it misbehaves as its last argument says. Its first argument is its
// name.
func misbehaving() {
	misbehave := misbehaviors[os.Args[len(os.Args)-1]]
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
			abilities := "" // for "lies": the worker does not support the ability
			if os.Args[1] == "lies" {
				abilities = `"batch"`
			}
			fmt.Printf(`{"ok":true,"protocol":1,"name":%q,"version":"1","kind":"codec","abilities":[%s],"guarantees":{"total":true}}`+"\n", os.Args[1], abilities)
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
			misbehave(ask.Token)
		default:
			fmt.Println(`{"ok":false,"unsupported":true}`)
		}
	}
}
