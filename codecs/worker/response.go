package worker

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"sealab/codecs"
)

// A response is one line of a worker, as a client reads it. Each outcome has
// its own members; absent members are nil. Token may share memory with the
// line.
type response struct {
	OK *bool

	Handle   *int64
	Token    []byte
	State    []byte
	Payload  []byte
	Verdicts []response
	Elapsed  *int64

	Refused     *string
	Rejected    string
	Reason      string
	Unsupported bool
	Fault       *string

	Others [][]byte // values of unknown members, which share memory with the line
}

// parseResponse parses one line, which may have a verdict for each of a number
// of tokens. If it fails, the error is a *breach.
func parseResponse(line []byte, tokens int) (*response, error) {
	if err := isObject(line); err != nil {
		return nil, err
	}
	a, r := new(response), reader{src: bytes.TrimSpace(line), verdictsLeft: tokens + 1}
	a.read(&r)
	if err := r.end(); err != nil {
		return nil, newQuotedBreach(line, Garbage, "the answer cannot be read: %v", err)
	}
	if a.OK == nil {
		return nil, newQuotedBreach(line, Garbage, "the answer has no member ok")
	}
	return a, nil
}

func isObject(line []byte) error {
	if !utf8.Valid(line) {
		return newQuotedBreach(line, Garbage, "the answer is not UTF-8")
	}
	if bytes.HasPrefix(line, []byte("\ufeff")) {
		return newQuotedBreach(line, Garbage, "the answer begins with a byte order mark; want an object")
	}
	if !bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) {
		return newQuotedBreach(line, Garbage, "the answer is not an object")
	}
	return nil
}

// read reads an answer, or a verdict in an answer.
func (a *response) read(r *reader) {
	r.object(func(name []byte) bool {
		before := r.err
		known := a.member(r, name)
		if before == nil && r.err != nil {
			r.err = fmt.Errorf("member %s: %w", name, r.err)
		}
		return known
	})
}

// member reads the value of a member. It reports false if there is no such
// member.
func (a *response) member(r *reader, name []byte) bool {
	switch string(name) {
	case "ok":
		a.OK = new(r.bool())
	case "handle":
		a.Handle = new(r.integer())
	case "token":
		a.Token = r.string()
	case "state_b64":
		a.State = r.octets()
	case "payload_b64":
		a.Payload = r.octets()
	case "verdicts":
		a.Verdicts = r.verdicts()
	case "elapsed_ns":
		a.Elapsed = new(r.integer())
	case "refused":
		a.Refused = new(string(r.string()))
	case "rejected":
		a.Rejected = string(r.string())
	case "reason":
		a.Reason = string(r.string())
	case "unsupported":
		a.Unsupported = r.bool()
	case "fault":
		a.Fault = new(string(r.string()))
	default:
		if !bytes.Equal(name, bytes.ToLower(name)) {
			return false
		}
		a.Others = append(a.Others, r.raw())
	}
	return true
}

// beside returns the content of a refusal, which should have none, and the
// values of its unknown members.
func (a *response) beside() []byte {
	return slices.Concat(a.State, a.Payload, a.Token, bytes.Join(a.Others, []byte(" ")))
}

// verdicts reads the verdicts on a batch. It reads at most one more than there
// are tokens, to show that there are too many. It skips the rest, because a
// verdict takes many times more memory than text.
func (r *reader) verdicts() []response {
	verdicts := []response{}
	r.list("[]", func() {
		if r.verdictsLeft == 0 {
			r.skip()
			return
		}
		r.verdictsLeft--
		var v response
		v.read(r)
		verdicts = append(verdicts, v)
	})
	return verdicts
}

// outcome returns nil if the answer is ok, and otherwise its error.
func (a *response) outcome() error {
	switch {
	case a.OK == nil:
		return newBreach(Garbage, "a verdict has no member ok")
	case *a.OK:
		return nil
	case a.Rejected != "":
		stage, err := codecs.ParseStage(a.Rejected)
		if err != nil {
			return newBreach(Garbage, "it refused at the stage %q; there are %v", a.Rejected, codecs.Stages())
		}
		return codecs.Reject(stage, a.Reason)
	case a.Unsupported:
		return codecs.ErrUnsupported
	case a.Refused != nil:
		return &RefusedError{*a.Refused}
	case a.Fault != nil:
		return newQuotedBreach([]byte(*a.Fault), Faulted, "it answered that it broke")
	default:
		return newBreach(Garbage, "the answer is not ok and does not say why")
	}
}

// A RefusedError says that the worker refused a configuration.
type RefusedError struct{ Why string }

// Error quotes the worker.
func (e *RefusedError) Error() string { return "the worker refuses the configuration: " + e.Why }

// jsonKinds maps the Go kinds of the fields of a hello to the names of their
// JSON values.
var jsonKinds = map[reflect.Kind]string{
	reflect.Bool: "true or false", reflect.Int: "an integer", reflect.String: "a string",
	reflect.Slice: "an array", reflect.Map: "an object", reflect.Struct: "an object",
}

// parseHello decodes and checks the answer to hello.
func parseHello(data []byte) (h Hello, err error) {
	r, err := parseResponse(data, 0)
	if err != nil {
		return h, err
	}
	if err := r.outcome(); err != nil {
		return h, newBreach(Garbage, "it does not answer hello: %v", err)
	}
	if err := json.Unmarshal(bytes.TrimSpace(data), &h); err != nil {
		if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			err = fmt.Errorf("member %s is a JSON %s, want %s", kind.Field, kind.Value, jsonKinds[kind.Type.Kind()])
		}
		return h, newQuotedBreach(data, Garbage, "the answer cannot be read: %v", err)
	}
	switch {
	case h.Protocol == 0:
		return h, newQuotedBreach(data, Garbage, "its hello has no member protocol, want %d", Version)
	case h.Protocol != Version:
		return h, newBreach(Garbage, "it speaks protocol %d, want %d", h.Protocol, Version)
	case h.Name == "":
		return h, newQuotedBreach(data, Garbage, "its hello has no name")
	case !slices.Contains([]codecs.Kind{codecs.KindCodec, codecs.KindScheme}, h.Kind):
		return h, newBreach(Garbage, "its kind is %q, want %s or %s", h.Kind, codecs.KindCodec, codecs.KindScheme)
	}
	return h, nil
}

// done begins an answer that reports success.
func (l *line) done() *line { return l.bool("ok", true) }

// failed writes the answer for an error: a refusal, unsupported, or a fault.
func (l *line) failed(err error) *line {
	l.bool("ok", false)
	switch r := codecs.Rejected(err); {
	case r != nil:
		return l.text("rejected", r.Stage.String()).text("reason", r.Reason)
	case errors.Is(err, codecs.ErrUnsupported):
		return l.bool("unsupported", true)
	default:
		return l.text("fault", protocolText(err))
	}
}

// refused writes the answer to an open request whose configuration is refused.
func (l *line) refused(err error) { l.bool("ok", false).text("refused", protocolText(err)) }

// protocolText returns an error's text as valid UTF-8, which the protocol can
// carry.
func protocolText(err error) string { return strings.ToValidUTF8(err.Error(), "\ufffd") }
