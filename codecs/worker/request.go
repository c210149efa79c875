package worker

import (
	"fmt"
	"maps"
	"regexp"
	"unicode/utf8"

	"sealab/codecs"
)

// Version is the version of the protocol.
const Version = 1

// A request is one line to a worker, as a server reads it. Its byte slices may
// share memory with the line. They are nil if absent.
type request struct {
	Op             []byte
	Protocol       int64
	Keys           [][]byte
	TTL            []byte // the literal of a number, as is Now
	Options        map[string]string
	Handle         int64
	Now            []byte
	State, Payload []byte
	Token          []byte
	Tokens         [][]byte
	Context        codecs.Context // Now is unset
	Do             []byte
	N              int64
}

// parse parses a line. The request must be empty.
func (q *request) parse(line []byte) error {
	if !utf8.Valid(line) {
		return fmt.Errorf("the request is not UTF-8")
	}
	r := reader{src: line}
	r.object(func(name []byte) bool { return q.member(&r, name) })
	if err := r.end(); err != nil {
		return fmt.Errorf("the request cannot be read: %w", err)
	}
	return nil
}

// member reads the value of a member. It reports false if there is no such
// member.
func (q *request) member(r *reader, name []byte) bool {
	switch string(name) {
	case "op":
		q.Op = r.string()
	case "protocol":
		q.Protocol = r.integer()
	case "keys_b64":
		q.Keys = r.keys()
	case "ttl":
		q.TTL = r.decimal()
	case "options":
		q.Options = r.options()
	case "handle":
		q.Handle = r.integer()
	case "now":
		q.Now = r.decimal()
	case "state_b64":
		q.State = r.octets()
	case "payload_b64":
		q.Payload = r.octets()
	case "token":
		q.Token = r.string()
	case "tokens":
		q.Tokens = r.tokens()
	case "binding":
		r.object(func(name []byte) bool { return r.bindingMember(&q.Context, name) })
	case "do":
		q.Do = r.string()
	case "n":
		q.N = r.integer()
	default:
		return false
	}
	return true
}

// bindingMember reads the value of a member of a binding. It reports false if
// there is no such member.
func (r *reader) bindingMember(b *codecs.Context, name []byte) bool {
	switch string(name) {
	case "method":
		b.Method = string(r.string())
	case "target":
		b.Target = string(r.string())
	case "arguments":
		b.Arguments = r.raw()
	case "principal":
		b.Principal = new(string(r.string()))
	case "audience":
		b.Audience = new(string(r.string()))
	default:
		return false
	}
	return true
}

// keys reads the secrets of an open request. Null is an empty secret.
func (r *reader) keys() [][]byte {
	keys := [][]byte{}
	r.list("[]", func() {
		key := []byte{}
		if !r.null() {
			key = r.octets()
		}
		keys = append(keys, key)
	})
	return keys
}

// options reads the options of an open request. Null is an empty text.
func (r *reader) options() map[string]string {
	options := make(map[string]string)
	r.list("{}", func() {
		name, value := string(r.name()), ""
		if !r.null() {
			value = string(r.string())
		}
		options[name] = value
	})
	return options
}

// tokens reads a batch. Null is an empty token.
func (r *reader) tokens() [][]byte {
	tokens := [][]byte{}
	r.list("[]", func() {
		var token []byte
		if !r.null() {
			token = r.string()
		}
		tokens = append(tokens, token)
	})
	return tokens
}

// newRequest begins a request with the given operation.
func newRequest(name string) *line { return newLine().text("op", name) }

// asking begins a request on an open handle.
func (l *line) asking(name string, handle int64) *line {
	return l.text("op", name).int("handle", handle)
}

// keysPattern matches the keys in an open request: base64url contains no bracket.
var keysPattern = regexp.MustCompile(`"keys_b64":\[[^\]]*\]`)

// withoutKeys returns a request with its keys removed.
func withoutKeys(sent []byte) []byte {
	return keysPattern.ReplaceAll(sent, []byte(`"keys_b64":"left out"`))
}

// config returns the configuration in an open request. Missing options have the
// given defaults.
func (q *request) config(options map[string]string) (codecs.Config, error) {
	c := codecs.Config{Secrets: q.Keys, Options: make(map[string]string)}
	maps.Copy(c.Options, options)
	maps.Copy(c.Options, q.Options)
	if len(q.TTL) == 0 {
		return c, nil
	}
	ttl, err := parseDuration(q.TTL)
	c.TTL = &ttl
	return c, err
}

// context returns the context of a request to a scheme, and nil for a codec.
func (q *request) context(scheme bool) (*codecs.Context, error) {
	if !scheme {
		return nil, nil
	}
	if len(q.Now) == 0 {
		return nil, fmt.Errorf("now is missing")
	}
	var err error
	q.Context.Now, err = parseTime(q.Now)
	return &q.Context, err
}
