// Package example is a Model Context Protocol server (revision 2026-07-28) that shows the use of
// the boundary. Every feature needs several rounds and keeps its progress in the requestState. Any
// instance of the server can take the next round. The server has no other state and changes no
// other system.
//
//	tool      update_work_item    asks for the fields that the tracker requires (from the specification)
//	tool      count_primes        continues its work over several rounds and asks no question
//	prompt    incident_report     asks two questions about the incident
//	resource  example://audit-log asks for the reason of the reader, and then for a confirmation
//
// Handlers read and write plain state. The boundary, which New adds in one line, seals it.
package example

import (
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sealab/codecs/boundary"
	"sealab/codecs/boundary/gosdk"
)

// implementation is the name and version of the server.
var implementation = mcp.Implementation{Name: "sealab-example", Version: "1.0.0"}

// New returns the server and the boundary around it, with the given policy.
func New(p boundary.Policy, options *mcp.ServerOptions) (*mcp.Server, *boundary.Boundary, error) {
	server := mcp.NewServer(&implementation, options)
	protection, err := gosdk.Protect(server, &implementation, p)
	if err != nil {
		return nil, nil, err
	}
	addWorkItem(server)
	addPrimes(server)
	addIncident(server)
	addAuditLog(server)
	return server, protection, nil
}

// encode encodes a state.
func encode[S any](state S) (string, error) {
	raw, err := json.Marshal(state)
	return string(raw), err
}

// decode decodes a state. It returns the zero value if the request has no token. The boundary has
// verified the state, so an unreadable one was written by another version of this server.
func decode[S any](text string) (state S, err error) {
	if text == "" {
		return state, nil
	}
	if err := json.Unmarshal([]byte(text), &state); err != nil {
		return state, fmt.Errorf("the state of an earlier round is of another version")
	}
	return state, nil
}

// say returns a complete tool result with one text.
func say(format string, args ...any) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}}}
}
