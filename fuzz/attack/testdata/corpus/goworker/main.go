// Command goworker is the part of the corpus in Go: goworker NAME.
package main

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// A request is one line of the laboratory.
type request struct {
	Op      string
	Keys    []string `json:"keys_b64"`
	TTL     float64
	Handle  int
	Now     json.Number
	State   string `json:"state_b64"`
	Payload string `json:"payload_b64"`
	Token   string
	Tokens  []string
	Binding *binding
}

type binding struct {
	Method, Target string
	Arguments      json.RawMessage
	Principal      *string
	Audience       *string
}

// A rejected error is a refusal at a stage.
type rejected string

func (r rejected) Error() string { return string(r) }

const (
	malformed   = rejected("malformed")
	unauthentic = rejected("unauthentic")
	misbound    = rejected("misbound")
	expired     = rejected("expired")
)

// An asked value is a state or token with its context.
type asked struct {
	now int64 // microseconds
	in  []byte
	b   binding
}

// A worker has one handle for each ring.
type worker struct {
	mint, verify func(q asked) ([]byte, error)
}

var text = base64.RawURLEncoding.Strict()

// raw decodes the one spelling of bytes.
func raw(s string) ([]byte, error) {
	b, err := text.DecodeString(s)
	if err != nil || text.EncodeToString(b) != s {
		return nil, malformed
	}
	return b, nil
}

func mac(key []byte, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, key)
	for _, p := range parts {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(p))))
		h.Write(p)
	}
	return h.Sum(nil)
}

func optional(s *string) []byte {
	if s == nil {
		return []byte{0}
	}
	return append([]byte{1}, *s...)
}

// digest is the sound digest of a context: every field as it came.
func digest(b binding) []byte {
	return mac([]byte("context"), []byte(b.Method), []byte(b.Target), b.arguments(), optional(b.Principal), optional(b.Audience))
}

func (b binding) arguments() []byte {
	if b.Arguments == nil || string(b.Arguments) == "null" {
		return []byte{0}
	}
	return append([]byte{1}, b.Arguments...)
}

const (
	codecClaims  = "integrity canonical rotation key-separation strong-keys uniform-refusal total byte-exact inert private-keys"
	schemeClaims = codecClaims + " binds-method binds-target binds-arguments binds-principal binds-audience unambiguous expiry"
	secretClaims = " confidentiality fresh-nonces unlinkable"
)

// checked returns the derived keys of a ring, or why it is not taken.
func checked(secrets [][]byte) ([][]byte, error) {
	var keys [][]byte
	for i, s := range secrets {
		if len(s) < 32 || slices.ContainsFunc(secrets[:i], func(t []byte) bool { return string(s) == string(t) }) {
			return nil, errors.New("different secrets of 32 bytes")
		}
		keys = append(keys, mac([]byte("corpus go"), s))
	}
	if len(keys) == 0 {
		return nil, errors.New("no secret")
	}
	return keys, nil
}

type verdict map[string]any

func (w *worker) ask(q asked, do func(asked) ([]byte, error), member string) (v verdict) {
	defer func() {
		if p := recover(); p != nil {
			v = verdict{"ok": false, "fault": fmt.Sprint(p)}
		}
	}()
	out, err := do(q)
	var r rejected
	switch {
	case errors.As(err, &r):
		return verdict{"ok": false, "rejected": string(r), "reason": "refused"}
	case err != nil:
		return verdict{"ok": false, "fault": err.Error()}
	case member == "token":
		return verdict{"ok": true, member: string(out)}
	}
	return verdict{"ok": true, member: base64.RawURLEncoding.EncodeToString(out)}
}

func micros(now json.Number) int64 {
	whole, fraction, _ := strings.Cut(now.String(), ".")
	f, err := now.Float64()
	if err != nil {
		return 0
	}
	if strings.ContainsAny(fraction+whole, "eE") {
		return int64(f * 1e6)
	}
	fraction = (fraction + "000000")[:6]
	n, _ := json.Number(whole).Int64()
	m, _ := json.Number(strings.TrimLeft(fraction, "0")).Int64()
	if f < 0 {
		return n*1e6 - m
	}
	return n*1e6 + m
}

type session struct {
	name    string
	d       design
	handles []*worker
}

// lossy reports whether a text of the binding may have lost a lone surrogate.
func (r request) lossy(line []byte) bool {
	if r.Binding == nil || !bytes.Contains(bytes.ToLower(line), []byte(`\ud`)) {
		return false
	}
	b := r.Binding
	return strings.Contains(b.Method+b.Target+string(optional(b.Principal))+string(optional(b.Audience)), "\ufffd")
}

func (s *session) answer(r request, line []byte) verdict {
	scheme := s.d.kind() == "scheme"
	switch r.Op {
	case "hello":
		guarantees := map[string]bool{}
		for _, p := range strings.Fields(schemeClaims + secretClaims + " single-use") {
			guarantees[p] = slices.Contains(strings.Fields(s.d.claims), p) && (scheme || p != "unlinkable") // which is about claims
		}
		return verdict{"ok": true, "protocol": 1, "name": s.name, "version": "1", "kind": s.d.kind(), "abilities": s.d.abilities(), "guarantees": guarantees}
	case "open":
		var secrets [][]byte
		for _, k := range r.Keys {
			secret, _ := base64.RawURLEncoding.DecodeString(k)
			secrets = append(secrets, secret)
		}
		w, err := s.d.open(secrets, int64(r.TTL*1e6))
		if err != nil {
			return verdict{"ok": false, "refused": err.Error()}
		}
		s.handles = append(s.handles, w)
		return verdict{"ok": true, "handle": len(s.handles)}
	case "close":
		return verdict{"ok": true}
	}
	names := map[string]string{"seal": "codec", "unseal": "codec", "mint": "scheme", "verify": "scheme"}
	if names[r.Op] != s.d.kind() {
		return verdict{"ok": false, "unsupported": true}
	}
	if r.lossy(line) {
		return verdict{"ok": false, "unsupported": true}
	}
	w := s.handles[r.Handle-1]
	q := asked{now: time.Now().UnixMicro()}
	if scheme {
		q.now = micros(r.Now)
	}
	if r.Binding != nil {
		q.b = *r.Binding
	}
	switch r.Op {
	case "seal", "mint":
		q.in, _ = base64.RawURLEncoding.DecodeString(r.State + r.Payload)
		return w.ask(q, w.mint, "token")
	}
	member := map[bool]string{true: "state_b64", false: "payload_b64"}[scheme]
	if r.Tokens == nil {
		q.in = []byte(r.Token)
		return w.ask(q, w.verify, member)
	}
	verdicts := []verdict{}
	for _, t := range r.Tokens {
		q.in = []byte(t)
		verdicts = append(verdicts, w.ask(q, w.verify, member))
	}
	return verdict{"ok": true, "verdicts": verdicts}
}

func main() {
	d, ok := designs[os.Args[1]]
	if !ok {
		fmt.Fprintf(os.Stderr, "there is no worker %q\n", os.Args[1])
		os.Exit(2)
	}
	s := &session{name: os.Args[1], d: d}
	lines := bufio.NewReaderSize(os.Stdin, 1<<16)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var r request
		answer := verdict{"ok": false, "fault": "the request cannot be read"}
		if err := json.Unmarshal(line, &r); err == nil {
			answer = s.answer(r, line)
		}
		out, err := json.Marshal(answer)
		if err != nil {
			out = []byte(`{"ok":false,"fault":"the answer cannot be written"}`)
		}
		if _, err := os.Stdout.Write(append(out, '\n')); err != nil {
			return
		}
	}
}
