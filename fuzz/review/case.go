package review

import (
	"fmt"
	"slices"

	"sealab/fuzz/review/client"
)

// A Case is one altered request.
type Case struct {
	Name string
	Call client.Call // the list of the client if Method is empty
	// Fresh returns the call of each request anew, for a state that may be presented once; nil: Call.
	Fresh func() (client.Call, error)
	Alter func(w *client.Request)
	Judge Judge
}

// A Judge returns the fault in an answer and its severity, or "" if the answer is right.
type Judge func(client.Answer) (Severity, string)

// FaultIf returns a judge that finds an issue in each answer for which is returns true.
func FaultIf(severity Severity, issue string, is func(client.Answer) bool) Judge {
	return func(a client.Answer) (Severity, string) {
		if is(a) {
			return severity, issue
		}
		return "", ""
	}
}

// Request returns an honest request for a call.
func (t *T) Request(call client.Call) *client.Request {
	c := t.Client
	body, id, err := c.NextBody(call)
	if err != nil {
		t.Skip("%v", err)
		return &client.Request{Verb: "POST", Path: c.HTTP.Path(), ID: id}
	}
	return &client.Request{Verb: "POST", Path: c.HTTP.Path(), Headers: c.Headers(t.Context, call), Body: body, ID: id}
}

// Send sends a request unchanged, with the retries of [client.Client.Patiently].
func (t *T) Send(w *client.Request) client.Answer {
	c := t.Client
	return c.Patiently(t.Context, func() client.Answer {
		a := client.ReadAnswer(c.Raw(t.Context, w.Raw()), w.ID)
		c.NoteCode(w.Verb, a)
		return a
	})
}

// Cases sends altered requests between two honest ones. If an honest request fails, Cases skips the
// check and drops its findings.
func (t *T) Cases(all ...Case) {
	if t.SkipFor(t.Control()) {
		return
	}
	before := len(t.Findings)
	for _, c := range all {
		if t.Selected(c.Name) {
			t.RunCase(c)
		}
	}
	if reason := t.Control(); reason != "" {
		t.Findings = t.Findings[:before]
		t.Skip("%s", reason)
	}
}

// RunCase sends the request of a case, and sends it again if the answer is a fault. The fault
// counts if it shows twice. RunCase leaves out a method that the
// server does not have, because it may refuse that before anything else.
func (t *T) RunCase(c Case) {
	if c.Call.Method == "" {
		c.Call = t.Client.Listing
	}
	if t.Report.Server.lacks(c.Call.Method) {
		return
	}
	var found func()
	for range 2 {
		if c.Fresh != nil {
			var err error
			if c.Call, err = c.Fresh(); err != nil {
				return
			}
		}
		w := t.Request(c.Call)
		c.Alter(w)
		a := t.Send(w)
		if a.Withheld() {
			t.Skip("%s: %v", c.Name, a)
			return
		}
		t.Trials++
		severity, issue := c.Judge(a)
		if issue == "" {
			return
		}
		found = func() { t.RefuteRequest(c.Name, severity, issue, w, a) }
	}
	found()
}

// RefuteRequest records a finding on one request.
func (t *T) RefuteRequest(name string, severity Severity, issue string, w *client.Request, a client.Answer) {
	t.Refute(Finding{Case: name, Severity: severity, Issue: name + ": " + issue, Curl: t.Client.Curl(w),
		Evidence: fmt.Sprintf("%s -> status %d, %v", client.Short(string(a.Exchange.Sent), 700), a.Status, a), Want: "see the check", Got: a.Class()})
}

// Control sends an honest request. It returns the reason why it failed, or "" if the server
// answered it.
func (t *T) Control() string {
	if a := t.HonestAnswer(); a.Kind != client.Completed {
		return fmt.Sprintf("control: an honest request: %v", a)
	}
	return ""
}

// Unanswered is like [T.Control], for use after a case that may have stopped the server. It skips
// the check if the request was not sent or met a rate limit.
func (t *T) Unanswered() string {
	switch a := t.HonestAnswer(); a.Kind {
	case client.Completed:
		return ""
	case client.NoBudget, client.Throttled:
		t.Skip("control: an honest request: %v", a)
		return ""
	default:
		return fmt.Sprintf("control: an honest request: %v", a)
	}
}

// HonestAnswer returns the answer to an honest request.
func (t *T) HonestAnswer() client.Answer {
	return t.Client.Call(t.Context, t.Client.Listing)
}

// WantCode returns a judge that accepts a JSON-RPC error with one of the codes. A served request
// has severity worst, and any other refusal has severity form.
func WantCode(worst, form Severity, codes ...int) Judge {
	return func(a client.Answer) (Severity, string) {
		switch {
		case client.Served(a):
			return worst, "served"
		case a.Kind == client.Failed && slices.Contains(codes, a.Code):
			return "", ""
		case a.Kind == client.Broken && a.Status == 0:
			return Warning, "no answer"
		default:
			return form, fmt.Sprintf("refused in another way than with %d", codes[0])
		}
	}
}

// WantRefused returns a judge that accepts any answer except a served request.
func WantRefused(severity Severity) Judge { return FaultIf(severity, "served", client.Served) }

// WantServed returns a judge that accepts only a served request.
func WantServed(severity Severity) Judge {
	return FaultIf(severity, "refused", func(a client.Answer) bool { return !client.Served(a) })
}

// NoFault accepts any answer except an internal error of the server or a missing answer.
func NoFault(a client.Answer) (Severity, string) {
	if a.Code == -32603 || a.Status >= 500 || a.Kind == client.Broken && a.Status == 0 {
		return Suggestion, fmt.Sprintf("answered by a fault of the server: status %d, code %d", a.Status, a.Code)
	}
	return "", ""
}
