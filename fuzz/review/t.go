package review

import (
	"bytes"
	"cmp"
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/bits"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
	"sealab/internal/rawmcp"
)

// T is one running check. A check counts its cases in Trials and records faults with Refute. It
// calls Skip if it cannot test the server.
type T struct {
	*Review
	Context context.Context
	check   Check
	Oracle  *Oracle // of a check that needs a flow
	honest  map[string]bool
	Only    string             // the case to replay; "": all
	places  map[string]*Oracle // controls by the place that a token moves to; see place
	unheard [2]bool            // requests of Pollutes that the server leaves without an answer

	Trials   int
	Unclear  int    // answers that do not show whether the state was accepted
	Reason   string // why the check is not tested
	stopped  error  // the error that ended the review; nil if it did not end
	Findings []Finding
}

func (r *Review) newT(ctx context.Context, check Check) *T {
	return &T{Review: r, Context: ctx, check: check, honest: map[string]bool{}, places: map[string]*Oracle{}, Only: r.Options.Case}
}

// Tried counts one case and returns the answer to it.
func (t *T) Tried(a client.Answer) client.Answer {
	t.Trials++
	return a
}

// Counted counts one case, and reports whether the answer to it is conclusive. It skips the check if not.
func (t *T) Counted(a client.Answer) bool { return t.counted(a, a.String()) }

// CountedAs counts one case as Counted does, and names it in the reason.
func (t *T) CountedAs(name string, a client.Answer) bool {
	return t.counted(a, fmt.Sprintf("%s: %v", name, a))
}

func (t *T) counted(a client.Answer, reason string) bool {
	if !a.Conclusive() {
		t.Skip("%s", reason)
		return false
	}
	t.Trials++
	return true
}

// Prefer continues with the first flow for which fit returns true, if there is one.
func (t *T) Prefer(fit func(client.Flow) bool) {
	for _, o := range t.Oracles {
		if fit(o.Flow) {
			t.Oracle = o
			return
		}
	}
}

// ForOtherFlows runs a part of a check on each flow except its own until one yields a finding. A
// server may verify the states of only one method, tool or round.
func (t *T) ForOtherFlows(part func(*Oracle)) {
	own, reason := t.Oracle, t.Reason
	defer func() { t.Oracle, t.Reason = own, reason }()
	for _, o := range t.Oracles {
		if t.Oracle = o; o != own && len(t.Findings) == 0 {
			part(o)
		}
	}
}

// ForEachFlow runs a part of a check on its own flow and, until it yields a finding, on the others.
func (t *T) ForEachFlow(part func(*Oracle)) {
	part(t.Oracle)
	t.ForOtherFlows(part)
}

// Repetitions is the number of times that a probe is repeated, such as each kind of bad state.
const Repetitions = 3

// Turn returns which of two variants comes at step i. The sequence has no period (Thue-Morse), because a
// server may change its answers with each call, or have several instances that answer in turn.
func Turn(i int) int { return bits.OnesCount(uint(i)) % 2 }

// Skip records the reason why the check is not tested. Earlier findings stay.
func (t *T) Skip(format string, args ...any) {
	if t.Reason == "" {
		t.Reason = fmt.Sprintf(format, args...)
	}
}

// SkipUntried skips the check if it has tried no case.
func (t *T) SkipUntried(format string, args ...any) {
	if t.Trials == 0 {
		t.Skip(format, args...)
	}
}

// SkipFor skips the check if reason is not empty, and reports whether it did.
func (t *T) SkipFor(reason string) bool {
	if reason != "" {
		t.Skip("%s", reason)
	}
	return reason != ""
}

// SkipOn skips the check if err is not nil, and reports whether it did.
func (t *T) SkipOn(err error) bool { return err != nil && t.SkipFor(err.Error()) }

// stop records the error that ended the review.
func (t *T) stop(err error) { t.Reason, t.stopped = err.Error(), err }

// Selected reports whether all cases run or one of names is the case to replay.
func (t *T) Selected(names ...string) bool { return t.Only == "" || slices.Contains(names, t.Only) }

