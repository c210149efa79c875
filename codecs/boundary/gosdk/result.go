package gosdk

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// An answer is one result that may carry state.
type answer struct {
	state    string // "" if absent
	asks     mcp.InputRequestMap
	complete bool // has content and asks no question: it must not carry state
	// with returns the result with the token in the place of the state, marked
	// input_required. The handler's own value stays unchanged.
	with func(token string) mcp.Result
}

// answerOf reads a result, and reports whether it is of a type that the SDK
// uses for the methods that carry state. A nil result carries no state.
func answerOf(res mcp.Result) (answer, bool) {
	switch r := res.(type) {
	case nil:
		return answer{}, true
	case *mcp.CallToolResult:
		return toolAnswer(r), true
	case *mcp.GetPromptResult:
		return promptAnswer(r), true
	case *mcp.ReadResourceResult:
		return resourceAnswer(r), true
	}
	return answer{}, false
}

func toolAnswer(r *mcp.CallToolResult) answer {
	if r == nil {
		return answer{}
	}
	return answer{
		state:    r.RequestState,
		asks:     r.InputRequests,
		complete: r.InputRequests == nil && (len(r.Content) > 0 || r.StructuredContent != nil),
		with: func(token string) mcp.Result {
			out := *r
			if r.InputRequests == nil {
				out = askingTool
				out.Meta, out.Content, out.InputRequests = r.Meta, r.Content, mcp.InputRequestMap{}
			}
			out.RequestState = token
			return &out
		},
	}
}

func promptAnswer(r *mcp.GetPromptResult) answer {
	if r == nil {
		return answer{}
	}
	return answer{
		state:    r.RequestState,
		asks:     r.InputRequests,
		complete: r.InputRequests == nil && len(r.Messages) > 0,
		with: func(token string) mcp.Result {
			out := *r
			if r.InputRequests == nil {
				out = askingPrompt
				out.Meta, out.Description, out.Messages = r.Meta, r.Description, r.Messages
				out.InputRequests = mcp.InputRequestMap{}
			}
			out.RequestState = token
			return &out
		},
	}
}

func resourceAnswer(r *mcp.ReadResourceResult) answer {
	if r == nil {
		return answer{}
	}
	return answer{
		state:    r.RequestState,
		asks:     r.InputRequests,
		complete: r.InputRequests == nil && len(r.Contents) > 0,
		with: func(token string) mcp.Result {
			out := *r
			if r.InputRequests == nil {
				out = askingResource
				out.Meta, out.Cacheable, out.Contents = r.Meta, r.Cacheable, r.Contents
				out.InputRequests = mcp.InputRequestMap{}
			}
			out.RequestState = token
			return &out
		},
	}
}

// The results that are marked input_required and empty. The SDK sets the mark in its
// decoder alone.
var (
	askingTool     = marked[mcp.CallToolResult]()
	askingPrompt   = marked[mcp.GetPromptResult]()
	askingResource = marked[mcp.ReadResourceResult]()
)

func marked[R any, P interface {
	*R
	json.Unmarshaler
}]() (empty R) {
	if err := P(&empty).UnmarshalJSON([]byte(`{"resultType":"input_required"}`)); err != nil {
		panic("boundary: " + err.Error()) // a constant that the SDK's decoder takes
	}
	return empty
}
