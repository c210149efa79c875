//lint:file-ignore SA1019 servers ask for sampling and roots until these are gone

package gosdk_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"sealab/codecs/boundary"
)

// TestCapabilities asks clients for input that they have and have not declared.
func TestCapabilities(t *testing.T) {
	form, url := &mcp.ElicitParams{Message: "?"}, &mcp.ElicitParams{Mode: "url", Message: "?", URL: "https://as.example"}
	for _, c := range []struct {
		name, has, version string
		asks               mcp.InputRequestMap
		want               string // requiredCapabilities; "": asked
	}{
		{"nothing asked", `{}`, "2026-07-28", mcp.InputRequestMap{}, ""},
		{"form, none", `{}`, "2026-07-28", mcp.InputRequestMap{"a": form}, `{"elicitation":{"form":{}}}`},
		{"form, empty", `{"elicitation":{}}`, "2026-07-28", mcp.InputRequestMap{"a": form}, ""},
		{"form, form", `{"elicitation":{"form":{}}}`, "2026-07-28", mcp.InputRequestMap{"a": form}, ""},
		{"form, url", `{"elicitation":{"url":{}}}`, "2026-07-28", mcp.InputRequestMap{"a": form}, `{"elicitation":{"form":{}}}`},
		{"url, form", `{"elicitation":{"form":{}}}`, "2026-07-28", mcp.InputRequestMap{"a": url}, `{"elicitation":{"url":{}}}`},
		{"url, empty", `{"elicitation":{}}`, "2026-07-28", mcp.InputRequestMap{"a": url}, `{"elicitation":{"url":{}}}`},
		{"url, both", `{"elicitation":{"form":{},"url":{}}}`, "2026-07-28", mcp.InputRequestMap{"a": url, "b": form}, ""},
		{"everything, none", `{}`, "2026-07-28", mcp.InputRequestMap{"a": url, "b": form, "c": &mcp.ListRootsParams{}, "d": &mcp.CreateMessageParams{}},
			`{"elicitation":{"form":{},"url":{}},"roots":{},"sampling":{}}`},
		{"the rest", `{"roots":{},"sampling":{}}`, "2026-07-28", mcp.InputRequestMap{"c": &mcp.ListRootsParams{}, "d": &mcp.CreateMessageWithToolsParams{}}, ""},
		{"older revision", `{}`, "2025-11-25", mcp.InputRequestMap{"a": form}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, boundary.Policy{})
			b.next = func(context.Context, string, mcp.Request) (mcp.Result, error) {
				return &mcp.CallToolResult{RequestState: "s", InputRequests: c.asks}, nil
			}
			var has map[string]any
			require.NoError(t, json.Unmarshal([]byte(c.has), &has))
			req := calls[0].request().(*mcp.CallToolRequest)
			req.Params.Meta = mcp.Meta{mcp.MetaKeyProtocolVersion: c.version, mcp.MetaKeyClientCapabilities: has}
			res, err := b.handler(context.Background(), "tools/call", req)
			if c.want == "" {
				require.NoError(t, err)
				require.NotEmpty(t, tokenOf(res))
				return
			}
			refusal, bare := err.(*jsonrpc.Error)
			require.True(t, bare, "%T", err)
			require.EqualValues(t, -32021, refusal.Code)
			require.JSONEq(t, `{"requiredCapabilities":`+c.want+`}`, string(refusal.Data))
		})
	}
}
