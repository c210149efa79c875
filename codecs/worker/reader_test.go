package worker

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
)

// A plainRequest is a request as encoding/json decodes it.
type plainRequest struct {
	Op       string            `json:"op"`
	Protocol int64             `json:"protocol"`
	Keys     []plainOctets     `json:"keys_b64"`
	TTL      json.Number       `json:"ttl"`
	Options  map[string]string `json:"options"`
	Handle   int64             `json:"handle"`
	Now      json.Number       `json:"now"`
	State    *plainOctets      `json:"state_b64"`
	Payload  *plainOctets      `json:"payload_b64"`
	Token    *string           `json:"token"`
	Tokens   *[]string         `json:"tokens"`
	Binding  struct {
		Method    string          `json:"method"`
		Target    string          `json:"target"`
		Arguments json.RawMessage `json:"arguments"`
		Principal *string         `json:"principal"`
		Audience  *string         `json:"audience"`
	} `json:"binding"`
	Do string `json:"do"`
	N  int64  `json:"n"`
}

type plainOctets []byte

func (o *plainOctets) UnmarshalJSON(quoted []byte) error {
	var text string
	if err := json.Unmarshal(quoted, &text); err != nil {
		return err
	}
	out, ok := base64url.AppendDecode([]byte{}, []byte(text))
	if *o = out; !ok {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// request returns the request that the reader must produce.
func (p *plainRequest) request() request {
	q := request{
		Op: []byte(p.Op), Protocol: p.Protocol, TTL: []byte(p.TTL), Options: p.Options, Handle: p.Handle,
		Now: []byte(p.Now), Do: []byte(p.Do), N: p.N,
		Context: codecs.Context{
			Method: p.Binding.Method, Target: p.Binding.Target, Arguments: p.Binding.Arguments,
			Principal: p.Binding.Principal, Audience: p.Binding.Audience,
		},
	}
	for _, key := range p.Keys {
		q.Keys = append(q.Keys, key)
	}
	if string(p.Binding.Arguments) == "null" {
		q.Context.Arguments = nil
	}
	if p.State != nil {
		q.State = *p.State
	}
	if p.Payload != nil {
		q.Payload = *p.Payload
	}
	if p.Token != nil {
		q.Token = []byte(*p.Token)
	}
	if p.Tokens != nil {
		q.Tokens = [][]byte{}
		for _, t := range *p.Tokens {
			q.Tokens = append(q.Tokens, []byte(t))
		}
	}
	return q
}

// requests holds lines of every form of the protocol, and some invalid ones.
var requests = [][]byte{
	[]byte(`{"op":"hello","protocol":1}`),
	[]byte(`{"op":"open","keys_b64":["AAAA","_-8",null,""],"ttl":600,"options":{"name":"value","other":null}}`),
	[]byte(`{"op":"open","keys_b64":[],"ttl":-0.5e+3,"options":{}}`),
	[]byte(`{"op":"mint","handle":1,"now":1795132800.25,"state_b64":"InN0YXRlIg","binding":{"method":"tools/call","target":"d\u0065ploy\n","arguments":{"env":["prod",1.5e-3,true,false,null,{}]},"principal":"alice","audience":null}}`),
	[]byte(`{"op":"seal","handle":-7,"payload_b64":""}`),
	[]byte(`{"op":"verify","handle":1,"now":"12","token":"v1.AAAA","binding":{"arguments":null}}`),
	[]byte(` {"OP":"unseal","Handle":1,"tokens":["v1.AAAA","\uD83D\uDE00\/\b\f\r\t\"\\",null,""]} `),
	[]byte(`{"op":"bench","handle":1,"do":"verify","n":1000,"binding":null,"extra":[[{"a":{"b":[]}}],"\u00e9"]}`),
	[]byte(`null`), []byte(`[]`), []byte(`"op"`), []byte(`{"op":7}`), []byte(`{"handle":1.0}`), []byte(`{"handle":01}`),
	[]byte(`{"handle":9223372036854775808}`), []byte(`{"token":["a"]}`), []byte(`{"binding":"b"}`), []byte(`{"now":true}`),
}

// TestReaderAgreesWithEncodingJSON checks that the reader and encoding/json
// read the same request or both fail, on valid lines and on lines with one or
// two changed bytes. TestTextOfOthers covers surrogates, which encoding/json
// loses.
func TestReaderAgreesWithEncodingJSON(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	accepted := 0
	for range 50_000 {
		line := spoilt(random, requests[random.IntN(len(requests))])
		var want plainRequest
		wantErr := json.Unmarshal(line, &want)
		var got request
		err := got.parse(line)
		require.Equal(t, wantErr == nil, err == nil, "%s: got %v, want %v", line, err, wantErr)
		if err == nil && !bytes.Contains(bytes.ToLower(line), []byte(`\ud`)) {
			accepted++
			requireSameRequest(t, line, want.request(), got)
		}
	}
	t.Logf("%d lines were requests", accepted)
	require.Greater(t, accepted, 5_000)
}

// spoilt returns a line with up to two changes.
func spoilt(random *rand.Rand, line []byte) []byte {
	const structural = "{}[]\",:\\u0e1.-+nulltruefals \tA_"
	line = bytes.Clone(line)
	for range random.IntN(3) {
		at := random.IntN(len(line))
		switch random.IntN(4) {
		case 0:
			line[at] = structural[random.IntN(len(structural))]
		case 1:
			line[at] = byte(random.IntN(128))
		case 2:
			line = append(line[:at], line[at+1:]...)
		default:
			line = append(line[:at+1], line[at:]...)
		}
		if len(line) == 0 {
			return line
		}
	}
	return line
}

// requireSameRequest compares two requests. Nil and empty are equal if they
// mean the same.
func requireSameRequest(t *testing.T, line []byte, want, got request) {
	t.Helper()
	for _, q := range []*request{&want, &got} {
		q.Op, q.Do = append([]byte{}, q.Op...), append([]byte{}, q.Do...)
		q.TTL, q.Now = append([]byte{}, q.TTL...), append([]byte{}, q.Now...)
		q.Keys = append([][]byte{}, q.Keys...)
		q.Options = optionsOf(q)
		for i, token := range q.Tokens {
			q.Tokens[i] = append([]byte{}, token...)
		}
	}
	require.Equal(t, want, got, "%s", line)
}

func optionsOf(q *request) map[string]string {
	if q.Options == nil {
		return map[string]string{}
	}
	return q.Options
}

func TestReaderBoundsNesting(t *testing.T) {
	deep := func(n int) []byte {
		return append(bytes.Repeat([]byte(`{"x":[`), n), bytes.Repeat([]byte("]}"), n)...)
	}
	require.NoError(t, new(request).parse(deep(5_000)))
	require.ErrorContains(t, new(request).parse(deep(5_001)), "nesting")
	require.Error(t, new(request).parse(bytes.Repeat([]byte(`{"binding":`), 100_000)))
	_, err := parseResponse(bytes.Repeat([]byte(`{"verdicts":[`), 100_000), 1)
	require.Error(t, err)
}
