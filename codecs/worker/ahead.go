package worker

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"sealab/codecs"
	"sealab/internal/lab"
)

// inFlight is the maximum number of requests that are sent before their first
// answer is read.
const inFlight = 128

// exchangeAhead sends requests at once and reads their answers in order. Each
// answer has the deadline of one request. If the process breaks, exchangeAhead
// returns the answers before that.
func (p *process) exchangeAhead(requests [][]byte, l Limits, within time.Duration) (answers [][]byte, err error) {
	stop := p.deadline(l, within)
	defer func() { stop() }()
	select {
	case line, open := <-p.lines:
		return nil, p.unasked(line.text, open)
	default:
	}
	for _, r := range requests {
		*p.sent = max(*p.sent, len(r))
	}
	p.longest.Store(l.answer(*p.sent))
	written := make(chan error, 1)
	go func() {
		_, err := p.in.Write(append(bytes.Join(requests, []byte("\n")), '\n'))
		written <- err
	}()
	for range requests {
		answer, open := <-p.lines
		if !open {
			p.kill() // unblocks the write
			<-written
			return answers, p.why(p.cause)
		}
		stop()
		stop = p.deadline(l, within)
		answers = append(answers, answer.text)
		if answer.more && len(answers) == len(requests) {
			<-written
			return answers[:len(answers)-1], newQuotedBreach(answer.text, OutOfTurn, "it answered %d requests with more lines", len(requests))
		}
	}
	if <-written != nil {
		return answers, p.why(newBreach(Died, "it reads no more requests"))
	}
	return answers, nil
}

// askAhead sends requests on the handle ahead of their answers, and calls take
// for each response. It returns the number of answered requests. If the process
// breaks, later requests are sent one at a time, so that the input that breaks
// it is known.
func (h *handle) askAhead(name string, n int, complete func(i int, l *line), take func(i int, r *response) error) (int, error) {
	c := h.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := h.reopen(); err != nil || c.alone {
		return 0, err
	}
	requests := make([][]byte, n)
	for i := range requests {
		l := newLine().asking(name, h.id)
		if complete(i, l); l.err != nil {
			requests = requests[:i] // the caller sends it alone and gets its error
			break
		}
		requests[i] = l.end()
	}
	if len(requests) < 2 {
		return 0, nil
	}
	answers, broke := c.process.exchangeAhead(requests, c.limits, c.limits.Request)
	for i, data := range answers {
		r, err := parseResponse(data, 0)
		if err == nil {
			err = take(i, r)
		}
		if err := c.record(err, requests[i]); err != nil {
			return i, err
		}
	}
	if broke != nil {
		c.alone = true
		c.process.end()
		c.process = nil
	}
	return len(answers), nil
}

// judgeEach judges tokens one by one, ahead of the answers. It stops at a
// fault.
func (h *handle) judgeEach(tokens [][]byte, at func(i int) *codecs.Context) ([]lab.Answer, error) {
	return answerEach(len(tokens), func(from int, some []lab.Answer) (int, error) {
		return h.askAhead(h.judge, len(some), func(i int, l *line) { h.toJudge(l, tokens[from+i], at(from+i)) },
			func(i int, r *response) error { return h.fill(some, []int{i}, []response{*r}, h.content) })
	}, func(i int) ([]byte, error) { return h.judgeToken(nil, tokens[i], at(i)) })
}

// VerifyEach implements lab.Verifier.
func (s scheme) VerifyEach(tokens [][]byte, contexts []*codecs.Context) ([]lab.Answer, error) {
	return s.judgeEach(tokens, func(i int) *codecs.Context { return contexts[i] })
}

