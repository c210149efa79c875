package review

import (
	"encoding/json"
	"fmt"

	"sealab/internal/rawmcp"
)

// modern is the revision that knows requestState.
const modern = "2026-07-28"

// The members of _meta that every request of revision 2026-07-28 has.
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaClient       = "io.modelcontextprotocol/clientInfo"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
)

// everyCapability is declared by default: servers that check it ask only
// clients that declare it.
const everyCapability = `{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}`

// A user names the credentials of a request.
type user int

const (
	first     user = iota // --header
	second                // --second
	nobody                // no credentials
	stranger              // credentials that no server knows
	foreigner             // --foreign: credentials for another server
)

// A Call is a request of revision 2026-07-28.
type Call struct {
	Method    string          `json:"method"`
	Target    string          `json:"target,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// Answers are the inputResponses, State the requestState as JSON; nil if
	// the member is absent.
	Answers json.RawMessage `json:"answers,omitempty"`
	State   json.RawMessage `json:"state,omitempty"`

	Cursor       string            `json:"-"`
	Ref          map[string]string `json:"-"` // of a completion, with its argument
	Argument     map[string]string `json:"-"`
	Progress     bool              `json:"-"` // asks for progress under progressToken, and for logs
	Carrier      string            `json:"-"` // the member of _meta with the state; "" for requestState
	Capabilities json.RawMessage   `json:"-"` // nil: all of them
	as           user
}

// quote writes a token as JSON.
func quote(token string) json.RawMessage {
	raw, err := json.Marshal(token)
	if err != nil {
		panic(err) // a string can be written
	}
	return raw
}

type callParams struct {
	Name      string            `json:"name,omitempty"`
	URI       string            `json:"uri,omitempty"`
	Arguments json.RawMessage   `json:"arguments,omitempty"`
	Answers   json.RawMessage   `json:"inputResponses,omitempty"`
	State     json.RawMessage   `json:"requestState,omitempty"`
	Cursor    string            `json:"cursor,omitempty"`
	Ref       map[string]string `json:"ref,omitempty"`
	Argument  map[string]string `json:"argument,omitempty"`
	Meta      map[string]any    `json:"_meta,omitempty"`
}

type message struct {
	Version string `json:"jsonrpc"`
	ID      int    `json:"id"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}

// meta is the _meta of a request.
func (c Call) meta() map[string]any {
	capabilities := c.Capabilities
	if capabilities == nil {
		capabilities = json.RawMessage(everyCapability)
	}
	all := map[string]any{
		metaVersion:      modern,
		metaClient:       map[string]string{"name": "sealab-review", "version": "1"},
		metaCapabilities: capabilities,
	}
	if c.Carrier != "" && c.State != nil {
		all[c.Carrier] = c.State
	}
	if c.Progress {
		all["progressToken"], all["io.modelcontextprotocol/logLevel"] = progressToken, "debug"
	}
	return all
}

// body returns the JSON-RPC request of a call.
func (c Call) body(id int) ([]byte, error) { return c.withMeta(id, c.meta()) }

// olderBody returns the request in a session of an older revision, which knows no state, and
// whose handshake has told who the client is.
func (c Call) olderBody(id int) ([]byte, error) {
	c.Answers, c.State = nil, nil
	meta := map[string]any{}
	if c.Progress {
		meta["progressToken"] = progressToken
	}
	return c.withMeta(id, meta)
}

func (c Call) withMeta(id int, meta map[string]any) ([]byte, error) {
	p := callParams{Arguments: c.Arguments, Answers: c.Answers, State: c.State, Cursor: c.Cursor, Ref: c.Ref, Argument: c.Argument, Meta: meta}
	if c.Carrier != "" {
		p.State = nil
	}
	if c.Method == "resources/read" {
		p.URI = c.Target
	} else {
		p.Name = c.Target
	}
	raw, err := json.Marshal(message{"2.0", id, c.Method, p})
	if err != nil {
		return nil, fmt.Errorf("writing the request %s: %w", c.Method, err)
	}
	return raw, nil
}

// headers returns the headers that streamable HTTP wants for a call, without
// Host and credentials.
func (c Call) headers() []rawmcp.Header {
	h := []rawmcp.Header{
		{Name: "Content-Type", Value: "application/json"},
		{Name: "Accept", Value: "application/json, text/event-stream"},
		{Name: "MCP-Protocol-Version", Value: modern},
		{Name: "Mcp-Method", Value: c.Method},
	}
	if c.Target != "" {
		h = append(h, rawmcp.Header{Name: "Mcp-Name", Value: headerText(c.Target)})
	}
	return h
}

// headerText writes a value that is not plain ASCII in the base64 form of the
// transport.
func headerText(value string) string {
	for i, r := range value {
		if r < ' ' || r > '~' || r == ' ' && (i == 0 || i == len(value)-1) {
			return base64Form(value)
		}
	}
	return value
}

// isQuestion reports whether a message is a question of the server in a session of
// an older revision.
func isQuestion(raw []byte) bool {
	method := string(members(raw)["method"])
	return members(raw)["id"] != nil && (method == `"elicitation/create"` || method == `"sampling/createMessage"`)
}

// isAnswer returns a function that recognizes the response with an id.
func isAnswer(id int) func([]byte) bool {
	return func(raw []byte) bool {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method *string         `json:"method"`
		}
		return json.Unmarshal(raw, &m) == nil && m.Method == nil && string(m.ID) == fmt.Sprint(id)
	}
}
