package review_test

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// toldControls are servers that use a state, or reveal parts of it, before they verify it. One
// server has another tag for long states.
var toldControls = []control{
	{name: "a part of the state told", build: func() *fixture {
		return &fixture{seal: masked{soundSigned()}, refuse: telling}
	}, checks: []string{"RS-TEXT"}, also: []string{"RS-UNIFORM", "RS-NONCE"}},
	{name: "a trace for odd escapes", build: func() *fixture {
		return &fixture{seal: unescaped{soundSigned()}, refuse: telling}
	}, checks: []string{"RS-TEXT"}, also: []string{"RS-UNIFORM"}},
	{name: "a padding told", build: func() *fixture {
		return &fixture{seal: chained{soundSigned()}, refuse: telling}
	}, checks: []string{"RS-UNIFORM"}, critical: true},
	{name: "states inflated without a limit", build: func() *fixture { return &fixture{seal: packed{soundSigned(), math.MaxInt64}} }, checks: []string{"RS-SIZE"}, also: []string{"RS-LEN"}, effects: true},
	{name: "rounds of work in the token", build: func() *fixture { return &fixture{seal: stretched{soundSigned()}} }, checks: []string{"RS-SIZE"}},
	{name: "a checksum for long states", build: signedWith(func(s *signed) {
		s.sum = func(text []byte) []byte {
			if len(text) > 1024 {
				return binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(text))
			}
			mac := hmac.New(sha256.New, s.key)
			mac.Write(text)
			return mac.Sum(nil)
		}
	}), checks: []string{"RS-KEY"}},
	{name: "a prompt for the first round of a tool", build: func() *fixture {
		f := stepped("")()
		tool := f.around
		f.around = func(s *mcp.Server) {
			tool(s)
			s.AddPrompt(&mcp.Prompt{Name: "publish", Arguments: []*mcp.PromptArgument{{Name: "env", Required: true}}}, f.publishPrompt)
		}
		return f
	}, checks: []string{"RS-METHOD"}, effects: true},
}

// telling is a refusal that states its cause.
func telling(err error) error { return &jsonrpc.Error{Code: -32602, Message: err.Error()} }

// masked is a seal whose state cannot be read. The seal parses the state before it verifies it.
type masked struct{ *signed }

func (s masked) mask(raw []byte) {
	for i := range raw {
		raw[i] ^= s.key[i%len(s.key)] ^ byte(i)
	}
}

func (s masked) mint(state string, b bound, at time.Time) string {
	text, _, _ := strings.Cut(s.signed.mint(state, b, at), ".")
	raw, _ := canonical(text)
	s.mask(raw)
	text = base64.RawURLEncoding.EncodeToString(raw)
	return text + "." + base64.RawURLEncoding.EncodeToString(s.tag(text))
}

func (s masked) open(token string, b bound, now time.Time) (string, error) {
	text, tag, _ := strings.Cut(token, ".")
	raw, err := canonical(text)
	if err != nil || len(raw) < 50 {
		return "", errState
	}
	s.mask(raw)
	if !json.Valid(raw) {
		return "", fmt.Errorf("%w near %q", errState, raw[:min(len(raw), 100)])
	}
	if tag != base64.RawURLEncoding.EncodeToString(s.tag(text)) {
		return "", errState
	}
	text = base64.RawURLEncoding.EncodeToString(raw)
	return s.signed.open(text+"."+base64.RawURLEncoding.EncodeToString(s.tag(text)), b, now)
}

// chained is a seal whose signed tokens are padded and encrypted in CBC mode, which tells a wrong padding from a
// wrong tag. It is sound if the refusal does not tell.
type chained struct{ *signed }

var errPadding = errors.New("no state")

func (s chained) block() cipher.Block {
	block, _ := aes.NewCipher(s.tag("cipher")) // 32 bytes
	return block
}

