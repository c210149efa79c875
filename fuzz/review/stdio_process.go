package review

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"sealab/internal/rawmcp"
)

// slowCall is the call of the tool of --slow; false if it is not named.
func (t *T) slowCall() (Call, bool) {
	for _, tool := range t.r.Report.Server.Tools {
		if tool.Name != t.r.opts.Slow || tool.Name == "" {
			continue
		}
		m := map[string]json.RawMessage{}
		for name, raw := range parseSchema(tool.Input).Properties {
			if kind := parseSchema(raw).typeOf(); kind == "number" || kind == "integer" {
				m[name] = json.RawMessage("1500")
			}
		}
		return Call{Method: "tools/call", Target: tool.Name, Arguments: object(m)}, true
	}
	t.skip("no slow tool is known; --slow names one that may be called and cancelled")
	return Call{}, false
}

// slowProcess returns a slow call and a server of its own for it, nil if there is none.
func (t *T) slowProcess() (Call, *rawmcp.Process) {
	call, ok := t.slowCall()
	if !ok {
		return call, nil
	}
	return call, t.process()
}

func duringSlow(t *T) {
	call, p := t.slowProcess()
	if p == nil {
		return
	}
	defer p.Stop(stopGrace)
	slow, list, e := t.twoLines(p, call, listCall)
	if e.Err != nil {
		t.skip("%v", e.Err)
		return
	}
	t.trials++
	if isAnswer(slow)(e.Messages[len(e.Messages)-1]) {
		t.refute(Finding{Case: "tools/list", Severity: Suggestion, Issue: "tools/list waits for a slow call", Evidence: fmt.Sprintf("request %d before %d was answered after it", list, slow), Want: "the list first", Got: "the slow call first"})
	}
}

// twoLines sends two calls and reads up to the first answer.
func (t *T) twoLines(p *rawmcp.Process, one, two Call) (first, second int, e *rawmcp.Exchange) {
	c := t.r.client
	first, second = c.id+1, c.id+2
	c.id += 2
	body, err := c.body(one, first)
	next, also := c.body(two, second)
	if err != nil || also != nil {
		return first, second, &rawmcp.Exchange{Err: fmt.Errorf("writing the requests: %v %v", err, also)}
	}
	if e = p.Do(t.ctx, body, nil); e.Err != nil {
		return first, second, e
	}
	e = p.Do(t.ctx, next, func(line []byte) bool { return isAnswer(first)(line) || isAnswer(second)(line) })
	return first, second, e
}

func cancelled(t *T) {
	call, p := t.slowProcess()
	if p == nil {
		return
	}
	defer p.Stop(stopGrace)
	c := t.r.client
	c.id++
	id := c.id
	body, err := c.body(call, id)
	if err != nil {
		t.skip("%v", err)
		return
	}
	p.Do(t.ctx, body, nil)
	p.Do(t.ctx, fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id), nil)
	ctx, cancel := context.WithTimeout(t.ctx, t.r.opts.Grace) // a sound server is silent
	defer cancel()
	e := p.Await(ctx, isAnswer(id))
	t.trials++
	if e.Err == nil {
		t.refute(Finding{Case: call.Target, Severity: Warning, Issue: "a cancelled call is answered", Evidence: short(string(e.Body), 300), Want: "no response", Got: "a response"})
	}
}

func endOfInput(t *T) {
	p := t.process()
	if p == nil {
		return
	}
	t.trials++
	if !p.Stop(t.r.opts.Grace) {
		t.refute(Finding{Case: "end of input", Severity: Warning, Issue: "the process goes on after its standard input ended", Evidence: fmt.Sprintf("it had to be killed after %v", t.r.opts.Grace), Want: "ended", Got: "killed"})
	}
}

func terminated(t *T) {
	p := t.process()
	if p == nil {
		return
	}
	t.trials++
	if err := p.Terminate(); err != nil {
		t.skip("%v", err)
		p.Stop(stopGrace)
		return
	}
	if !t.stops(p) {
		t.refute(Finding{Case: "SIGTERM", Severity: Warning, Issue: "the process goes on after SIGTERM", Evidence: fmt.Sprintf("it had to be killed after %v", t.r.opts.Grace), Want: "ended", Got: "killed"})
	}
	p.Stop(stopGrace)
}

func standardError(t *T) {
	if t.r.client.process == nil || len(t.r.oracles) == 0 {
		t.skip("no token was seen")
		return
	}
	t.trials++
	token, _, err := t.r.client.mint(t.ctx, t.r.oracles[0].flow, first)
	if err != nil {
		t.skip("%v", err)
		return
	}
	t.r.client.present(t.ctx, t.r.oracles[0].flow, quote(token), first)
	t.r.client.present(t.ctx, t.r.oracles[0].flow, quote(token+"x"), first) // servers log refusals
	p := t.r.client.process
	p.Stop(stopGrace) // all of standard error has been read when it has ended
	t.r.client.process = nil
	text := string(p.Stderr())
	if strings.Contains(text, token) {
		t.refute(Finding{Case: "a token", Severity: Warning, Issue: "a token stands on standard error", Evidence: short(text, 300), Want: "nothing of it", Got: "a token"})
	}
}
