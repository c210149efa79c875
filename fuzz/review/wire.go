package review

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"sealab/internal/rawmcp"
)

// A wire is a request over HTTP that a check may change anywhere.
type wire struct {
	verb, path string
	headers    []rawmcp.Header
	body       []byte
	id         int
	length     *int
	head       bool // the header of the response is enough
	start      bool // the first message of a stream is enough
}

// wire returns the honest request of a call.
func (t *T) wire(call Call) *wire {
	c := t.r.client
	c.id++
	body, err := c.body(call, c.id)
	if err != nil {
		t.skip("%v", err)
		return &wire{verb: "POST", path: c.http.Path(), id: c.id}
	}
	return &wire{verb: "POST", path: c.http.Path(), headers: c.callHeaders(t.ctx, call), body: body, id: c.id}
}

// set replaces a header, or adds it.
func (w *wire) set(name, value string) {
	for i, h := range w.headers {
		if strings.EqualFold(h.Name, name) {
			w.headers[i].Value = value
			return
		}
	}
	w.add(name, value)
}

// add adds a header, which may then stand twice.
func (w *wire) add(name, value string) {
	w.headers = append(w.headers, rawmcp.Header{Name: name, Value: value})
}

// drop takes a header away.
func (w *wire) drop(name string) {
	var kept []rawmcp.Header
	for _, h := range w.headers {
		if !strings.EqualFold(h.Name, name) {
			kept = append(kept, h)
		}
	}
	w.headers = kept
}

// replace replaces the first occurrence of a text in the body.
func (w *wire) replace(old, new string) {
	w.body = bytes.Replace(w.body, []byte(old), []byte(new), 1)
}

// send sends a request as it stands, and again after a rate limit.
func (t *T) send(w *wire) Answer {
	c := t.r.client
	return c.patiently(t.ctx, func() Answer {
		a := read(c.raw(t.ctx, rawmcp.Request{Verb: w.verb, Path: w.path, Headers: w.headers, Body: w.body, Length: w.length, Head: w.head, Done: w.ends}), w.id)
		c.noteCode(w.verb, a)
		return a
	})
}

// ends reports whether a message of a stream ends the exchange.
func (w *wire) ends(message []byte) bool { return w.start || isAnswer(w.id)(message) }

// curl returns a command that sends the request, without credentials; "" if the
// body is too long for a command.
func (t *T) curl(w *wire) string {
	if len(w.body) >= 2000 {
		return ""
	}
	var b strings.Builder
	body := " --data-binary " + shellQuote(string(w.body))
	if octal := octalEscapes(w.body); octal != "" {
		fmt.Fprintf(&b, "printf %s | ", shellQuote(octal))
		body = " --data-binary @-"
	}
	if w.verb == "HEAD" {
		b.WriteString("curl -sS --head")
	} else {
		fmt.Fprintf(&b, "curl -sS -i -X %s", w.verb)
	}
	own := []string{"Accept"} // headers that curl adds
	if len(w.body) > 0 {
		own = append(own, "Content-Type")
		b.WriteString(body)
	}
	for _, h := range w.headers {
		if h.Name == "Connection" || h.Name == "User-Agent" {
			continue
		}
		line := h.Name + ": " + h.Value
		if h.Value == "" {
			line = h.Name + ";" // how curl sends a header without a value
		}
		own = slices.DeleteFunc(own, func(name string) bool { return strings.EqualFold(name, h.Name) })
		fmt.Fprintf(&b, " -H %s", shellQuote(line))
	}
	for _, name := range own {
		fmt.Fprintf(&b, " -H %s", shellQuote(name+":"))
	}
	scheme, _, _ := strings.Cut(t.r.opts.Target.URL, "://")
	fmt.Fprintf(&b, " %s", shellQuote(scheme+"://"+t.r.client.http.Host()+w.path))
	return string(t.r.opts.Target.masked([]byte(b.String())))
}