// Refute records a finding, unless a replay selects another case. A finding without a revision has the
// older one if the check is of older revisions.
func (t *T) Refute(f Finding) {
	if !t.Selected(f.Case) {
		return
	}
	f.Check, f.Evidence = t.check.ID, string(t.Options.Target.Masked([]byte(f.Evidence)))
	if t.Oracle != nil && f.Flow == nil {
		flow := t.Oracle.Flow
		f.Flow = &flow
	}
	if t.check.Era == "legacy" {
		f.Revision = cmp.Or(f.Revision, client.Older)
	}
	t.Findings = append(t.Findings, f)
}

// HasFinding reports whether a case has a finding.
func (t *T) HasFinding(name string) bool {
	return slices.ContainsFunc(t.Findings, func(f Finding) bool { return f.Case == name })
}

// outcome returns the outcome of the check.
func (t *T) outcome() Outcome {
	o := Outcome{Check: t.check.ID, Trials: t.Trials, Outcome: NotRefuted}
	switch {
	case len(t.Findings) > 0:
		o.Outcome, o.Reason = Refuted, slices.MinFunc(t.Findings, bySeverity).Issue
	case t.Reason != "":
		o.Outcome, o.Reason, o.Stopped = NotTested, t.Reason, t.stopped
	case t.Trials == 0:
		o.Outcome, o.Reason = NotTested, "the token and the lists of this server give no case"
	}
	return o
}

// SentText returns the request of an exchange, cut to one line of evidence.
func SentText(e *rawmcp.Exchange) string {
	if e == nil {
		return ""
	}
	return client.Short(string(e.Sent), 400)
}

// ExchangeText returns an answer and its request as one line of evidence.
func ExchangeText(a client.Answer) string { return SentText(a.Exchange) + " -> " + a.String() }

// ReadableEvidence returns a token and the text that can be read in it.
func ReadableEvidence(token string) string {
	return "token " + client.Short(token, 200) + " holds " + client.Short(strings.TrimPrefix(tokens.Readable(token), token), 200)
}

// Form records a finding about the form of a result.
func (t *T) Form(name string, severity Severity, issue string, a client.Answer) {
	t.Refute(Finding{Case: name, Severity: severity, Issue: name + ": " + issue, Evidence: client.Short(string(a.Result), 300), Want: "the schema", Got: issue})
}

// urlNames are parts of names of arguments that take a URL.
var urlNames = []string{"url", "uri", "link", "href", "webhook", "callback", "endpoint", "feed"}

// URLArgument returns the name of the first argument of a tool that takes a URL, or "" if it has
// none.
func (t *T) URLArgument(tool string) string {
	for _, x := range t.Report.Server.Tools {
		for name, s := range jsondoc.Fields(x.Input) {
			if x.Name == tool && TakesURL(name, s) {
				return name
			}
		}
	}
	return ""
}

// TakesURL reports whether a member of arguments or answers takes a URL, by its name and schema.
func TakesURL(name string, s jsondoc.Schema) bool {
	return s.TypeOf() == "string" && (s.Format == "uri" || s.Format == "url" || strings.Contains(s.Pattern, "http") || client.Mentions(name, urlNames))
}

// Ask makes a call and counts it. It skips the check if the answer is inconclusive.
func (t *T) Ask(name string, c client.Call) (client.Answer, bool) {
	a := t.Call(c)
	return a, t.CountedAs(name, a)
}

// Fault records a finding about one answer.
func (t *T) Fault(name string, severity Severity, issue string, a client.Answer) {
	t.Refute(NewFinding(name, severity, issue, a))
}

// NewFinding returns a finding with an answer as its evidence.
func NewFinding(name string, severity Severity, issue string, a client.Answer) Finding {
	return Finding{Case: name, Severity: severity, Issue: issue, Evidence: fmt.Sprintf("%s -> %v", client.Short(string(client.BodyOf(a)), 400), a), Want: "see the check", Got: a.Class()}
}

// Call makes a call.
func (t *T) Call(c client.Call) client.Answer { return t.Client.Call(t.Context, c) }

// Walk makes the call of a flow as a user, answers its questions and returns the last answer.
func (t *T) Walk(f client.Flow, as client.User) client.Answer {
	a, _ := t.Client.Walk(t.Context, f, as)
	return a
}

