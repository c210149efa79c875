// Fixture of sealab review on the official Go SDK (github.com/modelcontextprotocol/go-sdk v1.8.0) as it comes: no protection.
//
//	plain [PORT]
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type in struct {
	Env string `json:"env"`
}
type state struct{ Step, Env string }

func form(message, field, typ string) *mcp.ElicitParams {
	return &mcp.ElicitParams{Mode: "form", Message: message, RequestedSchema: map[string]any{
		"type": "object", "properties": map[string]any{field: map[string]any{"type": typ}}, "required": []string{field}}}
}
func ask(key string, f *mcp.ElicitParams, s state) *mcp.CallToolResult {
	raw, _ := json.Marshal(s)
	return &mcp.CallToolResult{RequestState: string(raw), InputRequests: mcp.InputRequestMap{key: f}}
}

// say ends a tool: the line on standard error counts it.
func say(format string, a ...any) *mcp.CallToolResult {
	log.Printf("ran: "+format, a...)
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, a...)}}}
}
func answer(req *mcp.CallToolRequest, key, field string) any {
	if r, ok := req.Params.InputResponses[key].(*mcp.ElicitResult); ok && r.Action == "accept" {
		return r.Content[field]
	}
	return nil
}

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "lab-go", Version: "1.0.0"}, nil)
	handler := func(name string) mcp.ToolHandlerFor[in, any] {
		return func(_ context.Context, req *mcp.CallToolRequest, a in) (*mcp.CallToolResult, any, error) {
			var s state
			if req.Params.RequestState != "" {
				if err := json.Unmarshal([]byte(req.Params.RequestState), &s); err != nil {
					return nil, nil, err
				}
			}
			if name == "deploy" && s.Step == "reason" {
				return say("deployed %s because %v", s.Env, answer(req, "reason", "reason")), nil, nil
			}
			if s.Step != "confirm" || answer(req, "confirm", "ok") != true {
				return ask("confirm", form(name+" "+a.Env+"?", "ok", "boolean"), state{"confirm", a.Env}), nil, nil
			}
			if name == "remove" {
				return say("removed %s", s.Env), nil, nil
			}
			return ask("reason", form("Why?", "reason", "string"), state{"reason", s.Env}), nil, nil
		}
	}
	for _, name := range []string{"deploy", "remove"} {
		mcp.AddTool(server, &mcp.Tool{Name: name, Description: name}, handler(name))
	}
	mcp.AddTool(server, &mcp.Tool{Name: "echo"}, func(_ context.Context, _ *mcp.CallToolRequest, a struct {
		Text string `json:"text"`
	}) (*mcp.CallToolResult, any, error) {
		return say("%s", a.Text), nil, nil
	})
	mcp.AddTool(server, &mcp.Tool{Name: "slow"}, func(ctx context.Context, _ *mcp.CallToolRequest, a struct {
		Ms int `json:"ms"`
	}) (*mcp.CallToolResult, any, error) {
		select {
		case <-ctx.Done():
			log.Print("slow: cancelled")
			return nil, nil, ctx.Err()
		case <-time.After(time.Duration(a.Ms) * time.Millisecond):
			log.Print("slow: done")
			return say("done"), nil, nil
		}
	})
	if len(os.Args) < 2 {
		log.Fatal(server.Run(context.Background(), &mcp.StdioTransport{}))
	}
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: os.Getenv("STATEFUL") == ""})
	http.Handle("/mcp", h)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
