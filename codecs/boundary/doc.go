// Package boundary protects the requestState of a Model Context Protocol server
// (revision 2026-07-28, basic/patterns/mrtr) that is built on
// github.com/modelcontextprotocol/go-sdk v1.8.0, which has no protection of its
// own. One line puts it around a server:
//
//	server := mcp.NewServer(impl, nil)
//	err := boundary.Protect(server, impl, boundary.Policy{Secrets: ring})
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
//	req.Params.RequestState   "" in the first round, then what the round before left
//	result.RequestState       what the next round will find
//	result.InputRequests      what the client is asked for, beside the state
//
// The example of this package (example_test.go) is a whole tool with its client,
// "sealab serve" a whole server.
//
// # What a token is bound to
//
// By default a token is good for ten minutes, for the method, the target (name
// of the tool or prompt, URI of the resource), the arguments, the audience (the
// server's name) and the principal of the request it was minted for. It is a
// token of the Python SDK, in the strict reading of package mcppy, where its
// layout is: a server in Python with the same ring and audience takes the next
// round. A [Policy] may put any codec of the catalog under the same claims, or
// any scheme in their place, whose guarantees then hold and no others: see
// Design.Guarantees.
//
//	boundary.Policy{}                                    one process, a warning in the log
//	boundary.Policy{Secrets: [][]byte{newKey, oldKey}}   a fleet; keys rotate
//	boundary.Policy{Codec: c, TTL: time.Minute}          another codec of the catalog
//	boundary.Policy{Scheme: s}                           another scheme, such as another SDK's format
//
// # What clients are told
//
// Every refused token, whatever the cause, gets one answer: error -32602,
// "Invalid or expired requestState", with the data
// {"reason":"invalid_request_state"}. The cause goes to the log alone, as a fixed
// text beside the method. What the server cannot do (a state that the format
// cannot carry, a callback that fails) is error -32603, "Internal error". Errors
// and panics of codecs, schemes, stores and principal functions refuse inbound
// and are internal errors outbound; of their text nothing is logged but the
// types, so let callbacks log their own failures. Panics of handlers are the
// SDK's matter.
//
// # Results
//
// A result that carries state is sealed and says input_required, also where it
// asks for nothing (work handed on between rounds). A result with state that has
// content and no input requests is a mistake of the handler, since the client
// would not come back: it is an internal error, as the SDK has it for content
// beside input requests. The SDK turns down two such results before the boundary
// can see them, so set InputRequests to an empty map, or leave the content out:
// those of typed tools with an output type of their own, which always get
// content, and those of resources whose Contents are nil.
//
// # Single use
//
// A token may be presented again until it expires. A [Store] makes it single-use:
// tokens then carry a random ID before the state, under the seal, and the store
// decides on the ID, so that no other spelling of a token is another token. An ID
// is used up before the handler runs: a round that fails cannot be repeated.
// Tokens of servers without a store, SDKs included, are refused. [Memory] is a
// store for one process.
//
// # Older revisions
//
// For clients of older revisions the SDK itself asks for input and calls the
// handler again, inside the boundary, with the plain state; it does so once. A
// state that is still there afterwards leaves sealed. Let resources that ask
// for input return empty Contents, not nil ones, without which the SDK fails such
// requests.
//
// # Limits
//
// Tokens are at most Policy.MaxToken bytes, 64 KiB by default; longer ones are
// refused before any work, and not minted. The request itself is bounded by the
// transport. The clock is time.Now unless Policy.Now replaces it; no other
// package below the command reads one.
//
// # What it does not give
//
//   - A requestState that is absent, null or "" starts over: a client can always
//     leave it out. Nothing stops a flow from being begun twice.
//   - A requestState that is not a string is refused by the SDK before the
//     boundary, with an error of the SDK's own.
//   - inputResponses are the client's word in every round; what a later round
//     must rely on belongs into the state.
//   - Arguments of prompts reach the boundary decoded, so ill-formed UTF-16 in
//     them is U+FFFD to the digest and to the handler alike; a Python server of
//     the same fleet digests it as it came, and refuses.
//   - Requests without a bearer token have no principal: whoever holds such a
//     token may use it.
//   - The length of a token shows the length of the state, and signed codecs show
//     the state.
package boundary