// Present presents a state in the flow of the check.
func (t *T) Present(state json.RawMessage) client.Answer { return t.PresentIn(t.Oracle.Flow, state) }

// PresentText presents a text as the state in the flow of the check.
func (t *T) PresentText(text string) client.Answer { return t.Present(jsondoc.Quote(text)) }

// VerdictOn presents a text as the state and judges the answer.
func (t *T) VerdictOn(text string) Verdict { return t.Oracle.Verdict(t.PresentText(text)) }

// PresentIn presents a state in a flow as the user of the check.
func (t *T) PresentIn(f client.Flow, state json.RawMessage) client.Answer {
	return t.Client.Present(t.Context, f, state, t.Oracle.User)
}

// Fresh presents a fresh token of a flow as a user. If there is none, the answer has no kind.
func (t *T) Fresh(f client.Flow, as client.User) client.Answer {
	token, _, err := t.Client.Mint(t.Context, f, as)
	if err != nil {
		return client.Answer{}
	}
	return t.Client.Present(t.Context, f, jsondoc.Quote(token), as)
}

// ArgumentTexts returns the texts in which a flow shows its arguments: the first question and, with
// effects, the result.
func (t *T) ArgumentTexts(f client.Flow, as client.User) string {
	text := t.Call(f.Call(as)).ShownTexts()
	if f.Last == nil {
		return text
	}
	return text + t.Fresh(f, as).Text
}

// AskingTool selects the first flow of a tool and returns it. It skips the check without one.
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

// Instructions asks for the instructions of the server and returns them, or "".
func (t *T) Instructions() string {
	text, _ := jsondoc.Text(jsondoc.At(t.Call(client.Call{Method: "server/discover"}).Result, "instructions"))
	return text
}

// TemplateParameter matches a parameter of a URI template (RFC 6570).
var TemplateParameter = regexp.MustCompile(`\{[^}]*\}`)

// Completion asks for the values of an argument that begin with a text, as the given user.
func (t *T) Completion(as client.User, ref map[string]string, argument, begun string) (client.Answer, bool) {
	a := t.Client.Call(t.Context, client.Complete(ref, argument, begun).By(as))
	return a, t.Counted(a)
}

// maxCounter is the largest counter value whose hash HashedIn tries.
const maxCounter = 1 << 14

// HashedIn reports how an ID can be guessed if it contains the hash of a counter or of the request
// time. The hashed text may have a prefix, such as the user's credential. It returns "" if no guess
// matches.
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

// Together sends calls at the same time. Over HTTP each has a connection of its own. Over standard
// streams all of them are written before an answer is read. A call that was not sent has an answer
// without a kind.
func (t *T) Together(calls []client.Call) []client.Answer {
	if t.Client.HTTP == nil {
		return t.onLines(calls)
	}
	return t.onConnections(calls, t.Client.NextBody)
}

// TogetherUnderOneID is like [T.Together] over HTTP, with one ID for all calls. Clients draw their IDs
// apart from each other, and most of them count from 0 or 1.
func (t *T) TogetherUnderOneID(calls []client.Call) []client.Answer {
	t.Client.ID++
	return t.onConnections(calls, func(call client.Call) ([]byte, int, error) {
		t.Client.ID--
		return t.Client.NextBody(call)
	})
}

// onConnections sends calls at the same time, each on its own connection. The function next returns the
// body of a call, and its ID.
func (t *T) onConnections(calls []client.Call, next func(client.Call) ([]byte, int, error)) []client.Answer {
	c := t.Client
	answers := make([]client.Answer, len(calls))
	var all sync.WaitGroup
	for i, call := range calls {
		body, id, err := next(call)
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
	for _, a := range answers {
		c.NoteState(a)
	}
	return answers
}

// onLines sends calls at the same time over standard streams.
func (t *T) onLines(calls []client.Call) []client.Answer {
	c := t.Client
	answers := make([]client.Answer, len(calls))
	var lines [][]byte
	for _, call := range calls {
		body, _, err := c.NextBody(call)
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
		c.NoteState(answers[i])
	}
	return answers
}
