package review

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/review/client"
)

func TestAnswersDiffer(t *testing.T) {
	var q client.Question
	require.NoError(t, json.Unmarshal([]byte(`{"method":"elicitation/create","params":{"requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}}`), &q))
	require.Len(t, AnswersTo(map[string]client.Question{"one": q}), 1)
	all := AnswersTo(map[string]client.Question{"one": q, "two": q})
	require.Len(t, all, 2)
	require.JSONEq(t, `{"one":{"action":"accept","content":{"name":"probe"}},"two":{"action":"accept","content":{"name":"sample"}}}`, string(all[1]))
}
