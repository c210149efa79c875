package client

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"sealab/fuzz/review/jsondoc"
	"sealab/internal/rawmcp"
)

// Modern is the first revision with requestState.
const Modern = "2026-07-28"

// Members of _meta that every request of revision 2026-07-28 has.
const (
	MetaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaClient       = "io.modelcontextprotocol/clientInfo"
	MetaCapabilities = "io.modelcontextprotocol/clientCapabilities"
)

// EveryCapability is declared by default, because some servers ask only clients that declare the
// capability.
const EveryCapability = `{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}`

// A User selects the credentials of a request.
type User int

// The users of a review, with the flags that set their credentials.
const (
	FirstUser  User = iota // --header
	SecondUser             // --second
	Nobody                 // no credentials
	Stranger               // made-up credentials
	Foreigner              // --foreign: credentials for another server
)

// BothUsers are the users with credentials.
var BothUsers = [2]User{FirstUser, SecondUser}

// A Call is a request of revision 2026-07-28.
type Call struct {
	Method    string          `json:"method"`
	Target    string          `json:"target,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// Answers holds the inputResponses and State the requestState, as JSON. A member is nil if it
	// is absent.
	Answers json.RawMessage `json:"answers,omitempty"`
	State   json.RawMessage `json:"state,omitempty"`

	Cursor       string            `json:"-"`
	Ref          map[string]string `json:"-"` // of a completion, with Argument
	Argument     map[string]string `json:"-"`
	Context      map[string]string `json:"-"` // other arguments of a completion
	Progress     string            `json:"-"` // asks for logs, and for progress under this token (JSON)
	Level        string            `json:"-"` // of the logs
	Client       string            `json:"-"` // the name of the client; "": sealab-review
	Carrier      string            `json:"-"` // the member of _meta that holds the state; "": requestState
	Capabilities json.RawMessage   `json:"-"` // nil: EveryCapability
	As           User              `json:"-"`
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
	Context   map[string]any    `json:"context,omitempty"`
	Meta      map[string]any    `json:"_meta,omitempty"`
}

// A Message is a JSON-RPC request.
type Message struct {
	Version string `json:"jsonrpc"`
	ID      int    `json:"id"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}

// ReadResource returns a call that reads a resource.
func ReadResource(uri string) Call { return Call{Method: "resources/read", Target: uri} }

// Complete returns a call that asks for the values of an argument that begin with a text. Ref is that of
// [PromptRef] or [TemplateRef].
func Complete(ref map[string]string, argument, begun string) Call {
	return Call{Method: "completion/complete", Ref: ref, Argument: map[string]string{"name": argument, "value": begun}}
}

// PromptRef names a prompt in a completion.
func PromptRef(name string) map[string]string {
	return map[string]string{"type": "ref/prompt", "name": name}
}

// TemplateRef names a resource template in a completion.
func TemplateRef(uri string) map[string]string {
	return map[string]string{"type": "ref/resource", "uri": uri}
}

// By returns the call with the credentials of a user.
func (c Call) By(as User) Call {
	c.As = as
	return c
}

// Meta returns the _meta of a request.
func (c Call) Meta() map[string]any {
	capabilities := c.Capabilities
	if capabilities == nil {
		capabilities = json.RawMessage(EveryCapability)
	}
	all := map[string]any{
		MetaVersion:      Modern,
		metaClient:       map[string]string{"name": cmp.Or(c.Client, "sealab-review"), "version": "1"},
		MetaCapabilities: capabilities,
	}
	if c.Carrier != "" && c.State != nil {
		all[c.Carrier] = c.State
	}
	if c.Progress != "" {
		all["progressToken"], all["io.modelcontextprotocol/logLevel"] = json.RawMessage(c.Progress), c.Level
	}
	return all
}

// olderBody returns the request for a session of an older revision. It has no state and no client
// data, which the handshake has already sent.
func (c Call) olderBody(id int) ([]byte, error) {
	c.Answers, c.State = nil, nil
	meta := map[string]any{}
	if c.Progress != "" {
		meta["progressToken"] = json.RawMessage(c.Progress)
	}
	return c.withMeta(id, meta)
}

// withMeta returns the request of a call with a _meta.
func (c Call) withMeta(id int, meta map[string]any) ([]byte, error) {
	p := callParams{Arguments: c.Arguments, Answers: c.Answers, State: c.State, Cursor: c.Cursor, Ref: c.Ref, Argument: c.Argument, Meta: meta}
	if c.Carrier != "" {
		p.State = nil
	}
	if c.Context != nil {
		p.Context = map[string]any{"arguments": c.Context}
	}
	if c.Method == "resources/read" {
		p.URI = c.Target
	} else {
		p.Name = c.Target
	}
	raw, err := json.Marshal(Message{"2.0", id, c.Method, p})
	if err != nil {
		return nil, fmt.Errorf("writing the request %s: %w", c.Method, err)
	}
	return raw, nil
}

// headers returns the headers that streamable HTTP requires for a call, besides those of every POST.
func (c Call) headers() []rawmcp.Header {
	h := []rawmcp.Header{{Name: "MCP-Protocol-Version", Value: Modern}, {Name: "Mcp-Method", Value: c.Method}}
	if c.Target != "" {
		h = append(h, rawmcp.Header{Name: "Mcp-Name", Value: headerText(c.Target)})
	}
	return h
}

// headerText returns the value of a header. It encodes a value that is not plain ASCII in the
// base64 form of the transport.
func headerText(value string) string {
	for i, r := range value {
		if r < ' ' || r > '~' || r == ' ' && (i == 0 || i == len(value)-1) {
			return Base64Form(value)
		}
	}
	return value
}

// IsQuestion reports whether a message is a question that the server sends in a session of an older
// revision.
func IsQuestion(raw []byte) bool {
	method := string(jsondoc.Members(raw)["method"])
	return jsondoc.Members(raw)["id"] != nil && (method == `"elicitation/create"` || method == `"sampling/createMessage"`)
}

// IsAnswer returns a function that reports whether a message is the response with the given ID.
func IsAnswer(id int) func([]byte) bool {
	return func(raw []byte) bool {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method *string         `json:"method"`
		}
		return json.Unmarshal(raw, &m) == nil && m.Method == nil && string(m.ID) == fmt.Sprint(id)
	}
}

// Base64Form returns the value of a header in the base64 form of the transport.
func Base64Form(text string) string {
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(text)) + "?="
}

// NoSuchTool is the name of a tool that does not exist, so that a call of it is harmless.
const NoSuchTool = "sealab-no-such-tool"

// UnknownCall calls a tool that does not exist.
var UnknownCall = Call{Method: "tools/call", Target: NoSuchTool, Arguments: []byte("{}")}

// MissingURI is the URI of a resource that does not exist.
const MissingURI = "sealab-none://no-such-resource"

// NoSuchPrompt is the name of a prompt that does not exist.
const NoSuchPrompt = "sealab-no-such-prompt"

// ListenFor is how long a check reads a stream for messages that belong to other sessions.
const ListenFor = 500 * time.Millisecond

// Listen is a call without the notifications that it subscribes to.
var Listen = Call{Method: "subscriptions/listen"}

// ListTools asks for the tools. It has no effect.
var ListTools = Call{Method: "tools/list"}
