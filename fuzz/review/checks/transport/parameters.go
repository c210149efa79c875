package transport

import (
	"math/big"
	"slices"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
)

// maxRepeating is the number of calls with arguments that headers repeat, of those that do not ask.
const maxRepeating = 4

// checkParamHeaders alters the header of each repeated argument of a call. A server may compare only the
// texts, or only the first argument.
func checkParamHeaders(t *review.T) {
	found := false
	defer retriesWithParam(t)
	want := review.WantCode(review.Warning, review.Warning, -32020)
	for _, o := range t.Oracles {
		if repeated := repeatedArguments(t, o.Flow); len(repeated) > 0 {
			t.Oracle, found = o, true
			t.Cases(paramCases(o.Flow, o.User, repeated, want)...)
			want = review.FaultIf(review.Warning, "served", client.Served) // once is enough for the code
		}
	}
	t.Oracle = nil
	for _, f := range repeatingCalls(t) {
		call := f.Call(client.FirstUser)
		// A call that may be made once alone is refused from then on.
		if a := t.Call(call); a.Kind == client.Completed {
			found = true
			t.Cases(paramCases(f, client.FirstUser, repeatedArguments(t, f), review.FaultIf(review.Warning, "served", client.Answer.Succeeded))...)
		}
	}
	if !found {
		t.Skip("no tool that may be called has an argument that a header repeats%s", t.NotCalled())
	}
}

// repeatingCalls returns calls of tools that do not ask and have arguments that headers repeat.
func repeatingCalls(t *review.T) []client.Flow {
	var all []client.Flow
	for _, tool := range slices.Concat(t.Readers(), t.Changers()) {
		f := t.FlowOf(tool)
		if len(all) < maxRepeating && !t.Asks(tool) && len(repeatedArguments(t, f)) > 0 {
			all = append(all, f)
		}
	}
	return all
}

// paramCases returns the cases of the repeated arguments of a call.
func paramCases(f client.Flow, as client.User, repeated []client.RepeatedArgument, refused review.Judge) []review.Case {
	var all []review.Case
	add := func(name string, alter func(*client.Request), judge review.Judge) {
		all = append(all, review.Case{Name: name + ", " + f.Target, Call: f.Call(as), Alter: alter, Judge: judge})
	}
	for _, r := range repeated {
		value, _ := r.Value(f.Arguments)
		add("no "+r.Header, client.WithoutHeader(r.Header), refused)
		add("another "+r.Header, client.WithHeader(r.Header, otherValue(value, r.IsText(f.Arguments))), refused)
		if r.IsText(f.Arguments) {
			served := review.WantServed(review.Suggestion)
			add(r.Header+" in base64", client.WithHeader(r.Header, client.Base64Form(value)), served)
		} else {
			add("a text as "+r.Header, client.WithHeader(r.Header, "sealab-other"), refused)
		}
	}
	return all
}

// otherValue returns the header of another value of the same type.
func otherValue(value string, text bool) string {
	n, isInteger := new(big.Int).SetString(value, 10)
	switch {
	case text:
		return "sealab-other"
	case value == "true":
		return "false"
	case value == "false":
		return "true"
	case isInteger:
		return n.Add(n, big.NewInt(1)).String()
	default:
		return "1" + value // a fraction
	}
}

// repeatedArguments returns the arguments of a flow's first call that are repeated in headers.
func repeatedArguments(t *review.T, f client.Flow) []client.RepeatedArgument {
	return slices.DeleteFunc(slices.Clone(t.Client.Repeated[f.Target]), func(r client.RepeatedArgument) bool {
		_, ok := r.Value(f.Arguments)
		return !ok || f.Method != "tools/call"
	})
}

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
