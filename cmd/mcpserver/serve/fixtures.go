package serve

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sealab/cmd/mcpserver/example"
)

// addFixtures adds the fixtures to server.
func addFixtures(server *mcp.Server) {
	addContents(server)
	addBehaviors(server)
	addChanges(server)
	addRounds(server)
	addPrompts(server)
	addResources(server)
}

// completeFixtures is a completion handler without suggestions. The suite checks only that
// completion is answered.
func completeFixtures(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}, nil
}

// A handler handles calls of a tool and ignores the arguments.
type handler func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error)

func addTool(server *mcp.Server, name, description string, h handler) {
	mcp.AddTool(server, &mcp.Tool{Name: name, Description: description},
		func(ctx context.Context, req *mcp.CallToolRequest, _ any) (*mcp.CallToolResult, any, error) {
			res, err := h(ctx, req)
			return res, nil, err
		})
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

func addResources(server *mcp.Server) {
	addResource(server, &mcp.ResourceContents{
		URI: "test://static-text", MIMEType: "text/plain", Text: "This is the content of the static text resource.",
	})
	addResource(server, &mcp.ResourceContents{
		URI: "test://static-binary", MIMEType: "image/png", Blob: pixel,
	})
	addResource(server, &mcp.ResourceContents{
		URI: "test://watched-resource", MIMEType: "text/plain", Text: "Watched resource content",
	})
	server.AddResourceTemplate(&mcp.ResourceTemplate{
		Name: "template", MIMEType: "application/json", URITemplate: "test://template/{id}/data",
	}, readTemplate)
}

func addResource(server *mcp.Server, content *mcp.ResourceContents) {
	server.AddResource(&mcp.Resource{
		Name: strings.TrimPrefix(content.URI, "test://"), URI: content.URI, MIMEType: content.MIMEType,
	}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{content}}, nil
	})
}

func readTemplate(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	id := strings.TrimSuffix(strings.TrimPrefix(req.Params.URI, "test://template/"), "/data")
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{
		URI:      req.Params.URI,
		MIMEType: "application/json",
		Text:     fmt.Sprintf(`{"id":%q,"templateTest":true,"data":%q}`, id, "Data for ID: "+id),
	}}}, nil
}

// The smallest files of their kinds: an image of one red pixel, and a wave file without samples.
var (
	pixel = []byte("\x89PNG\r\n\x1a\n" +
		"\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00\x90wS\xde" +
		"\x00\x00\x00\x0cIDATx\x9cc\xf8\xcf\xc0\x00\x00\x03\x01\x01\x00\xc9\xfe\x92\xef" +
		"\x00\x00\x00\x00IEND\xaeB`\x82")
	silence = []byte("RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00" +
		"\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\x00\x00\x00\x00")
)

func embedded(uri, mime, text string) *mcp.EmbeddedResource {
	return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: uri, MIMEType: mime, Text: text}}
}

// contents are the tools that return fixed content.
var contents = map[string][]mcp.Content{
	"test_simple_text": {
		&mcp.TextContent{Text: "This is a simple text response for testing."},
	},
	"test_image_content": {
		&mcp.ImageContent{Data: pixel, MIMEType: "image/png"},
	},
	"test_audio_content": {
		&mcp.AudioContent{Data: silence, MIMEType: "audio/wav"},
	},
	"test_embedded_resource": {
		embedded("test://embedded-resource", "text/plain", "This is an embedded resource content."),
	},
	"test_multiple_content_types": {
		&mcp.TextContent{Text: "Multiple content types test:"},
		&mcp.ImageContent{Data: pixel, MIMEType: "image/png"},
		embedded("test://mixed-content-resource", "application/json", `{"test":"data","value":123}`),
	},
}

func addContents(server *mcp.Server) {
	for name, content := range contents {
		addTool(server, name, "Returns fixed content", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: content}, nil
		})
	}
}

func userSays(s string) []*mcp.PromptMessage {
	return []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: s}}}
}

func addPrompts(server *mcp.Server) {
	addPrompt(server, "test_simple_prompt", func(*mcp.GetPromptRequest) []*mcp.PromptMessage {
		return userSays("This is a simple prompt for testing.")
	})
	addPrompt(server, "test_prompt_with_arguments", func(req *mcp.GetPromptRequest) []*mcp.PromptMessage {
		return userSays(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", req.Params.Arguments["arg1"], req.Params.Arguments["arg2"]))
	}, "arg1", "arg2")
	addPrompt(server, "test_prompt_with_embedded_resource", func(req *mcp.GetPromptRequest) []*mcp.PromptMessage {
		resource := embedded(req.Params.Arguments["resourceUri"], "text/plain", "Embedded resource content for testing.")
		return append([]*mcp.PromptMessage{{Role: "user", Content: resource}}, userSays("Please process the embedded resource above.")...)
	}, "resourceUri")
	addPrompt(server, "test_prompt_with_image", func(*mcp.GetPromptRequest) []*mcp.PromptMessage {
		image := &mcp.ImageContent{Data: pixel, MIMEType: "image/png"}
		return append([]*mcp.PromptMessage{{Role: "user", Content: image}}, userSays("Please analyze the image above.")...)
	})
	server.AddPrompt(&mcp.Prompt{Name: "test_input_required_result_prompt", Description: "Asks for its context"}, askContext)
}

// addPrompt adds a prompt that returns messages in the first round.
func addPrompt(server *mcp.Server, name string, messages func(*mcp.GetPromptRequest) []*mcp.PromptMessage, arguments ...string) {
	p := &mcp.Prompt{Name: name, Description: "Returns fixed messages"}
	for _, a := range arguments {
		p.Arguments = append(p.Arguments, &mcp.PromptArgument{Name: a, Description: "goes into the messages", Required: true})
	}
	server.AddPrompt(p, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: messages(req)}, nil
	})
}

func askContext(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	about, ok := example.Answer[string](req.Params.InputResponses, "user_context", "context")
	if !ok {
		return &mcp.GetPromptResult{InputRequests: mcp.InputRequestMap{
			"user_context": example.Form("What context should the prompt use?", example.Text("context")),
		}}, nil
	}
	return &mcp.GetPromptResult{Messages: userSays("Context: " + about)}, nil
}

// addChanges adds tools that change a list of the server. The suite expects to be notified of the
// changes.
func addChanges(server *mcp.Server) {
	const transient = "test_transient"
	addTool(server, "test_trigger_tool_change", "Changes the list of tools", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		addTool(server, transient, "Is there to be listed", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return text("listed"), nil
		})
		return text("The list of tools has changed."), nil
	})
	addTool(server, "test_trigger_prompt_change", "Changes the list of prompts", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		server.AddPrompt(&mcp.Prompt{Name: transient, Description: "Is there to be listed"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Messages: userSays("listed")}, nil
		})
		return text("The list of prompts has changed."), nil
	})
}