// SealAll implements lab.Sealer. It makes tokens one by one, ahead of the
// answers. It stops at a fault.
func (h *handle) SealAll(contents [][]byte, contexts []*codecs.Context) ([]lab.Answer, error) {
	if !h.context {
		contexts = make([]*codecs.Context, len(contents))
	}
	return answerEach(len(contents), func(from int, some []lab.Answer) (int, error) {
		return h.askAhead(h.make, len(some), func(i int, l *line) { h.toMake(l, contents[from+i], contexts[from+i]) },
			func(i int, r *response) error { return h.fill(some, []int{i}, []response{*r}, h.tokenOf) })
	}, func(i int) ([]byte, error) { return h.makeToken(nil, contents[i], contexts[i]) })
}

// answerEach produces n answers. It calls ahead for up to inFlight answers, and calls
// alone for the next answer if ahead produces none.
func answerEach(n int, ahead func(from int, some []lab.Answer) (int, error), alone func(i int) ([]byte, error)) ([]lab.Answer, error) {
	all := make([]lab.Answer, n)
	for i := 0; i < n; {
		done, err := ahead(i, all[i:min(n, i+inFlight)])
		if err != nil {
			return nil, err
		}
		if i += done; done > 0 || i == n {
			continue
		}
		all[i].Payload, all[i].Err = alone(i)
		if errors.Is(all[i].Err, codecs.ErrFault) {
			return nil, all[i].Err
		}
		i++
	}
	return all, nil
}

// judgeAll judges many tokens: in one request if the worker has the ability
// batch, else one by one. Tokens that the protocol cannot carry get
// codecs.ErrUnsupported.
func (h *handle) judgeAll(tokens [][]byte, b *codecs.Context) ([]lab.Answer, error) {
	if !h.client.Has(AbilityBatch) {
		return h.judgeEach(tokens, func(int) *codecs.Context { return b })
	}
	var context line
	if h.within(&context, b); context.err != nil {
		return nil, context.err
	}
	verdicts := make([]lab.Answer, len(tokens))
	var crossing [][]byte
	var place []int // index in verdicts of each token of crossing
	for i, t := range tokens {
		if _, err := appendText(nil, t); err != nil {
			verdicts[i].Err = err
			continue
		}
		crossing, place = append(crossing, t), append(place, i)
	}
	_, err := h.ask(h.judge, len(crossing), func(l *line) {
		h.within(l, b)
		appendTexts(l, "tokens", crossing)
	}, func(r *response) error {
		if len(r.Verdicts) != len(crossing) {
			return newBreach(Garbage, "%s: got %s for %d tokens", h.judge, verdictCount(r.Verdicts, len(crossing)), len(crossing))
		}
		return h.fill(verdicts, place, r.Verdicts, h.content)
	})
	if errors.Is(err, codecs.ErrUnsupported) {
		return nil, h.client.lied(h.judge + ": it has the ability batch and does not support a batch")
	}
	if err != nil {
		return nil, err
	}
	return verdicts, nil
}

// verdictCount describes a wrong number of verdicts. At most one verdict too many is
// read.
func verdictCount(verdicts []response, tokens int) string {
	if len(verdicts) > tokens {
		return "more verdicts than tokens"
	}
	return fmt.Sprintf("%d verdicts", len(verdicts))
}

// fill stores the results of answers in verdicts, at the indices in place, and
// the values beside refusals. If one answer breaks the protocol, none counts.
// c.mu of the client must be held.
func (h *handle) fill(verdicts []lab.Answer, place []int, answers []response, result func(*response) ([]byte, error)) error {
	for i := range answers {
		err := answers[i].outcome()
		var payload []byte
		switch {
		case err == nil:
			payload, err = result(&answers[i])
		case codecs.Rejected(err) != nil:
			payload = answers[i].beside()
		}
		if b, ok := errors.AsType[*breach](err); ok {
			return b
		}
		verdicts[place[i]] = lab.Answer{Payload: payload, Err: h.client.secrets.redacted(err)}
	}
	return nil
}

// lied records that the worker lacks an ability that it claimed.
func (c *Client) lied(detail string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.record(newBreach(Lied, "%s", detail), nil)
}
