package example

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The resource example://audit-log is read with a reason, which is repeated to
// the reader before the log is opened.
type auditState struct {
	Reason string `json:"reason"`
}

const auditLog = "example://audit-log"

func addAuditLog(server *mcp.Server) {
	server.AddResource(&mcp.Resource{
		URI:         auditLog,
		Name:        "audit-log",
		Description: "The audit log, which is read with a reason",
		MIMEType:    "text/plain",
	}, readAuditLog)
}

func readAuditLog(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	known, err := decode[auditState](req.Params.RequestState)
	if err != nil {
		return nil, err
	}
	if reason, ok := Answer[string](req.Params.InputResponses, "reason", "reason"); ok && known.Reason == "" {
		known.Reason = reason
	}
	if known.Reason == "" {
		return askReader("", "reason", Form("Why do you read the audit log?", Text("reason"))), nil
	}
	if yes, ok := Answer[bool](req.Params.InputResponses, "confirm", "ok"); !ok || !yes {
		state, err := encode(known)
		return askReader(state, "confirm", Form("It will be recorded that you read the log: "+known.Reason, Yes("ok"))), err
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{
		URI: auditLog, MIMEType: "text/plain", Text: "The log was read: " + known.Reason,
	}}}, nil
}

// askReader asks one thing. The contents are empty and not absent, without which
// the SDK fails the request of a client of an older revision.
func askReader(state, key string, form *mcp.ElicitParams) *mcp.ReadResourceResult {
	return &mcp.ReadResourceResult{
		Contents:      []*mcp.ResourceContents{},
		RequestState:  state,
		InputRequests: mcp.InputRequestMap{key: form},
	}
}
