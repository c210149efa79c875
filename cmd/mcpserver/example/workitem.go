package example

import (
	"context"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The tool update_work_item is the example of the specification: a tracker
// whose rules want a resolution for a resolved bug, and for a duplicate the
// original.
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

// resolve asks for the next thing that a rule wants, or resolves the item.
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
