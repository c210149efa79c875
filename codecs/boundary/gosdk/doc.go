// Package gosdk puts a boundary around a server built on the official Go SDK,
// github.com/modelcontextprotocol/go-sdk v1.8.0, which does not protect
// requestState itself. One call adds it:
//
//	server := mcp.NewServer(impl, nil)
//	_, err := gosdk.Protect(server, impl, boundary.Policy{Secrets: ring})
//
// The boundary is a receiving middleware for tools/call, prompts/get and
// resources/read. It verifies the token of a request and gives the handler the
// state in its place. It seals the state of a result. Handlers never see a
// token, and clients see only tokens.
//
// # In a handler
//
// The state is plain text in the SDK's own fields:
//
//	req.Params.RequestState   "" in the first round, then the state of the previous round
//	result.RequestState       the state for the next round
//	result.InputRequests      the questions to the client, beside the state
//
// The example of this package is a complete tool with its client. The program
// cmd/mcpserver also checks Host and Origin; the boundary does not.
//
// # Transports
//
// Streamable HTTP needs StreamableHTTPOptions{Stateless: true}: revision
// 2026-07-28 has no sessions, and a fleet behind a load balancer cannot keep
// them. [TokenPrincipal] lists the principal that each transport provides.
//
// # Results
//
// A result that carries state is sealed and marked input_required, even if it
// asks no question and only hands work on to the next round. A result with
// state and content but without input requests is a fault of the handler,
// because the client would not come back. It is an internal error.
//
// Two kinds of results need care. The SDK adds content to the result of a typed
// tool with an output type, unless InputRequests is set: set it to an empty map.
// The SDK itself refuses the result of a resource whose Contents and
// InputRequests are both nil: set one of them to an empty value.
//
// For clients of older revisions the SDK itself asks for input. It then calls
// the handler again, once, inside the boundary and with the plaintext state. If
// the second result carries state, the boundary seals it. A resource that asks
// for input must return empty Contents rather than nil; otherwise the SDK fails
// the request.
//
// # Limitations
//
//   - The SDK refuses a requestState that is not a string before the boundary sees
//     it, with an error of its own.
//   - Arguments of prompts reach the boundary decoded. Ill-formed UTF-16 in them is
//     U+FFFD to both the digest and the handler. A Python server of the same fleet
//     digests the original text, and so refuses the token.
//   - A panic of a handler ends the process and prints its value on standard error,
//     because the SDK does not recover from it.
package gosdk