func (s chained) mint(state string, b bound, at time.Time) string {
	raw := []byte(s.signed.mint(state, b, at))
	n := aes.BlockSize - len(raw)%aes.BlockSize
	raw = append(raw, bytes.Repeat([]byte{byte(n)}, n)...)
	first := make([]byte, aes.BlockSize)
	_, _ = rand.Read(first) // it does not fail
	cipher.NewCBCEncrypter(s.block(), first).CryptBlocks(raw, raw)
	return base64.RawURLEncoding.EncodeToString(append(first, raw...))
}

func (s chained) open(token string, b bound, now time.Time) (string, error) {
	raw, err := canonical(token)
	if err != nil || len(raw) < 2*aes.BlockSize || len(raw)%aes.BlockSize != 0 {
		return "", errState
	}
	first, raw := raw[:aes.BlockSize], raw[aes.BlockSize:]
	cipher.NewCBCDecrypter(s.block(), first).CryptBlocks(raw, raw)
	n := int(raw[len(raw)-1])
	if n == 0 || n > aes.BlockSize || !bytes.HasSuffix(raw, bytes.Repeat([]byte{byte(n)}, n)) {
		return "", errPadding
	}
	return s.signed.open(string(raw[:len(raw)-n]), b, now)
}

// unescaped fails on malformed percent escapes.
type unescaped struct{ *signed }

func (s unescaped) open(token string, b bound, now time.Time) (string, error) {
	if _, err := url.PathUnescape(token); err != nil {
		return "", errors.New("Traceback (most recent call last)")
	}
	return s.signed.open(token, b, now)
}

// packed is a seal whose tokens are compressed together with their tag. It inflates them up to a
// limit.
type packed struct {
	*signed
	limit int64
}

func (s packed) mint(state string, b bound, at time.Time) string {
	return pack(s.signed.mint(state, b, at))
}

func pack(text string) string {
	var out bytes.Buffer
	w, _ := flate.NewWriter(&out, flate.BestCompression) // the level is valid
	_, _ = io.WriteString(w, text)                       // a write to memory does not fail
	_ = w.Close()
	return base64.RawURLEncoding.EncodeToString(out.Bytes())
}

func (s packed) open(token string, b bound, now time.Time) (string, error) {
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return "", errState
	}
	text, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(raw)), s.limit))
	if err != nil || pack(string(text)) != token {
		return "", errState
	}
	return s.signed.open(string(text), b, now)
}

// stretched is a seal whose tokens state the iteration count of the key derivation.
type stretched struct{ *signed }

func (s stretched) sign(text string, rounds int) string {
	key, _ := pbkdf2.Key(sha256.New, string(s.key), []byte("salt"), rounds, 32)
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func (s stretched) mint(state string, b bound, at time.Time) string {
	text, _, _ := strings.Cut(s.signed.mint(state, b, at), ".")
	return "4000." + text + "." + s.sign(text, 4000)
}

func (s stretched) open(token string, b bound, now time.Time) (string, error) {
	count, rest, _ := strings.Cut(token, ".")
	text, tag, _ := strings.Cut(rest, ".")
	rounds, err := strconv.Atoi(count)
	if err != nil || rounds < 1 || strconv.Itoa(rounds) != count || tag != s.sign(text, rounds) {
		return "", errState
	}
	return s.signed.open(text+"."+base64.RawURLEncoding.EncodeToString(s.tag(text)), b, now)
}

// publishPrompt asks as the tool publish does. Its tokens are not bound to a method.
func (f *fixture) publishPrompt(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	raw, _ := json.Marshal(req.Params.Arguments)
	b := bound{target: "publish", arguments: string(raw)}
	state, err := f.seal.open(req.Params.RequestState, b, f.clock.Now())
	switch {
	case req.Params.RequestState != "" && err != nil:
		return nil, &jsonrpc.Error{Code: -32602, Message: "Invalid or expired requestState"}
	case answer(req.Params.InputResponses, "confirm", "ok") == true && state != "":
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "published " + string(raw)}}}}, nil
	}
	p, _ := json.Marshal(progress{Env: req.Params.Arguments["env"]})
	return &mcp.GetPromptResult{RequestState: f.seal.mint(string(p), b, f.clock.Now()), InputRequests: mcp.InputRequestMap{"confirm": form("Publish?", "ok", "boolean")}}, nil
}