// octalEscapes returns a format of printf for a body that a report cannot show, as
// one that is not UTF-8; "" if it can.
func octalEscapes(body []byte) string {
	special := func(c byte) bool { return c < ' ' && c != '\n' || c >= 0x7f }
	if !slices.ContainsFunc(body, special) {
		return ""
	}
	var b strings.Builder
	for _, c := range body {
		switch {
		case special(c):
			fmt.Fprintf(&b, `\%03o`, c)
		case c == '%' || c == '\\':
			b.WriteByte(c)
			fallthrough
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func shellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// A wireCase is one altered request. judge returns the fault of an answer and its
// severity; "" if the answer is right.
type wireCase struct {
	name  string
	call  Call // tools/list if it has no method
	alter func(w *wire)
	judge func(Answer) (Severity, string)
}

// listCall is the honest request that is altered by default. It reads only.
var listCall = Call{Method: "tools/list"}

// cases sends altered requests between two honest ones, which have to be
// answered. A fault counts if it shows twice.
func (t *T) cases(all ...wireCase) {
	if reason := t.control(); reason != "" {
		t.skip("%s", reason)
		return
	}
	before := len(t.findings)
	for _, c := range all {
		if t.only == "" || t.only == c.name {
			t.oneCase(c)
		}
	}
	if reason := t.control(); reason != "" {
		t.findings = t.findings[:before]
		t.skip("%s", reason)
	}
}

func (t *T) oneCase(c wireCase) {
	if c.call.Method == "" {
		c.call = listCall
	}
	var found func()
	for range 2 {
		w := t.wire(c.call)
		c.alter(w)
		a := t.send(w)
		if a.Kind == throttled || a.Kind == noBudget {
			t.skip("%s: %v", c.name, a)
			return
		}
		t.seen(variant{name: c.name}, a)
		severity, issue := c.judge(a)
		if issue == "" {
			return
		}
		found = func() { t.refuteWire(c.name, severity, issue, w, a) }
	}
	found()
}

// refuteWire records a finding on one request.
func (t *T) refuteWire(name string, severity Severity, issue string, w *wire, a Answer) {
	t.refute(Finding{Case: name, Severity: severity, Issue: name + ": " + issue, Curl: t.curl(w),
		Evidence: fmt.Sprintf("%s -> status %d, %v", short(string(a.Exchange.Sent), 700), a.Status, a), Want: "see the check", Got: a.going()})
}

// control returns the reason why an honest request is not answered, "" if it is.
func (t *T) control() string {
	if a := t.honestAnswer(); a.Kind != completed {
		return fmt.Sprintf("control: an honest request: %v", a)
	}
	return ""
}

// unanswered is control after a case that may have ended the server. A request that
// was not sent, or met a limit of the rate, tells nothing: it skips the check.
func (t *T) unanswered() string {
	switch a := t.honestAnswer(); a.Kind {
	case completed:
		return ""
	case noBudget, throttled:
		t.skip("control: an honest request: %v", a)
		return ""
	default:
		return fmt.Sprintf("control: an honest request: %v", a)
	}
}

// honestAnswer is the answer to an honest request.
func (t *T) honestAnswer() Answer {
	a := t.r.client.call(t.ctx, listCall)
	if a.Kind != completed {
		if p := t.r.client.call(t.ctx, t.r.client.idle()); p.Kind == completed {
			return p
		}
	}
	return a
}

// served reports whether a request was answered by a result.
func served(a Answer) bool { return a.Kind == completed || a.Kind == asked || a.Kind == toolError }

// wantCode accepts a JSON-RPC error with one of some codes. A request that is
// served is judged worse than one that is refused in another way.
func wantCode(worst, form Severity, codes ...int) func(Answer) (Severity, string) {
	return func(a Answer) (Severity, string) {
		if served(a) {
			return worst, "served"
		}
		if a.Kind == failed {
			if slices.Contains(codes, a.Code) {
				return "", ""
			}
		}
		if a.Kind == broken && a.Status == 0 {
			return Warning, "no answer"
		}
		return form, fmt.Sprintf("refused in another way than with %d", codes[0])
	}
}

// wantRefused accepts every refusal.
func wantRefused(severity Severity) func(Answer) (Severity, string) {
	return func(a Answer) (Severity, string) {
		if served(a) {
			return severity, "served"
		}
		return "", ""
	}
}

// wantServed accepts a result alone.
func wantServed(severity Severity) func(Answer) (Severity, string) {
	return func(a Answer) (Severity, string) {
		if served(a) {
			return "", ""
		}
		return severity, "refused"
	}
}
