package gosdk

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// An answer is an SDK result that may carry state.
type answer struct {
	state    string // "" if absent
	asks     mcp.InputRequestMap
	complete bool // has content and asks no question, so it must not carry state
	// with returns a copy of the result that has the token in place of the
	// state and is marked input_required. The handler's own result stays
	// unchanged.
	with func(token string) mcp.Result
}

// answerOf converts a result. It reports false if the result has none of the
// SDK's types for the methods that carry state. A nil result carries no state.
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

// fields are pointers to the fields that all types of results have.
type fields struct {
	state   *string
	asks    *mcp.InputRequestMap
	content bool // whether the result has content
}

// answerIn converts a result. copyTo copies the other fields of a result
// without questions to an empty one that is marked input_required.
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

// Empty results that are marked input_required. Only the SDK's decoder can set
// the mark.
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
		panic("boundary: " + err.Error()) // a constant that the SDK's decoder accepts
	}
	return empty
}
