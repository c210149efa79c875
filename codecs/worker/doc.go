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
// An open has the ring in order, the time to live in seconds and the options. The
// time to live is 600 if the configuration has none. A server reads an open without
// it as the design's own default. Codecs ignore the time to live.
//
// A rejection names its stage (malformed, unknown-key, unauthentic, misbound or
// expired) and a reason in the worker's words. The kind of a hello is codec or
// scheme: a codec has seal and unseal, a scheme mint and verify. Its guarantees are
// properties of package codecs that the design claims (true) or disclaims (false).
//
// A binding has the members method, target, arguments (any JSON, passed on byte for
// byte, except that line breaks between values become spaces), principal and
// audience. An absent member and null mean that there is none. Times are Unix
// seconds with a fraction and carry microseconds. A lone surrogate in a text crosses
// as its \u escape; the laboratory holds it as three bytes of generalised UTF-8.
// Other bytes that are not UTF-8 cannot cross: they are [codecs.ErrUnsupported], and
// no request is made.
//
// The abilities:
//
//	clock   the worker takes the time from the request and not from its own clock
//	batch   verify and unseal take "tokens":[...] instead of token and
//	        answer {"ok":true,"verdicts":[...]}, one answer per token, in order
//	bench   {"op":"bench","handle":1,"do":"verify","n":1000, ...the members of do}
//	        does the operation n times and answers {"ok":true,"elapsed_ns":N},
//	        the time that passed inside the worker
//
// A hello may also carry "options":[{"name":"...","doc":"...","values":["..."]}],
// the choices that open takes; the first value is the default.
//
// Limits: a request has a deadline, an answer a longest line, a client a number of
// restarts; see [Limits]. A breach is an [Event] with the input that caused it. The
// package reads no clock: deadlines are timers, and a bench is timed by the clock
// that the server was given.
//
// A client may send up to 128 requests before it reads their answers. It gives a worker
// that breaks then one request at a time.
//
// The protocol does not number requests. A late line that was not requested is read
// as the answer to the next request. The event follows as soon as there is one line
// more than there were requests.
//
// Limitations: there is no isolation; a worker runs with the rights of the
// laboratory. Timing through a pipe is never a verdict.
package worker
