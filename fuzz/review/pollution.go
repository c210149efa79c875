package review

import (
	"encoding/json"

	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// Polluting are members that change the prototype of all JavaScript objects in a server that merges
// objects carelessly (CWE-1321). Honest requests have the inherited members themselves, so they are
// read as before.
var Polluting = map[string]json.RawMessage{
	"__proto__":   inheritedMembers,
	"constructor": jsondoc.Object(map[string]json.RawMessage{"prototype": inheritedMembers}),
}

var inheritedMembers = jsondoc.Object(map[string]json.RawMessage{
	"jsonrpc":          json.RawMessage(`"2.0"`),
	client.MetaVersion: jsondoc.Quote(client.Modern),
})

// Pollutes sends requests that lack a member, calls act, and sends them again. If one that was
// refused twice is now accepted, the member comes from a polluted prototype; Pollutes returns that
// answer and true. It calls act in any case.
func (t *T) Pollutes(act func()) (client.Answer, bool) {
	var witnesses []func() client.Answer
	for i, lacks := range []func(body map[string]json.RawMessage) map[string]json.RawMessage{withoutProtocol, withoutVersion} {
		send := func() client.Answer {
			c := t.Client
			body, _, err := c.NextBody(t.Client.Listing)
			if err != nil {
				return client.Answer{Kind: client.Broken, Cause: err}
			}
			return c.RawCall(t.Context, c.Headers(t.Context, t.Client.Listing), jsondoc.Object(lacks(jsondoc.Members(body))))
		}
		if t.unheard[i] {
			continue
		}
		first := send()
		if t.unheard[i] = first.Kind == client.Broken; first.Kind == client.Failed && send().Kind == client.Failed {
			witnesses = append(witnesses, send)
		}
	}
	act()
	for _, send := range witnesses {
		if a := send(); a.Kind == client.Completed {
			return a, true
		}
	}
	return client.Answer{}, false
}

func withoutProtocol(body map[string]json.RawMessage) map[string]json.RawMessage {
	return jsondoc.Without(body, "jsonrpc")
}

func withoutVersion(body map[string]json.RawMessage) map[string]json.RawMessage {
	params := jsondoc.Members(body["params"])
	meta := jsondoc.Object(jsondoc.Without(jsondoc.Members(params["_meta"]), client.MetaVersion))
	return jsondoc.With(body, "params", jsondoc.Object(jsondoc.With(params, "_meta", meta)))
}
