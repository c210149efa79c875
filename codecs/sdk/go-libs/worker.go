// Command go-libs serves versions of Go token libraries with known
// vulnerabilities as sealab workers, protocol 1. Each row is built alone, under
// its build tag and with its own go.mod, so that two versions of a module never
// meet.
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
)

// A row opens a library under one key.
type row struct {
	name, module string
	sealed       bool
	open         func(key []byte) (opened, error)
}

// opened holds the functions of a library under a key.
type opened struct {
	seal   func(payload []byte) (string, error)
	unseal func(token string) ([]byte, error)
}

var errKey = errors.New("want one key of 32 bytes")

type request struct {
	Op      string   `json:"op"`
	Keys    []string `json:"keys_b64"`
	Handle  int      `json:"handle"`
	Payload string   `json:"payload_b64"`
	Token   string   `json:"token"`
	Tokens  []string `json:"tokens"`
}

type answer = map[string]any

var handles []opened

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := json.NewEncoder(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var r request
		if err := json.Unmarshal(line, &r); err != nil {
			out.Encode(answer{"ok": false, "fault": err.Error()})
			continue
		}
		out.Encode(safely(func() answer { return ask(r) }))
	}
}

// safely calls do and turns a panic into a fault.
func safely(do func() answer) (a answer) {
	defer func() {
		if r := recover(); r != nil {
			a = answer{"ok": false, "fault": fmt.Sprint("panic: ", r)}
		}
	}()
	return do()
}

func ask(r request) answer {
	switch r.Op {
	case "hello":
		return answer{"ok": true, "protocol": 1, "name": current.name, "version": version(), "kind": "codec",
			"abilities": []string{"batch", "parallel"}, "guarantees": answer{
				"integrity": true, "total": true, "byte-exact": true, "inert": false, "private-keys": true, "confidentiality": current.sealed,
				"canonical": false, "rotation": false, "key-separation": false, "strong-keys": false, "uniform-refusal": false, "single-use": false,
			}}
	case "open":
		key, err := key(r.Keys)
		if err != nil {
			return answer{"ok": false, "refused": err.Error()}
		}
		o, err := current.open(key)
		if err != nil {
			return answer{"ok": false, "refused": err.Error()}
		}
		handles = append(handles, o)
		return answer{"ok": true, "handle": len(handles)}
	case "close":
		return answer{"ok": true}
	case "seal":
		payload, err := base64.RawURLEncoding.DecodeString(r.Payload)
		if err != nil {
			return answer{"ok": false, "fault": err.Error()}
		}
		token, err := handles[r.Handle-1].seal(payload)
		if err != nil {
			return answer{"ok": false, "fault": err.Error()}
		}
		return answer{"ok": true, "token": token}
	case "unseal":
		o := handles[r.Handle-1]
		if r.Tokens == nil {
			return verdict(o, r.Token)
		}
		verdicts := []answer{}
		for _, token := range r.Tokens {
			verdicts = append(verdicts, safely(func() answer { return verdict(o, token) }))
		}
		return answer{"ok": true, "verdicts": verdicts}
	}
	return answer{"ok": false, "unsupported": true}
}

func key(keys []string) ([]byte, error) {
	if len(keys) != 1 {
		return nil, errKey
	}
	key, err := base64.RawURLEncoding.DecodeString(keys[0])
	if err != nil || len(key) != 32 {
		return nil, errKey
	}
	return key, nil
}

func verdict(o opened, token string) answer {
	payload, err := o.unseal(token)
	if err != nil {
		return answer{"ok": false, "rejected": "unauthentic", "reason": fmt.Sprintf("%T", err)}
	}
	return answer{"ok": true, "payload_b64": base64.RawURLEncoding.EncodeToString(payload)}
}

// version returns the version of the library in this program.
func version() string {
	info, _ := debug.ReadBuildInfo()
	for _, m := range info.Deps {
		if m.Path == current.module {
			return strings.TrimPrefix(m.Version, "v")
		}
	}
	return "unknown"
}

// latin1 decodes bytes as Latin-1.
func latin1(payload []byte) string {
	runes := make([]rune, len(payload))
	for i, b := range payload {
		runes[i] = rune(b)
	}
	return string(runes)
}

func fromLatin1(text string) ([]byte, error) {
	var payload []byte
	for _, r := range text {
		if r > 0xff {
			return nil, errors.New("the state is not Latin-1")
		}
		payload = append(payload, byte(r))
	}
	return payload, nil
}
