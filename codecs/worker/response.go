package worker

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"sealab/codecs"
)

// A response is one line of a worker, as a client reads it. Each outcome has
// members of its own.
type response struct {
	OK *bool `json:"ok"`

	Handle   *int64     `json:"handle"`
	Token    *text      `json:"token"`
	State    *octets    `json:"state_b64"`
	Payload  *octets    `json:"payload_b64"`
	Verdicts []response `json:"verdicts"`
	Elapsed  *int64     `json:"elapsed_ns"`

	Refused     *string `json:"refused"`
	Rejected    string  `json:"rejected"`
	Reason      string  `json:"reason"`
	Unsupported bool    `json:"unsupported"`
	Fault       *string `json:"fault"`
}

// parse decodes one line into v. Its error is a *breach.
func parse(data []byte, v any) error {
	if !utf8.Valid(data) {
		return breached(Garbage, "the answer is not UTF-8: %.80q", data)
	}
	if data = bytes.TrimSpace(data); len(data) == 0 || data[0] != '{' {
		return breached(Garbage, "the answer is not an object: %.80q", data)
	}
	if err := json.Unmarshal(data, v); err != nil {
		return breached(Garbage, "the answer cannot be read: %v: %.80q", err, data)
	}
	return nil
}

func parseResponse(data []byte) (*response, error) {
	r := new(response)
	if err := parse(data, r); err != nil {
		return nil, err
	}
	if r.OK == nil {
		return nil, breached(Garbage, "the answer has no member ok: %.80q", data)
	}
	return r, nil
}

// outcome returns nil for an answer that is ok, and the error for any other.
func (r *response) outcome() error {
	switch {
	case r.OK == nil:
		return breached(Garbage, "a verdict has no member ok")
	case *r.OK:
		return nil
	case r.Rejected != "":
		stage, err := codecs.ParseStage(r.Rejected)
		if err != nil {
			return breached(Garbage, "it refused at the stage %q, which there is not", r.Rejected)
		}
		return codecs.Reject(stage, r.Reason)
	case r.Unsupported:
		return codecs.ErrUnsupported
	case r.Refused != nil:
		return &RefusedError{*r.Refused}
	case r.Fault != nil:
		return breached(Faulted, "%.200s", *r.Fault)
	default:
		return breached(Garbage, "the answer is not ok and does not say why")
	}
}

// A RefusedError says that the worker does not take a configuration.
type RefusedError struct{ Why string }

// Error quotes the worker.
func (e *RefusedError) Error() string {
	return "sealab: the worker refuses the configuration: " + e.Why
}

// parseHello decodes and checks the answer to hello.
func parseHello(data []byte) (h Hello, err error) {
	r, err := parseResponse(data)
	if err != nil {
		return h, err
	}
	if err := r.outcome(); err != nil {
		return h, breached(Garbage, "it does not answer hello: %v", err)
	}
	if err := parse(data, &h); err != nil {
		return h, err
	}
	switch {
	case h.Protocol != Version:
		return h, breached(Garbage, "it speaks protocol %d, want %d", h.Protocol, Version)
	case h.Name == "":
		return h, breached(Garbage, "it has no name")
	case !slices.Contains([]codecs.Kind{codecs.KindCodec, codecs.KindScheme}, h.Kind):
		return h, breached(Garbage, "it is a %q, want %s or %s", h.Kind, codecs.KindCodec, codecs.KindScheme)
	}
	return h, nil
}
