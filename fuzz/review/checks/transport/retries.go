package transport

import (
	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
)

// An alteration returns the change of the requests of a flow, or nil if it does not apply to these.
type alteration func(client.Flow) func(*client.Request)

// testRetries alters a header of requests that present a fresh state, of the first flow of each method.
// A server may compare its headers only in first calls. testRetries sends nothing if the check has found
// a fault before, because most servers then compare no request.
func testRetries(t *review.T, name string, alter alteration) {
	own := t.Oracle
	defer func() { t.Oracle = own }()
	seen := map[string]bool{}
	for _, o := range t.Oracles {
		change := alter(o.Flow)
		if len(t.Findings) > 0 || !t.Modern() || seen[o.Flow.Method] || change == nil {
			continue
		}
		seen[o.Flow.Method] = true
		t.Oracle = o
		t.Cases(retryCase(t, name, o, change))
	}
}

// retryCase returns a case that presents a fresh state of the first round, with the answers of the flow if
// it has any.
func retryCase(t *review.T, name string, o *review.Oracle, alter func(*client.Request)) review.Case {
	f := o.Flow
	if len(f.Rounds) > 0 {
		f.Rounds, f.Last = nil, f.Rounds[0]
	}
	return review.Case{Name: name + " with a state, " + f.Target, Call: f.Call(o.User),
		Fresh: func() (client.Call, error) {
			_, question, err := t.Client.Mint(t.Context, f, o.User)
			return t.Client.Reply(f.Call(o.User), question, f.Last), err
		},
		Alter: alter,
		Judge: review.FaultIf(review.Warning, "served", client.Answer.Succeeded)}
}

// retriesWithout and retriesWith test retries without a header, and with another value of it.
func retriesWithout(t *review.T, header string) {
	testRetries(t, "no "+header, func(client.Flow) func(*client.Request) { return client.WithoutHeader(header) })
}

func retriesWith(t *review.T, header, value string) {
	testRetries(t, "another "+header, func(client.Flow) func(*client.Request) { return client.WithHeader(header, value) })
}

// retriesWithParam tests retries with another value of the first header that repeats an argument.
func retriesWithParam(t *review.T) {
	testRetries(t, "another Mcp-Param", func(f client.Flow) func(*client.Request) {
		for _, r := range repeatedArguments(t, f) {
			value, _ := r.Value(f.Arguments)
			return client.WithHeader(r.Header, otherValue(value, r.IsText(f.Arguments)))
		}
		return nil
	})
}
