// Package worker speaks the worker protocol, version 1, at both ends: a
// [Server] serves any design on a pair of streams, and a [Client] makes a
// process in any language look like a [codecs.Design].
//
// The protocol is JSON Lines in UTF-8: one object a line, one response per
// request, in order. Bytes are base64url without padding in fields whose name
// ends in _b64; tokens are plain strings; standard error is free text.
//
//	{"op":"hello","protocol":1}
//	  -> {"ok":true,"protocol":1,"name":"mcp-ts","version":"2.4.0","kind":"scheme",
//	      "abilities":["clock","batch"],"guarantees":{"integrity":true,"single-use":false}}
//	{"op":"open","keys_b64":["..."],"ttl":600,"options":{"name":"value"}}
//	  -> {"ok":true,"handle":1} | {"ok":false,"refused":"why"}
//	{"op":"mint","handle":1,"now":1795132800.25,"state_b64":"...","binding":{...}}
//	  -> {"ok":true,"token":"..."}
//	{"op":"verify","handle":1,"now":1795132800.25,"token":"...","binding":{...}}
//	  -> {"ok":true,"state_b64":"..."} | {"ok":false,"rejected":"unauthentic","reason":"mac"}
//	{"op":"seal","handle":1,"payload_b64":"..."}  -> {"ok":true,"token":"..."}
//	{"op":"unseal","handle":1,"token":"..."}      -> {"ok":true,"payload_b64":"..."} | rejected
//	{"op":"close","handle":1}                     -> {"ok":true}
//	anything else                                 -> {"ok":false,"unsupported":true}
//	the worker itself broke                       -> {"ok":false,"fault":"text"}
//
// An open has the ring in order, the time to live in seconds (600 where the
// configuration has none; a server takes an open without it for the design's own
// default) and the options; codecs ignore the time to live.
//
// What is rejected names its stage, which is malformed, unknown-key, unauthentic,
// misbound or expired, and a reason in words of its own. The kind of a hello is
// codec or scheme: the one has seal and unseal, the other mint and verify. Its
// guarantees are the properties of package codecs that the design holds (true)
// or disclaims (false); it is silent on what it leaves out.
//
// A binding has the members method, target, arguments (any JSON, passed on byte
// for byte but for line breaks between values, which become spaces), principal
// and audience; an absent member and null mean that there is none. Times are
// Unix seconds with a fraction and carry microseconds. A lone surrogate in a
// text, which the laboratory holds as its three-byte generalised UTF-8, crosses
// as its \u escape; other bytes that are not UTF-8 cannot cross and are
// [codecs.ErrUnsupported], with no request made.
//
// The abilities:
//
//	clock   the worker takes the time from the request and not from its own clock
//	batch   verify and unseal take "tokens":[...] in the place of token and
//	        answer {"ok":true,"verdicts":[...]}, one answer per token, in order
//	bench   {"op":"bench","handle":1,"do":"verify","n":1000, ...the members of do}
//	        does the operation n times and answers {"ok":true,"elapsed_ns":N},
//	        the time that passed inside the worker
//
// A hello may also carry "options":[{"name":"...","doc":"...","values":["..."]}],
// the choices that open takes; the first value is the default.
//
// Limits: a request has a deadline, an answer a longest line, a client a number
// of restarts; see [Limits]. What breaks them is an [Event] with the input that
// caused it. Nothing here reads a clock: deadlines are timers, and a bench is
// timed by the clock that the server was given.
//
// The protocol has no numbers for requests. A line that nobody asked for and that
// arrives late is taken for the answer to the next request; the event follows when
// one line more than was asked for has come.
//
// It does not give isolation: a worker runs with the rights of the laboratory.
// And timing through a pipe is never a verdict.
package worker
