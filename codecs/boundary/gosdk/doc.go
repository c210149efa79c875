// Package gosdk puts a boundary around a server that is built on the official Go
// SDK, github.com/modelcontextprotocol/go-sdk v1.8.0, which has no protection of
// requestState of its own. One line does it:
//
//	server := mcp.NewServer(impl, nil)
//	_, err := gosdk.Protect(server, impl, boundary.Policy{Secrets: ring})
//
// It is a receiving middleware for tools/call, prompts/get and resources/read.
// Inbound it verifies the token that a request brings and hands the handler the
// state in its place; outbound it seals the state of a result. Handlers never
// see a token, clients never see a state.
//
// # In a handler
//
// The state is plain text in the fields that the SDK has for it:
//
//	req.Params.RequestState   "" in the first round, then the state that the round before left
//	result.RequestState       the state for the next round
//	result.InputRequests      the questions to the client, beside the state
//
// The example of this package is a whole tool with its client, cmd/mcpserver a
// whole server.
//
// # Transports
//
// Streamable HTTP needs StreamableHTTPOptions{Stateless: true}: revision
// 2026-07-28 has no sessions, and a fleet behind a balancer cannot keep them.
// [TokenPrincipal] says which transport gives which principal.
//
// # Results
//
// A result that carries state is sealed and says input_required, also if it asks
// no question (work handed on between rounds). A result with state that has
// content and no input requests is a fault of the handler, since the client
// would not come back: it is an internal error, as the SDK has it for content
// beside input requests. The SDK refuses two such results before the boundary
// can see them, so set InputRequests to an empty map, or leave the content out:
// those of typed tools with an output type of their own, which always get
// content, and those of resources whose Contents are nil.
//
// # Older revisions
//
// For clients of older revisions the SDK itself asks for input and calls the
// handler again, inside the boundary, with the plain state; it does so once. A
// state that is still there afterwards leaves sealed. Let resources that ask
// for input return empty Contents, not nil ones, without which the SDK fails such
// requests.
//
// # Limitations
//
//   - A requestState that is not a string is refused by the SDK before the
//     boundary, with an error of the SDK's own.
//   - Arguments of prompts reach the boundary decoded, so ill-formed UTF-16 in
//     them is U+FFFD to the digest and to the handler alike; a Python server of
//     the same fleet digests it as it came, and refuses.
//   - A panic of a handler ends the process, with its value on standard error:
//     the SDK does not recover from it.
package gosdk
