package example

import (
	"context"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Field is the single field of a form, with its JSON schema. Forms are the input requests of
// multi-round-trip requests (Model Context Protocol 2026-07-28, basic/patterns/mrtr). Their answers
// come from the client and are not protected. If a later round relies on a fact, keep it in the
// requestState.
type Field struct {
	Name   string
	Schema map[string]any
}

// Text returns a field for one line of text.
func Text(name string) Field { return Field{name, map[string]any{"type": "string"}} }

// Number returns a field for a number.
func Number(name string) Field { return Field{name, map[string]any{"type": "number"}} }

// Yes returns a field for a yes or no.
func Yes(name string) Field { return Field{name, map[string]any{"type": "boolean"}} }

// OneOf returns a field for one of several texts.
func OneOf(name string, choices ...string) Field {
	return Field{name, map[string]any{"type": "string", "enum": choices}}
}

// Form returns a request to fill in a form with one required field.
func Form(message string, f Field) *mcp.ElicitParams {
	return &mcp.ElicitParams{
		Mode:    "form",
		Message: message,
		RequestedSchema: map[string]any{
			"type":       "object",
			"properties": map[string]any{f.Name: f.Schema},
			"required":   []string{f.Name},
		},
	}
}

// Answer returns the value of a field in the form with the given key. It returns false unless the
// user accepted the form and the value has type T.
func Answer[T any](answers mcp.InputResponseMap, key, field string) (value T, ok bool) {
	form, ok := answers[key].(*mcp.ElicitResult)
	if !ok || form == nil || form.Action != "accept" {
		return value, false
	}
	value, ok = form.Content[field].(T)
	return value, ok
}

// The tool count_primes divides its work into slices. Between them it asks no question and returns
// only its state, so another instance may continue. Three rounds reach the limit, because some
// clients give up after three.
type primesArguments struct {
	Below int `json:"below" jsonschema:"count the primes below this number, at most 30000"`
}

type primesState struct {
	Next  int `json:"next"`
	Found int `json:"found"`
}

const (
	primesSlice = 10_000
	primesLimit = 3 * primesSlice
)

func addPrimes(server *mcp.Server) {
	mcp.AddTool(server, &mcp.Tool{
		Name:        "count_primes",
		Description: "Count the primes below a number, 10000 numbers a round",
	}, countPrimes)
}

func countPrimes(_ context.Context, req *mcp.CallToolRequest, in primesArguments) (*mcp.CallToolResult, any, error) {
	if in.Below > primesLimit {
		return nil, nil, fmt.Errorf("below is %d, want at most %d", in.Below, primesLimit)
	}
	done, err := decode[primesState](req.Params.RequestState)
	if err != nil {
		return nil, nil, err
	}
	end := min(in.Below, done.Next+primesSlice)
	for ; done.Next < end; done.Next++ {
		if prime(done.Next) {
			done.Found++
		}
	}
	if done.Next >= in.Below {
		return say("There are %d primes below %d.", done.Found, in.Below), nil, nil
	}
	state, err := encode(done)
	return &mcp.CallToolResult{RequestState: state}, nil, err
}

func prime(n int) bool {
	for d := 2; d*d <= n; d++ {
		if n%d == 0 {
			return false
		}
	}
	return n >= 2
}

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

// The tool update_work_item is the example of the specification. It is a tracker whose rules
// require a resolution for a resolved bug, and the original for a duplicate.
//
//	round 1  arguments say Resolved            -> asks for the resolution
//	round 2  the user answered Duplicate       -> asks for the original; state: the resolution
//	round 3  the user named the original       -> done
type workItemArguments struct {
	WorkItemID int               `json:"workItemId" jsonschema:"number of the work item"`
	Fields     map[string]string `json:"fields" jsonschema:"fields to change, such as System.State"`
}

type workItemState struct {
	Resolution string `json:"resolution"`
}

var resolutions = []string{"Fixed", "Won't Fix", "Duplicate", "By Design"}

func addWorkItem(server *mcp.Server) {
	mcp.AddTool(server, &mcp.Tool{
		Name:        "update_work_item",
		Description: "Change the fields of a work item; the tracker's rules may ask for more",
	}, updateWorkItem)
}

func updateWorkItem(_ context.Context, req *mcp.CallToolRequest, in workItemArguments) (*mcp.CallToolResult, any, error) {
	if in.Fields["System.State"] != "Resolved" {
		return say("Work item #%d updated.", in.WorkItemID), nil, nil
	}
	known, err := decode[workItemState](req.Params.RequestState)
	if err != nil {
		return nil, nil, err
	}
	if answered, ok := Answer[string](req.Params.InputResponses, "resolution", "resolution"); ok && known.Resolution == "" && slices.Contains(resolutions, answered) {
		known.Resolution = answered
	}
	res, err := resolve(in.WorkItemID, known, req.Params.InputResponses)
	return res, nil, err
}

// resolve asks for the next value that a rule requires, or resolves the item.
func resolve(item int, known workItemState, answers mcp.InputResponseMap) (*mcp.CallToolResult, error) {
	switch known.Resolution {
	case "":
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{
			"resolution": Form("Resolving a bug requires a resolution. How was this bug resolved?", OneOf("resolution", resolutions...)),
		}}, nil
	case "Duplicate":
		original, ok := Answer[float64](answers, "duplicate_of", "duplicateOfId")
		if ok {
			return say("Bug #%d resolved as Duplicate of Bug #%.0f.", item, original), nil
		}
		state, err := encode(known)
		return &mcp.CallToolResult{
			RequestState: state,
			InputRequests: mcp.InputRequestMap{
				"duplicate_of": Form("Since this is a duplicate, which work item is the original?", Number("duplicateOfId")),
			},
		}, err
	}
	return say("Bug #%d resolved as %s.", item, known.Resolution), nil
}

// The resource example://audit-log requires a reason. Before the log is opened, the reason is shown
// to the reader.
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

// askReader asks one question. The contents are empty rather than absent, because the SDK otherwise
// fails the request of a client of an older revision.
func askReader(state, key string, form *mcp.ElicitParams) *mcp.ReadResourceResult {
	return &mcp.ReadResourceResult{
		Contents:      []*mcp.ResourceContents{},
		RequestState:  state,
		InputRequests: mcp.InputRequestMap{key: form},
	}
}
