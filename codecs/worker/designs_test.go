package worker_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"sealab/codecs"
)

// reverser is a codec without a key: "r." and the reversed payload.
var reverser = codecs.Design{
	Name:       "reverser",
	Guarantees: codecs.Always(append(codecs.Holds(codecs.Total), codecs.Disclaims(codecs.Integrity, "no key")...)),
	NewCodec: func(c codecs.Config) (codecs.Codec, error) {
		for _, s := range c.Secrets {
			if len(s) < codecs.MinSecret {
				return nil, fmt.Errorf("a secret has %d bytes", len(s))
			}
		}
		return reverse{}, nil
	},
}

type reverse struct{}

func (reverse) Seal(dst, payload []byte) ([]byte, error) {
	payload = slices.Clone(payload)
	slices.Reverse(payload)
	return append(append(dst, "r."...), payload...), nil
}

func (reverse) Unseal(dst, token []byte) ([]byte, error) {
	payload, ok := bytes.CutPrefix(bytes.Clone(token), []byte("r."))
	if !ok {
		return dst, codecs.Reject(codecs.Malformed, "prefix")
	}
	slices.Reverse(payload)
	return append(dst, payload...), nil
}

// ticket is a scheme whose tokens show all inputs of Mint. It refuses every
// token.
var ticket = codecs.Design{
	Name:    "ticket",
	Options: []codecs.Option{{Name: "style", Doc: "how it looks", Values: []string{"plain", "fancy"}}},
	NewScheme: func(c codecs.Config) (codecs.Scheme, error) {
		return showing{c}, nil
	},
}

type ticketContents struct {
	Style               string
	TTL                 time.Duration
	Now                 time.Time
	State               []byte
	Method, Target      string
	Principal, Audience []byte
	Arguments           string
}

type showing struct{ config codecs.Config }

func (s showing) Mint(dst, state []byte, b *codecs.Context) ([]byte, error) {
	t := ticketContents{
		Style: s.config.Options["style"], Now: b.Now.UTC(), State: state,
		Method: b.Method, Target: b.Target, Arguments: string(b.Arguments),
		Principal: []byte(*b.Principal), Audience: []byte(*b.Audience),
	}
	if s.config.TTL != nil {
		t.TTL = *s.config.TTL
	}
	token, err := json.Marshal(t)
	return append(dst, token...), err
}

func (s showing) Verify(dst, token []byte, b *codecs.Context) ([]byte, error) {
	if string(token) == "expired" && b.Now.Equal(time.Unix(-1, 5e8)) {
		return dst, codecs.Reject(codecs.Expired, "expired")
	}
	return dst, codecs.ErrUnsupported
}
