package worker

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"time"

	"sealab/codecs"
	"sealab/codecs/b64"
)

// Version is the version of the protocol.
const Version = 1

// A request is one line to a worker, as a server reads it.
type request struct {
	Op       string            `json:"op"`
	Protocol int               `json:"protocol"`
	Keys     []octets          `json:"keys_b64"`
	TTL      json.Number       `json:"ttl"`
	Options  map[string]string `json:"options"`
	Handle   int64             `json:"handle"`
	Now      json.Number       `json:"now"`
	State    *octets           `json:"state_b64"`
	Payload  *octets           `json:"payload_b64"`
	Token    *text             `json:"token"`
	Tokens   *[]text           `json:"tokens"`
	Binding  wireBinding       `json:"binding"`
	Do       string            `json:"do"`
	N        int               `json:"n"`
}

// operation begins a request, as a client writes it.
func operation(name string) *line { return new(line).text("op", name) }

// keys finds the keys of a written open request. base64url has no bracket.
var keys = regexp.MustCompile(`"keys_b64":\[[^\]]*\]`)

// withoutKeys returns a written request with its keys left out.
func withoutKeys(sent []byte) []byte {
	return keys.ReplaceAll(sent, []byte(`"keys_b64":"left out"`))
}

// octets is bytes as the protocol writes them.
type octets []byte

// UnmarshalJSON implements json.Unmarshaler.
func (o *octets) UnmarshalJSON(quoted []byte) error {
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil {
		return err
	}
	out, ok := b64.AppendDecode([]byte{}, []byte(s))
	if !ok {
		return fmt.Errorf("sealab: %d characters are not canonical base64url without padding", len(s))
	}
	*o = out
	return nil
}

// A wireBinding is a codecs.Binding as the protocol writes it.
type wireBinding struct {
	Method    text            `json:"method"`
	Target    text            `json:"target"`
	Arguments json.RawMessage `json:"arguments"`
	Principal *text           `json:"principal"`
	Audience  *text           `json:"audience"`
}

func (w *wireBinding) binding() *codecs.Binding {
	b := &codecs.Binding{
		Method:    string(w.Method),
		Target:    string(w.Target),
		Principal: (*string)(w.Principal),
		Audience:  (*string)(w.Audience),
	}
	if !bytes.Equal(w.Arguments, []byte("null")) {
		b.Arguments = w.Arguments
	}
	return b
}

// config returns what an open asks for, over the given default options.
func (r *request) config(options map[string]string) (codecs.Config, error) {
	c := codecs.Config{Options: make(map[string]string)}
	for name, value := range options {
		c.Options[name] = value
	}
	for name, value := range r.Options {
		c.Options[name] = value
	}
	for _, key := range r.Keys {
		c.Secrets = append(c.Secrets, key)
	}
	if r.TTL == "" {
		return c, nil
	}
	ttl, err := span(r.TTL)
	c.TTL = &ttl
	return c, err
}

// context returns the binding and the time of the request.
func (r *request) context() (*codecs.Binding, time.Time, error) {
	if r.Now == "" {
		return nil, time.Time{}, fmt.Errorf("sealab: now is missing")
	}
	now, err := instant(r.Now)
	return r.Binding.binding(), now, err
}
