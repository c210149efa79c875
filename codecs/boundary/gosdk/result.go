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
	return answerIn(r, &askingTool, func(r *mcp.CallToolResult) fields {
		return fields{&r.RequestState, &r.InputRequests, len(r.Content) > 0 || r.StructuredContent != nil}
	}, func(out *mcp.CallToolResult) { out.Meta, out.Content = r.Meta, r.Content })
}

func promptAnswer(r *mcp.GetPromptResult) answer {
	return answerIn(r, &askingPrompt, func(r *mcp.GetPromptResult) fields {
		return fields{&r.RequestState, &r.InputRequests, len(r.Messages) > 0}
	}, func(out *mcp.GetPromptResult) {
		out.Meta, out.Description, out.Messages = r.Meta, r.Description, r.Messages
	})
}

func resourceAnswer(r *mcp.ReadResourceResult) answer {
	return answerIn(r, &askingResource, func(r *mcp.ReadResourceResult) fields {
		return fields{&r.RequestState, &r.InputRequests, len(r.Contents) > 0}
	}, func(out *mcp.ReadResourceResult) {
		out.Meta, out.Cacheable, out.Contents = r.Meta, r.Cacheable, r.Contents
	})
}

// fields are the parts that the types of results share.
type fields struct {
	state   *string
	asks    *mcp.InputRequestMap
	content bool // has content of its type
}

// answerIn reads a result. copyTo copies what a result without questions keeps to
// one that is marked input_required and empty.
func answerIn[R any, Result interface {
	*R
	mcp.Result
}](r, asking Result, fieldsOf func(*R) fields, copyTo func(*R)) answer {
	if r == nil {
		return answer{}
	}
	read := fieldsOf(r)
	asks := *read.asks
	return answer{
		state:    *read.state,
		asks:     asks,
		complete: asks == nil && read.content,
		with: func(token string) mcp.Result {
			out := *r
			if *read.asks == nil {
				out = *asking
				copyTo(&out)
				*fieldsOf(&out).asks = mcp.InputRequestMap{}
			}
			*fieldsOf(&out).state = token
			return Result(&out)
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
