package example

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The tool count_primes hands its work on in slices: between them it
// asks no question and returns its state alone, so that another instance may go
// on. Three rounds reach the limit, because some clients give up after three.
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
