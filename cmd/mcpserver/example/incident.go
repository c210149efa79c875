package example

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The prompt incident_report asks for the severity and then for a description.
type incidentState struct {
	Severity string `json:"severity"`
}

func addIncident(server *mcp.Server) {
	server.AddPrompt(&mcp.Prompt{
		Name:        "incident_report",
		Description: "Write the report of an incident",
		Arguments:   []*mcp.PromptArgument{{Name: "service", Description: "the service that failed", Required: true}},
	}, incidentReport)
}

func incidentReport(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	known, err := decode[incidentState](req.Params.RequestState)
	if err != nil {
		return nil, err
	}
	if severity, ok := Answer[string](req.Params.InputResponses, "severity", "severity"); ok && known.Severity == "" {
		known.Severity = severity
	}
	if known.Severity == "" {
		return &mcp.GetPromptResult{InputRequests: mcp.InputRequestMap{
			"severity": Form("How severe was the incident?", OneOf("severity", "low", "high")),
		}}, nil
	}
	summary, ok := Answer[string](req.Params.InputResponses, "summary", "summary")
	if !ok {
		state, err := encode(known)
		return &mcp.GetPromptResult{
			RequestState:  state,
			InputRequests: mcp.InputRequestMap{"summary": Form("What happened, in one line?", Text("summary"))},
		}, err
	}
	text := fmt.Sprintf("Write the report of a %s severity incident of %s: %s", known.Severity, req.Params.Arguments["service"], summary)
	return &mcp.GetPromptResult{
		Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}},
	}, nil
}
