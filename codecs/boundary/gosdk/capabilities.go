//lint:file-ignore SA1019 servers ask for sampling and roots until these are gone

package gosdk

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// modern is the first revision in which a result asks for input, so that the
// client's capabilities matter. With older clients the SDK itself asks for
// input.
const modern = "2026-07-28"

// A caller is a request of the SDK that tells the capabilities of its client.
type caller interface {
	ProtocolVersion() string
	ClientCapabilities() *mcp.ClientCapabilities
}

// checkCapabilities returns error -32021 if a result asks for input that the
// client has not declared (specification, basic, "Capability negotiation"). The
// SDK leaves this check to servers.
func checkCapabilities(req mcp.Request, asks mcp.InputRequestMap) error {
	c, ok := req.(caller)
	if len(asks) == 0 || !ok || c.ProtocolVersion() < modern {
		return nil
	}
	missing := map[string]any{}
	has := c.ClientCapabilities()
	if has == nil {
		has = &mcp.ClientCapabilities{}
	}
	for _, ask := range asks {
		addMissing(missing, has, ask)
	}
	if len(missing) == 0 {
		return nil
	}
	data, err := json.Marshal(map[string]any{"requiredCapabilities": missing})
	if err != nil {
		panic("boundary: " + err.Error()) // maps of strings and empty objects always encode
	}
	return &jsonrpc.Error{Code: mcp.CodeMissingRequiredClientCapabilities, Message: "Missing required client capability", Data: data}
}

// addMissing adds the capability that a request needs to missing, unless the
// client has it.
func addMissing(missing map[string]any, has *mcp.ClientCapabilities, ask mcp.InputRequest) {
	none := map[string]any{}
	switch ask := ask.(type) {
	case *mcp.ElicitParams:
		mode := "form"
		if ask.Mode == "url" {
			mode = "url"
		}
		if !elicits(has.Elicitation, mode) {
			modes, _ := missing["elicitation"].(map[string]any)
			if modes == nil {
				modes = map[string]any{}
			}
			modes[mode] = none
			missing["elicitation"] = modes
		}
	case *mcp.CreateMessageParams, *mcp.CreateMessageWithToolsParams:
		if has.Sampling == nil {
			missing["sampling"] = none
		}
	case *mcp.ListRootsParams:
		if has.RootsV2 == nil {
			missing["roots"] = none
		}
	}
}

// elicits reports whether a client supports a mode of elicitation. An empty
// object means form mode only.
func elicits(e *mcp.ElicitationCapabilities, mode string) bool {
	switch {
	case e == nil:
		return false
	case mode == "url":
		return e.URL != nil
	}
	return e.Form != nil || e.URL == nil
}
