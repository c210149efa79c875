package gosdk_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"sealab/codecs/boundary"
)

// TestStateAlone checks that a result with state but no input requests is
// marked input_required and keeps its other fields.
func TestStateAlone(t *testing.T) {
	meta := mcp.Meta{"k": "v"}
	for i, res := range []mcp.Result{
		&mcp.CallToolResult{Meta: meta, RequestState: "s", Content: []mcp.Content{}},
		&mcp.GetPromptResult{Meta: meta, RequestState: "s", Description: "d"},
		&mcp.ReadResourceResult{Meta: meta, RequestState: "s", Contents: []*mcp.ResourceContents{}},
	} {
		c := calls[i]
		t.Run(c.method, func(t *testing.T) {
			b := newBench(t, boundary.Policy{})
			b.next = func(context.Context, string, mcp.Request) (mcp.Result, error) { return res, nil }
			got, err := b.call(c)
			require.NoError(t, err)
			wire, err := json.Marshal(got)
			require.NoError(t, err)
			var seen struct {
				Meta          map[string]any `json:"_meta"`
				ResultType    string
				RequestState  string
				Description   string
				InputRequests map[string]any
			}
			require.NoError(t, json.Unmarshal(wire, &seen))
			require.Equal(t, "input_required", seen.ResultType)
			require.NotNil(t, seen.InputRequests, "an empty map, not an absent one: %s", wire)
			require.Empty(t, seen.InputRequests)
			require.Equal(t, map[string]any{"k": "v"}, seen.Meta)
			require.Equal(t, c.method == "prompts/get", seen.Description == "d")
			c.token = seen.RequestState
			_, err = b.call(c)
			require.NoError(t, err)
			require.Equal(t, "s", b.seen[1])
		})
	}
}

// TestCompleteResultsMustNotCarryState checks that a result that ends the call
// cannot carry state, because it has no further round.
func TestCompleteResultsMustNotCarryState(t *testing.T) {
	for i, res := range []mcp.Result{
		&mcp.CallToolResult{RequestState: "s", Content: []mcp.Content{&mcp.TextContent{Text: "done"}}},
		&mcp.GetPromptResult{RequestState: "s", Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{}}}},
		&mcp.ReadResourceResult{RequestState: "s", Contents: []*mcp.ResourceContents{{URI: "test://vault"}}},
	} {
		b := newBench(t, boundary.Policy{})
		b.next = func(context.Context, string, mcp.Request) (mcp.Result, error) { return res, nil }
		_, err := b.call(calls[i])
		requireFault(t, err)
		require.Contains(t, b.log.String(), "complete result")
	}
}
