package review

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/internal/rawmcp"
)

// T is one check at work. A check counts its cases in Trials, records faults by Refute, and
// calls Skip if it cannot ask its question.
type T struct {
	*Review
	Context context.Context
	check   Check
	Oracle  *Oracle // of a check with a flow
	honest  map[string]bool
	Only    string // the case that is replayed; "" for all
	places  map[string]*Oracle

	Trials   int
	Unclear  int    // answers that do not tell whether the state was accepted
	Reason   string // why it is not tested
	stopped  error  // the reason, if the review ended
	Findings []Finding
}

// Tried counts the case that an answer is to.
func (t *T) Tried(a client.Answer) client.Answer {
	t.Trials++
	return a
}

// Prefer goes on with the first flow that is fit for a check, if one is.
func (t *T) Prefer(fit func(client.Flow) bool) {
	for _, o := range t.Oracles {
		if fit(o.Flow) {
			t.Oracle = o
			return
		}
	}
}

// Skip records the reason why the check is not tested. Earlier findings stay.
func (t *T) Skip(format string, args ...any) {
	if t.Reason == "" {
		t.Reason = fmt.Sprintf(format, args...)
	}
}

// SkipFor skips the check for a reason, and reports whether there is one.
func (t *T) SkipFor(reason string) bool {
	if reason != "" {
		t.Skip("%s", reason)
	}
	return reason != ""
}

// SkipOn skips the check for an error, and reports whether there is one.
func (t *T) SkipOn(err error) bool { return err != nil && t.SkipFor(err.Error()) }

// stop records the end of the review as the reason.
func (t *T) stop(err error) { t.Reason, t.stopped = err.Error(), err }

// Selected reports whether every case is carried out, or a replay names one of these.
func (t *T) Selected(names ...string) bool { return t.Only == "" || slices.Contains(names, t.Only) }

// Refute records a finding.
func (t *T) Refute(f Finding) {
	if !t.Selected(f.Case) {
		return
	}
	f.Check, f.Evidence = t.check.ID, string(t.Options.Target.Masked([]byte(f.Evidence)))
	if t.Oracle != nil && f.Flow == nil {
		flow := t.Oracle.Flow
		f.Flow = &flow
	}
	t.Findings = append(t.Findings, f)
}

// outcome sums the check up.
func (t *T) outcome() Outcome {
	o := Outcome{Check: t.check.ID, Trials: t.Trials, Outcome: NotRefuted}
	switch {
	case len(t.Findings) > 0:
		o.Outcome, o.Reason = Refuted, t.Findings[0].Issue
	case t.Reason != "":
		o.Outcome, o.Reason, o.Stopped = NotTested, t.Reason, t.stopped
	case t.Trials == 0:
		o.Outcome, o.Reason = NotTested, "the token and the lists of this server give no case"
	}
	return o
}

// SentText is the request of an exchange in a line of evidence.
func SentText(e *rawmcp.Exchange) string {
	if e == nil {
		return ""
	}
	return client.Short(string(e.Sent), 400)
}

// ExchangeText is the request of an answer and the answer in a line of evidence.
func ExchangeText(a client.Answer) string { return SentText(a.Exchange) + " -> " + a.String() }

// Form records a finding on the form of a result.
func (t *T) Form(name string, severity Severity, issue string, a client.Answer) {
	t.Refute(Finding{Case: name, Severity: severity, Issue: name + ": " + issue, Evidence: client.Short(string(a.Result), 300), Want: "the schema", Got: issue})
}

// URLArgument is the first argument of a tool that takes a URL.
func (t *T) URLArgument(tool string) string {
	for _, x := range t.Report.Server.Tools {
		properties := jsondoc.ParseSchema(x.Input).Properties
		for _, name := range jsondoc.SortedKeys(properties) {
			s := jsondoc.ParseSchema(properties[name])
			if x.Name == tool && s.TypeOf() == "string" && (s.Format == "uri" || s.Format == "url" || strings.Contains(strings.ToLower(name), "url")) {
				return name
			}
		}
	}
	return ""
}

// Ask sends a call and skips the check if there is no answer.
func (t *T) Ask(name string, c client.Call) (client.Answer, bool) {
	a := t.Client.Call(t.Context, c)
	if !a.Conclusive() {
		t.Skip("%s: %v", name, a)
		return a, false
	}
	t.Trials++
	return a, true
}

// Fault records a finding on one answer.
func (t *T) Fault(name string, severity Severity, issue string, a client.Answer) {
	t.Refute(NewFinding(name, severity, issue, a))
}

// NewFinding returns the finding that an answer shows, with the answer as evidence.
func NewFinding(name string, severity Severity, issue string, a client.Answer) Finding {
	return Finding{Case: name, Severity: severity, Issue: issue, Evidence: fmt.Sprintf("%s -> %v", client.Short(string(client.BodyOf(a)), 400), a), Want: "see the check", Got: a.Class()}
}

