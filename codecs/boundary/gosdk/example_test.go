package gosdk_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sealab/codecs/boundary"
	"sealab/codecs/boundary/gosdk"
)

// A tool that asks for a confirmation keeps its plan in the state. The handler
// reads and writes plain text, while the client holds a sealed token. A
// modified token does not reach the handler.
func Example() {
	impl := &mcp.Implementation{Name: "deployer", Version: "1.0.0"}
	server := mcp.NewServer(impl, nil)

	// Protect is the only change to the server. Without secrets it would
	// generate a key and log a warning.
	policy := boundary.Policy{Secrets: [][]byte{[]byte("32 random bytes or more, from a file")}}
	policy.Logger = slog.New(slog.DiscardHandler)
	if _, err := gosdk.Protect(server, impl, policy); err != nil {
		fmt.Println(err)
		return
	}

	mcp.AddTool(server, &mcp.Tool{Name: "deploy"},
		func(_ context.Context, req *mcp.CallToolRequest, _ any) (*mcp.CallToolResult, any, error) {
			form, _ := req.Params.InputResponses["confirm"].(*mcp.ElicitResult)
			if form != nil && form.Action == "accept" && req.Params.RequestState == "build 42" {
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "deployed build 42"}}}, nil, nil
			}
			return &mcp.CallToolResult{
				RequestState: "build 42",
				InputRequests: mcp.InputRequestMap{"confirm": &mcp.ElicitParams{
					Message:         "Deploy build 42?",
					RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}},
				}},
			}, nil, nil
		})

	session := connectExample(server)
	defer session.Close()
	ctx := context.Background()

	asked, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "deploy"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("asks:", asked.NeedsInput(), "- token:", strings.HasPrefix(asked.RequestState, "sa1."))

	again := &mcp.CallToolParams{
		Name:           "deploy",
		RequestState:   asked.RequestState,
		InputResponses: mcp.InputResponseMap{"confirm": &mcp.ElicitResult{Action: "accept"}},
	}
	done, err := session.CallTool(ctx, again)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(done.Content[0].(*mcp.TextContent).Text)

	again.RequestState += "x"
	_, err = session.CallTool(ctx, again)
	fmt.Println(err)
	// Output:
	// asks: true - token: true
	// deployed build 42
	// calling "tools/call": Invalid or expired requestState
}

// connectExample connects a client that leaves further rounds to the caller.
func connectExample(server *mcp.Server) *mcp.ClientSession {
	there, here := mcp.NewInMemoryTransports()
	if _, err := server.Connect(context.Background(), there, nil); err != nil {
		panic(err)
	}
	options := manual()
	options.Capabilities = &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{}}
	client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1.0.0"}, options)
	session, err := client.Connect(context.Background(), here, nil)
	if err != nil {
		panic(err)
	}
	return session
}