// Call makes a call.
func (t *T) Call(c client.Call) client.Answer { return t.Client.Call(t.Context, c) }

// Present presents a state in the flow of the check.
func (t *T) Present(state json.RawMessage) client.Answer { return t.PresentIn(t.Oracle.Flow, state) }

// PresentIn presents a state in a flow as the user of the check.
func (t *T) PresentIn(f client.Flow, state json.RawMessage) client.Answer {
	return t.Client.Present(t.Context, f, state, t.Oracle.User)
}

// AskingTool is the first flow of a tool, which asks before it acts.
func (t *T) AskingTool() (client.Flow, bool) {
	for _, o := range t.Oracles {
		if o.Flow.Method == "tools/call" {
			t.Oracle = o
			return o.Flow, true
		}
	}
	t.Skip("no tool that asks first is known")
	return client.Flow{}, false
}

// TemplateParameter is a parameter of a URI template (RFC 6570).
var TemplateParameter = regexp.MustCompile(`\{[^}]*\}`)

// Completion asks as a user for the values of an argument that begins with a text.
func (t *T) Completion(as client.User, ref map[string]string, argument, begun string) (client.Answer, bool) {
	a := t.Client.Call(t.Context, client.Call{Method: "completion/complete", Ref: ref, Argument: map[string]string{"name": argument, "value": begun}, As: as})
	if !a.Conclusive() {
		t.Skip("%v", a)
		return a, false
	}
	t.Trials++
	return a, true
}

// maxCounter is the largest counter whose hash is looked for in an id.
const maxCounter = 1 << 14

// HashedIn describes what an id is the hash of, if that can be guessed: a counter or
// the time of its request, alone or behind the credential of the user; "" if not.
func (t *T) HashedIn(id string, before, after time.Time) string {
	id = strings.ToLower(id)
	numbers := map[string]string{}
	for n := range maxCounter {
		numbers[strconv.Itoa(n)] = "a counter"
	}
	for at := before.Add(-time.Second); !at.After(after.Add(time.Second)); at = at.Add(time.Millisecond) {
		numbers[strconv.FormatInt(at.Unix(), 10)] = "the time"
		numbers[strconv.FormatInt(at.UnixMilli(), 10)] = "the time"
	}
	prefixes := []string{"", "session", "session-", "state-"}
	if _, secret := t.Options.Target.Authorization(); secret != "" {
		prefixes = append(prefixes, secret, secret+":", secret+"-")
	}
	for number, what := range numbers {
		for _, prefix := range prefixes {
			text := []byte(prefix + number)
			long, middle, short := sha256.Sum256(text), sha1.Sum(text), md5.Sum(text)
			for _, sum := range [][]byte{long[:], middle[:], short[:]} {
				if strings.Contains(id, hex.EncodeToString(sum[:8])) {
					return what
				}
			}
		}
	}
	return ""
}

// Together sends calls at once, each over a connection of its own; over standard streams, all
// of them before an answer is read. One that could not be sent has an answer without a kind.
func (t *T) Together(calls []client.Call) []client.Answer {
	c := t.Client
	if c.HTTP == nil {
		return t.onLines(calls)
	}
	answers := make([]client.Answer, len(calls))
	var all sync.WaitGroup
	for i, call := range calls {
		c.ID++
		id := c.ID
		body, err := c.Body(call, id)
		if err != nil || c.Take(t.Context) != nil {
			t.Skip("%d requests at once could not be sent", len(calls))
			break
		}
		headers := c.Headers(t.Context, call)
		all.Go(func() {
			answers[i] = client.ReadAnswer(c.HTTP.Do(t.Context, rawmcp.Request{Verb: "POST", Path: c.HTTP.Path(), Headers: headers, Body: body, Done: client.IsAnswer(id)}), id)
		})
	}
	all.Wait()
	return answers
}

// onLines sends calls at once over standard streams.
func (t *T) onLines(calls []client.Call) []client.Answer {
	c := t.Client
	answers := make([]client.Answer, len(calls))
	var lines [][]byte
	for _, call := range calls {
		c.ID++
		body, err := c.Body(call, c.ID)
		if err != nil || c.Take(t.Context) != nil {
			t.Skip("%d requests at once could not be sent", len(calls))
			return answers
		}
		lines = append(lines, body)
	}
	left := len(calls)
	e := c.Lines(t.Context, bytes.Join(lines, []byte("\n")), func(message []byte) bool {
		if m := jsondoc.Members(message); m["result"] != nil || m["error"] != nil {
			left--
		}
		return left == 0
	})
	for i := range answers {
		answers[i] = client.ReadAnswer(e, c.ID-len(calls)+1+i)
	}
	return answers
}
